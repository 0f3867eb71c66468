/* Writing records: one thread, one writer, straight into the mapped spool.
 *
 *	struct record_api *api = writer_reserve(w, RECORD_API, sizeof(*api) + 16);
 *	if (api) {
 *		...fill everything but api->header...
 *		writer_commit(w, api, RECORD_API, sizeof(*api) + 16, op);
 *	}
 *
 * Cost: a few ns; no system call, lock or allocation, ever. A record that finds no room is
 * dropped and counted by class and cause, and reserve returns NULL.
 *
 * With a ring a thread has two writers, one of them for what is never let go; the other knows it, and is the only
 * one that callers see.
 *
 * Threading: a writer belongs to one thread at a time (spooler_take_writer). Between reserve and
 * commit the thread must not reserve again: a signal handler that tries is refused and counted.
 * Every reserve that returned memory must be followed by its commit, with the same size. */
#ifndef DAGTAP_RECORD_WRITER_H
#define DAGTAP_RECORD_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "record/spool.h"

struct spooler;

/* Whose the records are; repeated at the start of every chunk. */
struct writer_thread {
	uint32_t tid;
	uint64_t scope_number; /* 0 = none yet */
	char name[16];
};

enum writer_use {
	WRITER_IDLE,
	WRITER_BUSY,   /* between reserve and commit */
	WRITER_NOBODY, /* not a thread's: whatever is offered is refused and counted */
	WRITER_TORN, /* its thread ended within a record: nobody's any more, and not to be sealed */
};

/* What is atomic closing a spool looks at from another thread. */
struct writer {
	_Atomic(unsigned char *) cursor; /* where the next record goes */
	_Atomic(unsigned char *) limit;	 /* end of the current chunk; cursor = limit = NULL: none */
	_Atomic uint32_t use;		 /* enum writer_use */
	_Atomic bool has_ended; /* its owner has seen that the spool closes: no record follows */
	_Atomic uint32_t owner; /* its thread's id */
	uint32_t lane_index;
	struct spool_lane *lane;
	struct spool_chunk *chunk;
	struct spooler *spooler;
	struct writer_thread thread;
	_Atomic uint32_t next_free; /* lane index + 1, while nobody's */
	uint32_t sequence;	    /* of the next chunk */
	struct writer *keeper; /* of what is never let go; NULL: all goes here (there is no ring) */
	uint32_t leaves_ready; /* chunks that are not for this one */
	bool is_ringed;	       /* its full chunks may be let go */
	bool rings_periodic;   /* so may what this thread writes now and then */
} __attribute__((aligned(128)));

/* Where a ring is concerned. */
enum record_life {
	RECORD_LIFE_KEPT,     /* later records need it, or it is a witness */
	RECORD_LIFE_RINGED,   /* frequent; let go when it is old */
	RECORD_LIFE_PERIODIC, /* kept, if not as often as it is written */
};

static inline enum record_life record_life_of(enum record_type type)
{
	switch (type) {
	case RECORD_THREAD: /* in either kind of chunk */
	case RECORD_DISPATCH:
	case RECORD_DISPATCH_DONE:
	case RECORD_BARRIER:
	case RECORD_COPY:
	case RECORD_COPY_DONE:
	case RECORD_API:
	case RECORD_SCOPE:
	case RECORD_SCOPE_END:
	case RECORD_GRAPH_LAUNCH:
	case RECORD_CUDA_KERNEL:
	case RECORD_CUDA_COPY:
	case RECORD_CUDA_SYNC:
	case RECORD_CUDA_EVENT:
	case RECORD_CUDA_MEMORY:
	case RECORD_CUDA_OVERHEAD:
	case RECORD_CUDA_INNER:
	case RECORD_CUDA_UPDATE:
		return RECORD_LIFE_RINGED;
	case RECORD_QUEUE_COUNT:
	case RECORD_QUEUE_TAKEN:
	case RECORD_ANCHOR:
	case RECORD_WITNESS:
		return RECORD_LIFE_PERIODIC;
	default:
		return RECORD_LIFE_KEPT;
	}
}

/* The one of a thread's two writers that a record is for; with a constant type nothing is left to decide
 * for what is frequent. */
static inline struct writer *writer_for(struct writer *w, enum record_type type)
{
	enum record_life life = record_life_of(type);

	if (life == RECORD_LIFE_RINGED || !w->keeper ||
	    (life == RECORD_LIFE_PERIODIC && w->rings_periodic))
		return w;
	return w->keeper;
}

/* For records that are to be kept although their type is not. W may be NULL. */
static inline struct writer *writer_kept(struct writer *w)
{
	return w && w->keeper ? w->keeper : w;
}

static inline enum record_class record_class_of(enum record_type type)
{
	static const unsigned char classes[RECORD_TYPE_COUNT] = {RECORD_CLASS_META,
#define X(name, class) RECORD_CLASS_##class,
								 RECORD_TYPES(X)
#undef X
	};

	return (enum record_class)classes[type];
}

/* Adds one to a counter that only this thread stores to: cheaper than an atomic add. */
static inline void writer_count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* The rare ways of writer_reserve: no room in the chunk, or not the writer's turn. */
void *writer_reserve_slowly(struct writer *w, enum record_type type, size_t bytes);
void *writer_refuse(struct writer *w, enum record_type type);

/* A record of BYTES (rounded up to 8), header included, in zeroed memory; NULL when dropped. W may
 * be NULL (nothing is being recorded): NULL, not counted. */
static inline void *writer_reserve(struct writer *w, enum record_type type, size_t bytes)
{
	size_t size = (bytes + 7) & ~(size_t)7;
	unsigned char *cursor;

	if (__builtin_expect(!w, 0))
		return NULL;
	w = writer_for(w, type);
	if (__builtin_expect(atomic_load_explicit(&w->use, memory_order_relaxed), 0))
		return writer_refuse(w, type);
	atomic_store_explicit(&w->use, WRITER_BUSY, memory_order_relaxed);
	/* A signal handler on this thread must see BUSY before anything else changes. Against a
	 * closing thread the pair is its membarrier (spooler.c). */
	atomic_signal_fence(memory_order_seq_cst);
	cursor = atomic_load_explicit(&w->cursor, memory_order_relaxed);
	if (__builtin_expect((uintptr_t)cursor + size > (uintptr_t)atomic_load_explicit(
								&w->limit, memory_order_relaxed),
			     0))
		return writer_reserve_slowly(w, type, size);
	writer_count(&w->lane->counts.attempted[record_class_of(type)]);
	return cursor;
}

/* Makes the record visible: the header is its last store. */
static inline void writer_commit(struct writer *w, void *record, enum record_type type,
				 size_t bytes, uint32_t tag)
{
	uint64_t words = (bytes + 7) / 8;
	_Atomic uint64_t *header = record;

	w = writer_for(w, type);
	/* A reader of the file takes what a non-zero header precedes to be complete. */
	atomic_store_explicit(header, (uint64_t)type | words << 16 | (uint64_t)tag << 32,
			      memory_order_release);
	atomic_store_explicit(&w->cursor, (unsigned char *)record + words * 8,
			      memory_order_relaxed);
	atomic_store_explicit(&w->use, WRITER_IDLE, memory_order_release);
}

/* A record with text at its end: FIXED (its header is ignored) and TEXT, cut at RECORD_TEXT_MAX.
 * The caller has put the same cut length in the record's own field: writer_text_bytes. */
void writer_put_text(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		     size_t fixed_bytes, const char *text, size_t text_bytes);

static inline uint32_t writer_text_bytes(size_t length)
{
	return length < RECORD_TEXT_MAX ? (uint32_t)length : RECORD_TEXT_MAX;
}

/* A record without text, in one call; FIXED's header is ignored. */
void writer_put(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		size_t fixed_bytes);

/* Writes a THREAD record with the writer's thread as it is now. */
void writer_put_thread(struct writer *w);

/* The thread that W belongs to, and its scope number, from now on, in both of its writers. */
void writer_set_thread(struct writer *w, const struct writer_thread *thread);
void writer_set_scope_number(struct writer *w, uint64_t scope_number);

/* Within a record: a signal handler has interrupted it. */
static inline bool writer_is_busy(const struct writer *w)
{
	return atomic_load_explicit(&w->use, memory_order_relaxed) == WRITER_BUSY ||
	       (w->keeper &&
		atomic_load_explicit(&w->keeper->use, memory_order_relaxed) == WRITER_BUSY);
}

#endif
