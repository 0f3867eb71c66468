/* The name and the attributes of a scope: those in its text (scope_text.h), and those in its
 * record.
 *
 * Threading: parse and own add rows and texts to the trace, so one thread calls them, in the order
 * of scopes. */
#ifndef DAGTAP_TRACE_SCOPE_NAMING_H
#define DAGTAP_TRACE_SCOPE_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_model.h"

struct process_load;
struct record_scope;

/* The parts of a text. All scopes with this text, or with this SCOPE_BODY, share them. */
struct scope_naming {
	bool is_known;
	trace_string name;
	uint32_t first, count; /* rows of scope_attributes */
};

/* Parses TEXT into *RET_NAMING; its attributes become rows. Returns 0 or -ENOMEM. */
int scope_naming_parse(struct process_load *load, trace_string text,
		       struct scope_naming *ret_naming);

/* Names a scope: its name and its attributes are those of NAMING. */
void scope_naming_use(const struct scope_naming *naming, struct trace_scope *row);

/* Gives ROW, which uses the naming of its text, attributes of its own if RECORD has some: these,
 * then a copy of those in its text. Returns 0 or -ENOMEM. */
int scope_naming_own(struct process_load *load, const struct record_scope *record,
		     struct trace_scope *row);

#endif
