/* Annotation stacks (dagtap/annotate.h). Ids: thread number << 48 | counter; threads that push
 * number from 1; after 32,767 threads a shared pool: bit 63 | one counter for all. A scope's text
 * goes into the spool once: at the push, or, for scopes that are open when the session starts,
 * with the thread's first record.
 *
 * Each stack belongs to its thread; no locks. scope_current is one load. Pushing costs a copy of
 * the text and one record. */
#ifndef DAGTAP_CAPTURE_SCOPE_H
#define DAGTAP_CAPTURE_SCOPE_H

#include <stdint.h>

#include "record/record.h"

extern __thread uint64_t scope_top __attribute__((tls_model("initial-exec")));

/* Innermost id of this thread, 0 = none. */
static inline uint64_t scope_current(void)
{
	return scope_top;
}

/* Returns the id; 0 when nothing will ever be recorded, or out of memory. */
uint64_t scope_push(enum record_scope_kind kind, const char *text);

/* Ends the innermost scope of this kind, also when others were pushed above it. */
void scope_pop(enum record_scope_kind kind);

uint64_t scope_range_start(const char *text);
void scope_range_start_as(uint64_t id, const char *text); /* the id is somebody else's */
void scope_range_stop(uint64_t id);
void scope_mark(const char *text);

/* For session.c. */
uint64_t scope_number(void); /* this thread's, 0 = none yet or shared pool */
void scope_write_pending(void);
void scope_session_started(void);
void scope_thread_ended(void);
void scope_forget_parent(void); /* in a fork child: open scopes are written anew */

#endif
