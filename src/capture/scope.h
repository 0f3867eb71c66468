/* Annotation stacks (dagtap/annotate.h). Ids: thread number << 48 | counter; threads that push
 * number from 1; after 32,767 threads a shared pool: bit 63 | one counter for all. A scope's text
 * goes into the spool once: at the push, or, for scopes that are open when the session starts,
 * with the thread's first record.
 *
 * Each stack belongs to its thread; no locks. scope_current is three loads. Pushing costs a copy of
 * the text and one record.
 *
 * Generations: the end of a session begins a new one. A thread that comes to its stack and finds that
 * it is of an older generation empties it; its number and its counter go on. */
#ifndef DAGTAP_CAPTURE_SCOPE_H
#define DAGTAP_CAPTURE_SCOPE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

struct dagtap_attribute;

extern _Atomic uint32_t scope_generation;

/* The innermost id of this thread's stack, while the generation is the stack's. */
struct scope_leaf {
	uint64_t id;
	uint32_t generation;
};

extern __thread struct scope_leaf scope_leaf __attribute__((tls_model("initial-exec")));

/* Innermost id of this thread, 0 = none. */
static inline uint64_t scope_current(void)
{
	uint32_t generation = atomic_load_explicit(&scope_generation, memory_order_relaxed);

	return __builtin_expect(scope_leaf.generation == generation, 1) ? scope_leaf.id : 0;
}

/* For who writes of the current scope what a ring never lets go: this thread's open scopes are not let go
 * either. */
void scope_keep_open(void);

/* All return the id; 0 when nothing is or will be recorded, or out of memory. */
uint64_t scope_push(enum record_scope_kind kind, const char *text);
uint64_t scope_push_with(enum record_scope_kind kind, const char *text,
			 const struct dagtap_attribute *attributes, size_t count);
uint64_t scope_step_begin(const char *name, int64_t number);

/* The same through NVTX. Each domain has an order of its own: it ends its scopes alone. */
uint64_t scope_push_nvtx(uint32_t domain, const char *text,
			 const struct dagtap_attribute *attributes, size_t count);
void scope_pop_nvtx(uint32_t domain);

/* Ends the innermost scope of this kind, also when others were pushed above it. */
void scope_pop(enum record_scope_kind kind);

/* dagtap_scope_path, _attach, _detach. */
size_t scope_path(uint64_t *ret_ids, size_t room);
void scope_attach(const uint64_t *ids, size_t count);
void scope_detach(void);

uint64_t scope_range_start(const char *text);
uint64_t scope_range_start_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count);
void scope_range_start_as(uint64_t id, const char *text); /* the id is somebody else's */
void scope_range_stop(uint64_t id);
void scope_mark(const char *text);
void scope_mark_with(const char *text, const struct dagtap_attribute *attributes, size_t count);

/* For session.c. */
uint64_t scope_number(void);   /* this thread's, 0 = none yet or shared pool */
void scope_writer_bound(void); /* this thread has a new writer: open scopes go into its spool */
void scope_session_started(void);
void scope_session_ended(void);
void scope_thread_ended(void);
void scope_forget_parent(void); /* in a fork child: open scopes are written anew */

#endif
