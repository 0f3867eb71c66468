/* The session: the capture side's state between start and stop in one process, its spool, and
 * each thread's writer.
 *
 * The first session starts at the first use of a GPU (OnLoad of HSA's tools interface, or the
 * first wrapped call); nothing is written before. The program may stop the session and start
 * another one, with a spool of its own, as often as it likes. Once the program has stopped a
 * session, only its own call starts the next. No session starts any more when the process has
 * begun to exit, or when the first one could not be started; then every wrapper passes its call.
 * A fork child starts from SESSION_IDLE with a spool of its own and never touches its parent's.
 *
 * Threading: any thread may call every function here, unless it says otherwise. Cost:
 * session_is_on is one relaxed load; session_writer is two loads after a thread's first call in
 * a session. Do not keep a writer across another call of session_writer, which may give it back. */
#ifndef DAGTAP_CAPTURE_CAPTURE_SESSION_H
#define DAGTAP_CAPTURE_CAPTURE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "capture/process_recordings.h"
#include "record/record.h"
#include "record/witnesses.h"
#include "record/writer.h"

enum session_state {
	SESSION_IDLE,	  /* no session was started yet */
	SESSION_STARTING, /* the spool is opened and the capture sources start */
	SESSION_ON,	  /* records are written */
	SESSION_DRAINING, /* the capture sources stop and the spool is closed */
	SESSION_STOPPED,  /* by the program or the switch, which may start the next session */
	SESSION_OFF,	  /* no session will start any more */
};

/* enum session_state. Changed by the thread that starts or stops a session. */
extern _Atomic int session_state;

/* The number of this process's current or last session, from 1; 0 before the first. */
extern _Atomic uint32_t session_number;

/* Returns whether records are written. Relaxed: a thread may see the end of a session late; the
 * writers refuse its records then. */
static inline bool session_is_on(void)
{
	return atomic_load_explicit(&session_state, memory_order_relaxed) == SESSION_ON;
}

/* Returns session_number. */
static inline uint32_t session_current_number(void)
{
	return atomic_load_explicit(&session_number, memory_order_relaxed);
}

/* Returns the number of the session that is on; 0: none is. The number may be that of a session
 * that has just ended. It is never that of a session whose capture sources have not all started:
 * the acquire of the number pairs with its increment in start_recording, so that the state is
 * not older. */
static inline uint32_t session_on_number(void)
{
	uint32_t number = atomic_load_explicit(&session_number, memory_order_acquire);

	return atomic_load_explicit(&session_state, memory_order_acquire) == SESSION_ON ? number
											: 0;
}

/* Starts the first session if DAGTAP_SPOOL names a folder, and the switch (capture_switch.h) wants
 * it; if not, the process is dormant. Returns whether a session is on.
 * While another thread starts it, the calling thread waits, up to TIMER_SESSION_CHANGE (10 s).
 * The starting thread itself gets false, so that calls made by a start hook pass unrecorded.
 * Returns false, and starts nothing, when the program has stopped the session. Cost when a
 * session is on: one load. */
bool session_start(void);

/* The same for the program's own call (dagtap_session_start) and for the switch, which it does not
 * ask: after session_stop it starts the next session. */
bool session_start_again(void);

/* What the session asks of the switch (capture_switch.h). Static. */
struct session_switch {
	/* Instead of the start of the first session: starts it if it is wanted, or makes the
	 * process dormant. Returns whether a session is on. */
	bool (*gpu_used)(void);
	void (*thread_ended)(void); /* on each thread that has used the session */
	bool keeps_scopes;	    /* across sessions */
};
extern _Atomic(const struct session_switch *) session_armed_switch; /* NULL: not armed */

/* Arms the switch, before the first session. */
void session_take_switch(const struct session_switch *armed);

/* The process is dormant: the state changes from SESSION_IDLE to SESSION_STOPPED, as if the program
 * had stopped a session, so that wrappers follow the lives of graphs and record nothing. In other
 * states it does nothing. */
void session_sleep(void);

/* Stops the session: runs the stop hooks in reverse order of registration, writes the END record
 * and closes the spool. When another thread stops the session already, waits for it, up to
 * TIMER_SESSION_CHANGE (10 s). Without a session: does nothing. */
void session_stop(void);

/* The process ends: stops the session, and no session starts any more. Waits for a thread that
 * is starting or stopping one, up to TIMER_SESSION_CHANGE. Runs as an exit handler and as the
 * library's destructor; the second call does nothing. */
void session_end(void);

/* Returns whether session_end was called. In a stop hook: the vendor's runtime may have ended
 * already. */
bool session_is_ending(void);

/* A capture source: the hooks of one vendor interface in the life of the session. Each is a
 * static table, registered once, before or after the session has started. Every hook may be
 * NULL.
 *
 * - start: in every session, after the spool exists. No lock is held. It must not wait for the
 *   vendor's runtime: another thread may hold the runtime's locks while it waits for the
 *   session.
 * - tick: on the housekeeper, every 250 ms (more often after a start). Never while a stop hook
 *   runs.
 * - stop: waits for what is in flight, with a limit, and writes the last witnesses. Runs on the
 *   thread that stops the session.
 * - child: in a fork child: forgets everything and touches nothing of the parent's. */
struct capture_source {
	const char *name; /* static */
	void (*start)(void);
	void (*tick)(void);
	void (*stop)(void);
	void (*child)(void);
};
/* Registers SOURCE, which is static; registering it again does nothing. When a session is on, its
 * start hook is called at once, on this thread. A source beyond the eighth is ignored. */
void session_add_source(const struct capture_source *source);

/* Returns false once nothing will be recorded any more in this process. */
static inline bool session_may_record(void)
{
	return atomic_load_explicit(&session_state, memory_order_relaxed) != SESSION_OFF;
}

/* The calling thread's writer, the recording it is bound to, and its kernel thread id (0: not
 * read yet). Only few words of thread-local memory: the injected library may be loaded late,
 * into what little static TLS is left. */
extern __thread struct writer *session_thread_writer __attribute__((tls_model("initial-exec")));
extern __thread struct recording *session_thread_recording
	__attribute__((tls_model("initial-exec")));
extern __thread uint32_t session_thread_tid __attribute__((tls_model("initial-exec")));

/* The slow path of session_writer: binds the calling thread to the current recording, unbinds it
 * from the last one, and writes its THREAD record and its open scopes. Returns NULL before there
 * is a spool. */
struct writer *session_bind_writer(void);
/* The slow path of session_tid: a system call. */
uint32_t session_read_tid(void);

/* Returns the calling thread's writer; NULL before there is a spool. When no writer is free, or
 * after the session has ended, it is a writer that refuses records and counts them. May be used in
 * the hooks of capture sources, too. */
static inline struct writer *session_writer(void)
{
	/* Relaxed: a thread that finds another recording reads it again in session_bind_writer. */
	struct recording *current = atomic_load_explicit(&recording_current, memory_order_relaxed);

	return __builtin_expect(session_thread_recording == current, 1) ? session_thread_writer
									: session_bind_writer();
}

/* Returns the calling thread's kernel thread id. One load after the first call. */
static inline uint32_t session_tid(void)
{
	uint32_t tid = session_thread_tid;

	return __builtin_expect(tid != 0, 1) ? tid : session_read_tid();
}

/* The last correlation id that was given; 0: none. */
extern _Atomic uint64_t session_last_cid;

/* Returns the next correlation id. Ids are unique in the process and grow in the order of entry. */
static inline uint64_t session_next_cid(void)
{
	return atomic_fetch_add_explicit(&session_last_cid, 1, memory_order_relaxed) + 1;
}

/* Makes all later correlation ids larger than FLOOR, for a capture source whose calls have
 * numbers of their own, below FLOOR (CUDA). Returns the last id before. */
static inline uint64_t session_skip_cids(uint64_t floor)
{
	uint64_t last = atomic_load_explicit(&session_last_cid, memory_order_relaxed);

	while (last < floor &&
	       !atomic_compare_exchange_weak_explicit(&session_last_cid, &last, floor,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return last;
}

/* Writes a WITNESS record: VALUE is a count that the ledger compares with the rows. For the calling
 * thread's writer. */
void session_witness(enum witness witness, uint64_t value);
/* session_witness for the counter NAME of the software GPU. NAME is copied, and cut where the
 * record's field ends. */
void session_device_count(const char *name, uint64_t value);
/* Writes a SOURCE record: the state of the capture source NAME, with a sentence for the user. */
void session_source(const char *name, enum record_source_state state, const char *text);
/* Writes a NOTE record: a line of text for the user. */
void session_note(const char *text);

/* The time stamp of all records on the host: ns, as base/clock.h gives it. */
static inline uint64_t session_now_ns(void)
{
	return clock_now_ns();
}

/* Called when the library is loaded, and before that when a vendor's library hands over a table.
 * Keeps the environment's present values (env_remember). When neither DAGTAP_SPOOL nor
 * DAGTAP_RECORDER is set, no session will ever start. */
void session_arm(void);

/* For scope.c: when the calling thread ends, its stack is freed and its writer is given back. */
void session_watch_thread(void);
/* For scope.c: the calling thread has got its scope number; its writer takes it over. */
void session_thread_numbered(uint64_t scope_number);

#endif
