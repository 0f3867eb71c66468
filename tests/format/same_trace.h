/* Two models that say the same: rows by what they hold and name, not by their places. What XSpace has no
 * place for (docs/format/xspace.md) is not looked at. */
#ifndef DAGTAP_TESTS_FORMAT_SAME_TRACE_H
#define DAGTAP_TESTS_FORMAT_SAME_TRACE_H

#include "trace/model.h"

void expect_same_trace(const struct trace *a, const struct trace *b);

#endif
