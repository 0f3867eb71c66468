/* What cases that read files have in common: they keep the traces and look up rows of them. */
#ifndef DAGTAP_TESTS_FORMAT_READ_CASE_H
#define DAGTAP_TESTS_FORMAT_READ_CASE_H

#include <stdbool.h>

#include "kept.h"
#include "trace/trace_model.h"

/* Lets the case's end close TRACE; returns it. */
struct trace *read_keep(struct trace *trace);

/* Asserts that STRING of the model is EXPECTED. */
void read_expect_text(const struct trace *trace, trace_string string, const char *expected);

/* Returns whether a message of the model has PART in its text and is a damage or not. */
bool read_has_message(const struct trace *trace, const char *part, bool damage);

/* Return the attribute KEY of COUNT attributes from FIRST, or of an attribute set; NULL: none. */
const struct trace_scope_attribute *read_attribute_in(const struct trace *trace, uint32_t first,
						      uint32_t count, const char *key);
const struct trace_scope_attribute *read_attribute(const struct trace *trace, uint32_t set,
						   const char *key);

#endif
