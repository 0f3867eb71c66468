/* Tracing in this process: on or off, the spool, and each thread's writer.
 *
 * The session starts at the first GPU use (OnLoad, or the first wrapped call) and writes nothing
 * before. The program may stop it and start another one, with a spool of its own, as often as it likes;
 * nothing but the program's own call starts one again. It ends for good at exit, and when the tool turns
 * itself off after an inner fault; then every wrapper passes its call through. A fork child starts from
 * IDLE with a spool of its own and never touches its parent's.
 *
 * Threading: everything here may be called from any thread. Costs: session_is_on is one relaxed
 * load; session_writer is two loads after a thread's first call in a session. A writer is not to be kept
 * over another call of session_writer, which may give it back.
 */
#ifndef DAGTAP_CAPTURE_SESSION_H
#define DAGTAP_CAPTURE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "capture/recording.h"
#include "record/record.h"
#include "record/writer.h"

enum session_state {
	SESSION_IDLE, /* nothing was recorded yet */
	SESSION_STARTING,
	SESSION_ON,
	SESSION_DRAINING,
	SESSION_STOPPED, /* by the program, which may start again */
	SESSION_OFF,	 /* for good */
};

extern _Atomic int session_state;

/* Counts this process's sessions, from 1; 0 before the first. */
extern _Atomic uint32_t session_number;

static inline bool session_is_on(void)
{
	return atomic_load_explicit(&session_state, memory_order_relaxed) == SESSION_ON;
}

static inline uint32_t session_current_number(void)
{
	return atomic_load_explicit(&session_number, memory_order_relaxed);
}

/* The session that is on; 0: none is. The number may be that of a session that has just ended; it is never that of
 * one whose parts have not all been started. */
static inline uint32_t session_on_number(void)
{
	uint32_t number = atomic_load_explicit(&session_number, memory_order_acquire);

	return atomic_load_explicit(&session_state, memory_order_acquire) == SESSION_ON ? number
											: 0;
}

/* Starts the first session if DAGTAP_SPOOL names a folder. True when on. A thread that comes while
 * another one starts it waits; the starting thread itself gets false, so that calls made by a part's
 * start hook pass through unrecorded. False when the program has stopped it. */
bool session_start(void);

/* The same for the program's own call: after session_stop it starts the next one. */
bool session_start_again(void);

/* Runs the stop hooks in reverse order of registration, writes the END record, seals the spool. */
void session_stop(void);

/* For good: the process ends. */
void session_end(void);

/* Is it session_end that a part's stop hook runs for? Then the vendor's runtime may have ended before. */
bool session_is_ending(void);

/* A vendor interface's part in the life of the session; tables are static, registered once, before
 * or after the session started. Every hook may be NULL.
 * start: after the spool exists, in every session; must not wait for the vendor's runtime, whose locks
 * another thread may hold while it waits for the session. stop: bounded drain, last witnesses. tick: about
 * every 250 ms on the housekeeping thread. child: in a fork child: forget everything, touch
 * nothing of the parent's. */
struct session_part {
	const char *name;
	void (*start)(void);
	void (*tick)(void);
	void (*stop)(void);
	void (*child)(void);
};
void session_add_part(const struct session_part *part);

/* False once nothing will ever be recorded any more. */
static inline bool session_may_record(void)
{
	return atomic_load_explicit(&session_state, memory_order_relaxed) != SESSION_OFF;
}

/* Few words of thread-local memory: the injected library may be loaded late, into what little
 * static TLS is left. */
extern __thread struct writer *session_thread_writer __attribute__((tls_model("initial-exec")));
extern __thread struct recording *session_thread_recording
	__attribute__((tls_model("initial-exec")));
extern __thread uint32_t session_thread_tid __attribute__((tls_model("initial-exec")));

struct writer *session_bind_writer(void);
uint32_t session_read_tid(void);

/* The calling thread's writer; NULL before there is a spool. Out of lanes, or after the end, it is
 * one that refuses and counts. Usable in part hooks, too. */
static inline struct writer *session_writer(void)
{
	/* Relaxed: whoever finds another one looks again, in session_bind_writer. */
	struct recording *current = atomic_load_explicit(&recording_current, memory_order_relaxed);

	return __builtin_expect(session_thread_recording == current, 1) ? session_thread_writer
									: session_bind_writer();
}

static inline uint32_t session_tid(void)
{
	uint32_t tid = session_thread_tid;

	return __builtin_expect(tid != 0, 1) ? tid : session_read_tid();
}

extern _Atomic uint64_t session_last_cid;

/* Next correlation id: process-wide order of entry. */
static inline uint64_t session_next_cid(void)
{
	return atomic_fetch_add_explicit(&session_last_cid, 1, memory_order_relaxed) + 1;
}

/* From now on ids are above FLOOR: for a source whose calls have numbers of their own, below it. Gives the
 * last id so far. */
static inline uint64_t session_skip_cids(uint64_t floor)
{
	uint64_t last = atomic_load_explicit(&session_last_cid, memory_order_relaxed);

	while (last < floor &&
	       !atomic_compare_exchange_weak_explicit(&session_last_cid, &last, floor,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return last;
}

/* Small counts for the ledger, kept apart from the rows. */
void session_witness(const char *source, const char *key, uint64_t value);
void session_source(const char *name, enum record_source_state state, const char *text);
void session_note(const char *text);

static inline uint64_t session_now_ns(void)
{
	return clock_now_ns();
}

/* For entry.c, as the library is loaded: keeps what the environment says now. Off for good when
 * neither DAGTAP_SPOOL nor DAGTAP_RECORDER is set. */
void session_arm(void);

/* For scope.c: this thread's end is to be told to us, and its scope number has changed. */
void session_watch_thread(void);
void session_thread_numbered(uint64_t scope_number);

#endif
