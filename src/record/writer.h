/* Writes records of one thread into the mapped spool. spooler.h creates writers and chunks.
 *
 *	struct record_api *api = writer_reserve(w, RECORD_API, sizeof(*api) + 16);
 *	if (api) {
 *		...fill everything but api->header...
 *		writer_commit(w, api, RECORD_API, sizeof(*api) + 16, function);
 *	}
 *
 * Cost: a few ns, and a clock read when a chunk is full; never a system call, lock or allocation.
 * A record that finds no room is dropped and counted by class and cause, and reserve returns
 * NULL.
 *
 * In a ring recording a thread has two writers: one whose chunks the ring reuses, and its keeper,
 * whose chunks are never reused. Callers get and pass the first one; the functions of this header
 * choose between the two by the record's type.
 *
 * Threading: a writer belongs to one thread at a time (spooler_take_writer), and only that thread
 * calls the functions below. Between reserve and commit it must not reserve again: a signal
 * handler that tries gets NULL, and the record is counted as dropped. Every reserve that returned
 * memory must be followed by a commit with the same type and size. */
#ifndef DAGTAP_RECORD_WRITER_H
#define DAGTAP_RECORD_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "record/spool.h"

struct spooler;

/* The thread that the records belong to. Written as a THREAD record at the start of every chunk. */
struct writer_thread {
	uint32_t tid;
	uint64_t scope_number; /* high 16 bits of its scope ids; 0 = none yet */
	char name[16];	       /* filled with zeros; not terminated when full */
};

enum writer_use {
	WRITER_IDLE,
	WRITER_BUSY,   /* between reserve and commit */
	WRITER_NOBODY, /* the writer of threads without a writer: drops and counts every record */
	WRITER_TORN, /* its thread ended within a record: no thread uses it, and it is not sealed */
};

/* The owning thread stores to all fields. spooler_close, in another thread, reads the atomic fields
 * and sets limit to NULL; it touches chunk once the writer is idle. Aligned to two cache lines, so
 * that threads do not share one. */
struct writer {
	_Atomic(unsigned char *) cursor; /* where the next record goes */
	_Atomic(unsigned char *) limit;	 /* end of the chunk; NULL: no chunk, or the spool closes */
	_Atomic uint32_t use;		 /* enum writer_use */
	_Atomic bool has_ended; /* the owner has seen that the spool closes: no record follows */
	_Atomic uint32_t owner; /* tid of the owning thread */
	uint32_t index;		/* the writer's number in the spool */
	struct spool_writer *counters; /* its counters, in the mapped file */
	struct spool_chunk *chunk;     /* the current chunk; NULL: none */
	struct spooler *spooler;
	struct writer_thread thread;
	_Atomic uint32_t next_free; /* in the list of free writers: the next writer's index + 1 */
	uint32_t sequence;	    /* of the next chunk */
	struct writer *keeper; /* the writer of records that a ring keeps; NULL: there is no ring */
	uint32_t leaves_ready; /* the last ready chunks, which this writer must not take */
	uint64_t spool_id;     /* spooler_session_id of its spool; 0: no spool has its records */
	bool is_ringed;	       /* the ring may reuse its full chunks */
	bool rings_periodic;   /* periodic records go to this writer, not to the keeper */
} __attribute__((aligned(128)));

/* How long a ring recording keeps a record. */
enum record_life {
	RECORD_LIFE_KEPT,     /* to the end: later records refer to it, or it is a witness */
	RECORD_LIFE_RINGED,   /* until the ring reuses its chunk: frequent records */
	RECORD_LIFE_PERIODIC, /* written at every tick; some are kept, the others are ringed */
};

/* How long records of TYPE are kept. Cost: none when TYPE is a constant. */
static inline enum record_life record_life_of(enum record_type type)
{
	switch (type) {
	case RECORD_THREAD: /* every chunk of either writer has its own */
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
	case RECORD_MEMORY:
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

/* Which of a thread's two writers takes a record of TYPE. W is the thread's first writer or a
 * keeper. With a constant TYPE the compiler removes the decision for frequent records. */
static inline struct writer *writer_for(struct writer *w, enum record_type type)
{
	enum record_life life = record_life_of(type);

	if (life == RECORD_LIFE_RINGED || !w->keeper ||
	    (life == RECORD_LIFE_PERIODIC && w->rings_periodic))
		return w;
	return w->keeper;
}

/* The writer for records that a ring must keep although their type is not kept. W may be NULL. */
static inline struct writer *writer_kept(struct writer *w)
{
	return w && w->keeper ? w->keeper : w;
}

/* The class that records of TYPE are counted in. TYPE must be less than RECORD_TYPE_COUNT. */
static inline enum record_class record_class_of(enum record_type type)
{
	static const unsigned char classes[RECORD_TYPE_COUNT] = {RECORD_CLASS_META,
#define X(name, class) RECORD_CLASS_##class,
								 RECORD_TYPES(X)
#undef X
	};

	return (enum record_class)classes[type];
}

/* Adds one to a counter that only the calling thread stores to. Cheaper than an atomic addition. */
static inline void writer_count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* The rare cases of writer_reserve, which alone calls these two. writer_reserve_slowly: the
 * record does not fit into the chunk; W is already BUSY. Takes the next chunk and returns memory
 * for the record, or drops the record, makes W idle, and returns NULL. BYTES is a multiple of 8. */
void *writer_reserve_slowly(struct writer *w, enum record_type type, size_t bytes);

/* W is not idle: a signal handler interrupted its record, or W belongs to no thread. Drops the
 * record and returns NULL. Counts it in struct spool_live with atomic additions, because the
 * interrupted thread may be within an addition to one of its counters. */
void *writer_refuse(struct writer *w, enum record_type type);

/* Reserves a record of BYTES, header included, rounded up to 8, in zeroed memory, and counts it
 * as attempted. Returns NULL if the record was dropped; the cause is counted. W may be NULL
 * (nothing is recorded): returns NULL, and counts nothing. The caller fills all but the header
 * and calls writer_commit. */
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
	/* A signal handler on this thread must see BUSY before anything else changes. For a thread
	 * that closes the spool, this pairs with its membarrier (quiesce_writers in spooler.c). */
	atomic_signal_fence(memory_order_seq_cst);
	cursor = atomic_load_explicit(&w->cursor, memory_order_relaxed);
	if (__builtin_expect((uintptr_t)cursor + size > (uintptr_t)atomic_load_explicit(
								&w->limit, memory_order_relaxed),
			     0))
		return writer_reserve_slowly(w, type, size);
	writer_count(&w->counters->counts.attempted[record_class_of(type)]);
	return cursor;
}

/* Publishes a record that writer_reserve returned: stores its header, last. TYPE and BYTES must be
 * those of the reserve; the whole record must be filled. RECORD is not to be touched afterwards. */
static inline void writer_commit(struct writer *w, void *record, enum record_type type,
				 size_t bytes, uint32_t tag)
{
	uint64_t words = (bytes + 7) / 8;
	_Atomic uint64_t *header = record;

	w = writer_for(w, type);
	/* Pairs with the acquire in is_written (spool_reader.c): a reader of the file takes a
	 * record with a non-zero header for complete. */
	atomic_store_explicit(header, (uint64_t)type | words << 16 | (uint64_t)tag << 32,
			      memory_order_release);
	atomic_store_explicit(&w->cursor, (unsigned char *)record + words * 8,
			      memory_order_relaxed);
	atomic_store_explicit(&w->use, WRITER_IDLE, memory_order_release);
}

/* Writes a record that ends in text: FIXED_BYTES of FIXED, whose header is ignored, then TEXT,
 * cut at RECORD_TEXT_MAX bytes. The caller has stored writer_text_bytes(TEXT_BYTES) in the type's
 * length field. Copies both; drops the record as writer_reserve does. W may be NULL. */
void writer_put_text(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		     size_t fixed_bytes, const char *text, size_t text_bytes);

/* The length of a text of LENGTH bytes after it was cut. */
static inline uint32_t writer_text_bytes(size_t length)
{
	return length < RECORD_TEXT_MAX ? (uint32_t)length : RECORD_TEXT_MAX;
}

/* Writes a record without text: a copy of FIXED, whose header is ignored. W may be NULL. */
void writer_put(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		size_t fixed_bytes);

/* Writes a THREAD record with the current w->thread. */
void writer_put_thread(struct writer *w);

/* Gives W and its keeper to THREAD, which is copied, and writes THREAD records where needed. Called
 * by spooler_take_writer, on the new owner's thread. */
void writer_set_thread(struct writer *w, const struct writer_thread *thread);

/* Sets the scope number of the thread of W, in both writers, and writes THREAD records. The thread
 * calls it when it opens its first scope. */
void writer_set_scope_number(struct writer *w, uint64_t scope_number);

/* Whether the thread is between reserve and commit in one of its two writers. Called on W's own
 * thread, so true means that the caller interrupted a record, or left one by longjmp. */
static inline bool writer_is_busy(const struct writer *w)
{
	return atomic_load_explicit(&w->use, memory_order_relaxed) == WRITER_BUSY ||
	       (w->keeper &&
		atomic_load_explicit(&w->keeper->use, memory_order_relaxed) == WRITER_BUSY);
}

#endif
