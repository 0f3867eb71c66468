/* Tracing in this process: on or off, the spool, and each thread's writer.
 *
 * The session starts at the first GPU use (OnLoad, or the first wrapped call) and writes nothing
 * before. It stops once: at exit, at the last hsa_shut_down, or when the tool turns itself off
 * after an inner fault; then every wrapper passes its call through. A fork child starts from
 * IDLE with a spool of its own and never touches its parent's.
 *
 * Threading: everything here may be called from any thread. Costs: session_is_on is one relaxed
 * load; session_writer is one thread-local load after a thread's first call.
 */
#ifndef DAGTAP_CAPTURE_SESSION_H
#define DAGTAP_CAPTURE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "record/writer.h"

enum session_state { SESSION_IDLE, SESSION_STARTING, SESSION_ON, SESSION_DRAINING, SESSION_OFF };

extern _Atomic int session_state;

static inline bool session_is_on(void)
{
	return atomic_load_explicit(&session_state, memory_order_relaxed) == SESSION_ON;
}

/* Starts the session if DAGTAP_SPOOL names a folder and nothing started yet. True when on. */
bool session_start(void);

/* Runs the stop hooks in reverse order of registration, writes the END record, seals the spool. */
void session_stop(void);

/* A vendor interface's part in the life of the session; tables are static, registered once.
 * start: after the spool exists (may be NULL). stop: bounded drain, last witnesses. tick: about
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

/* The calling thread's writer, or NULL (off, or out of writers: counted as a drop). */
struct writer *session_writer(void);

/* Next correlation id: process-wide order of entry. */
uint64_t session_next_cid(void);

/* Small counts for the ledger, kept apart from the rows. */
void session_witness(const char *source, const char *key, uint64_t value);
void session_source(const char *name, enum record_source_state state, const char *text);
void session_note(const char *text);

uint64_t session_now_ns(void); /* CLOCK_MONOTONIC */

#endif
