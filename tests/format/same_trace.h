/*
 * Asserts that two models have the same content. Rows are compared by what they hold and refer to,
 * not by their index. What XSpace cannot hold (docs/format/xspace.md) is not compared.
 */
#ifndef DAGTAP_TESTS_FORMAT_SAME_TRACE_H
#define DAGTAP_TESTS_FORMAT_SAME_TRACE_H

#include "trace/trace_model.h"

/* Fails the test at the first row or text in which the traces differ. */
void expect_same_trace(const struct trace *a, const struct trace *b);

#endif
