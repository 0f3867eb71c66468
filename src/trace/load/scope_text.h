/* Attributes that are written in a scope's text, as XLA or PyTorch writes them.
 *
 * XLA: "name#key=value,key=value#". Only a text that ends with # has attributes; whatever follows a
 * second # within it is ignored. A comma between quotes or brackets separates nothing. Spaces
 * around keys and values are removed. An entry of fewer than two characters, or without =, key or
 * value, is left out. A value is an int64 if it reads as one, else a uint64, a double, or text.
 * Anything else in the name ("::", quotes, any UTF-8) is part of the name: one scope is one level.
 *
 * PyTorch (torch.autograd.profiler.emit_nvtx): "name, seq = 7, op_id = 3, sizes = [[8, 64], []],
 * input_op_ids = [(1,0), (0,-1)]", in this order. Each part may be missing, but not all; a text
 * that does not read so to its end is a name. The keys are PyTorch's; numbers are int64, lists are
 * text. */
#ifndef DAGTAP_TRACE_SCOPE_TEXT_H
#define DAGTAP_TRACE_SCOPE_TEXT_H

#include "base/strtab.h"
#include "trace/trace_model.h"

/* A text in parts. The pointers point into the text. */
struct scope_text {
	const char *name;
	size_t name_bytes;
	const char *rest; /* what scope_text_next has not read yet */
	size_t rest_bytes;
};

/* Splits TEXT into its name and its attributes. TEXT must outlive *RET_PARTS. */
void scope_text_split(const char *text, size_t bytes, struct scope_text *ret_parts);

/* Reads the next attribute; its texts are interned in STRINGS. Returns false, with *RET_ATTRIBUTE
 * untouched, when there are no more. */
bool scope_text_next(struct scope_text *parts, struct strtab *strings,
		     struct trace_scope_attribute *ret_attribute);

#endif
