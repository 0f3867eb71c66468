/* The part of struct definitions that holds scopes, which come and go (live/definitions.h). */
#ifndef DAGTAP_LIVE_SCOPE_DEFINITIONS_H
#define DAGTAP_LIVE_SCOPE_DEFINITIONS_H

#include "live/definitions.h"

/* The id of the scope that RECORD refers to, 0: none. */
uint64_t scope_of_record(const struct record_header *record);

/* Keeps a copy of a SCOPE or SCOPE_END record. Returns 0 or -ENOMEM. */
int scope_definitions_add(struct definitions *definitions, const struct record_header *record,
			  uint32_t tid);

/* Whether the SCOPE record of ID and those of the scopes around it have come, each with its
 * text. */
bool scope_definitions_has(const struct definitions *definitions, uint64_t id);

/* Selects the scope and those around it for the window, with their texts. ID may be 0. */
void scope_definitions_select(struct definitions *definitions, uint64_t id);

/* The scopes' part of definitions_selected and definitions_release. */
int scope_definitions_selected(const struct definitions *definitions,
			       int (*take)(void *context, const struct record_header *record,
					   uint32_t tid),
			       void *context);
void scope_definitions_release(struct definitions *definitions);

#endif
