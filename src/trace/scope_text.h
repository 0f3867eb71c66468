/* Attributes that are written in a scope's text, as XLA writes them: "name#key=value,key=value#".
 *
 * Only a text that ends with # has any; what is behind a second # within it counts for nothing. A
 * comma between quotes or brackets separates nothing. Keys and values lose the spaces around them;
 * what is shorter than two characters, or has no =, no key or no value, is left out. A value is an
 * int64 if it reads as one, else a uint64, a double, or text. Whatever else the name holds ("::",
 * quotes, any UTF-8) is part of it: one scope is one level. */
#ifndef DAGTAP_TRACE_SCOPE_TEXT_H
#define DAGTAP_TRACE_SCOPE_TEXT_H

#include "trace/model.h"
#include "trace/strtab.h"

struct scope_text {
	const char *name;
	size_t name_bytes;
	const char *rest; /* what next_attribute has not read yet */
	size_t rest_bytes;
};

/* TEXT must outlive RET_PARTS. */
void scope_text_split(const char *text, size_t bytes, struct scope_text *ret_parts);

/* False when there are no more. */
bool scope_text_next(struct scope_text *parts, struct strtab *strings,
		     struct trace_scope_attribute *ret_attribute);

#endif
