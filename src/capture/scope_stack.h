/* The stack of open scopes of each thread. It knows nothing of the session: the caller passes the
 * writer. scope.h has the same verbs for the rest of the capture side; the session uses this file
 * to write the open scopes of a thread into a new spool.
 *
 * Ids: the thread's number << 48 | a counter. Threads that push are numbered from 1; after
 * 32,767 threads a shared pool is used: bit 63 | one counter for all threads.
 *
 * Threading: each stack belongs to its thread; no locks.
 *
 * Generations: the end of a session begins a new generation. A thread that uses its stack and
 * finds that the stack is of an older generation empties it. The thread's number and counter go
 * on, so no id is used twice. */
#ifndef DAGTAP_CAPTURE_SCOPE_STACK_H
#define DAGTAP_CAPTURE_SCOPE_STACK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "record/writer.h"

struct dagtap_attribute;
struct scope_stack;
struct text;

/* Written by the thread that stops a session. */
extern _Atomic uint32_t scope_generation;

/* The id of the innermost scope on this thread's stack; valid while GENERATION is
 * scope_generation. */
struct scope_leaf {
	uint64_t id;
	uint32_t generation;
};

extern __thread struct scope_leaf scope_leaf __attribute__((tls_model("initial-exec")));

/* Returns the id of the calling thread's innermost scope; 0: none. */
static inline uint64_t scope_current(void)
{
	uint32_t generation = atomic_load_explicit(&scope_generation, memory_order_relaxed);

	return __builtin_expect(scope_leaf.generation == generation, 1) ? scope_leaf.id : 0;
}

/* The kind of an entry: in the low bits the record's kind; above them the NVTX domain whose pops
 * may end it. */
#define SCOPE_KIND_BITS 8

/* Returns the calling thread's stack, emptied if its session has ended; NULL: the thread has
 * none. */
struct scope_stack *scope_stack_known(void);
/* Makes the calling thread's stack, which has none yet, and numbers the thread. NULL: memory is
 * short. */
struct scope_stack *scope_stack_create(void);
/* Returns the calling thread's scope number; 0: it has never pushed, or uses the shared pool. */
uint64_t scope_stack_number(void);
/* Returns the next id of STACK's thread. */
uint64_t scope_stack_next_id(struct scope_stack *stack);

/* Opens a scope with COUNT attributes; the text and the attributes are copied. Writes nothing.
 * Returns its id; 0 when there is no room or memory. Then the matching pop is still due. */
uint64_t scope_stack_push(struct scope_stack *stack, uint32_t kind, const char *text,
			  const struct dagtap_attribute *attributes, size_t count);
/* The same for a scope with the text and the domain of TEXT (scope_record_put_shared), which is not
 * copied: TEXT is never freed. */
uint64_t scope_stack_push_shared(struct scope_stack *stack, uint32_t kind, struct text *text);
/* Ends the calling thread's innermost scope of KIND, if there is one. Where the scope was written
 * before, in W or among the kept records of W, writes SCOPE_END. Take W (session_writer) before
 * the call: binding to a new writer may empty the stack. */
void scope_stack_pop(uint32_t kind, struct writer *w);
/* Returns the text of the scope that scope_stack_pop would end, with its length, which is not
 * terminated and valid until the stack changes. NULL: there is none. */
const char *scope_stack_innermost(uint32_t kind, size_t *ret_bytes);
/* Writes to W the scopes of STACK that are not in the spool yet. */
void scope_stack_write(struct scope_stack *stack, struct writer *w);
/* Writes to KEPT (writer_kept) the scopes of STACK that are not among the kept records yet. */
void scope_stack_write_kept(struct scope_stack *stack, struct writer *kept);

/* See scope_path, scope_attach and scope_detach in scope.h. */
size_t scope_stack_path(const struct scope_stack *stack, uint64_t *ret_ids, size_t room);
void scope_stack_attach(struct scope_stack *stack, const uint64_t *ids, size_t count);
void scope_stack_detach(void);

/* The rest is for capture_session.c. */
/* The calling thread has the new writer W: writes its open scopes into that writer's spool. */
void scope_stack_writer_bound(struct writer *w);
/* A session ends: begins the next generation. */
void scope_stack_session_ended(void);
/* The calling thread ends: frees its stack. */
void scope_stack_thread_ended(void);
/* In a fork child: the thread's open scopes are written again, into the child's spool. */
void scope_stack_forget_parent(void);

#endif
