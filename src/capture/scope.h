/* Annotation stacks (DESIGN.md, system 2): ids are thread number << 48 | counter; threads that
 * push number from 1; after 32,767 threads a shared number with an atomic counter. The stack's
 * text goes into the spool once, at the push. */
#ifndef DAGTAP_CAPTURE_SCOPE_H
#define DAGTAP_CAPTURE_SCOPE_H

#include <stdint.h>

#include "record/record.h"

uint64_t scope_push(enum record_scope_kind kind, const char *text); /* returns the id */
void scope_pop(enum record_scope_kind kind);
uint64_t scope_current(void); /* innermost id of this thread, 0 = none; one load */
int scope_depth(void);
uint64_t scope_range_start(const char *text);
void scope_range_stop(uint64_t id);
void scope_mark(const char *text);

#endif
