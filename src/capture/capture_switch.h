/* Starts and stops the recording of this process as the options --wait, --capture-range, --skip,
 * --count, --delay and --duration of `dagtap record` ask for. switch_policy.h decides; this module
 * reads the options, takes the events in, and carries the decision out through capture_session.h.
 *
 * Without these options the switch is not armed: the session starts with the first use of a GPU,
 * and no function here does anything. Armed, the process is dormant at its first use of a GPU
 * (session_sleep) until the recording is wanted.
 *
 * An event that changes the decision returns when it is carried out, so that the calling thread's
 * next GPU work is recorded, or is not. When another thread carries it out, it waits for it, up to
 * TIMER_SESSION_CHANGE. The recording's notes say what began and ended each recording, and
 * which events could not be followed.
 *
 * Threading: any thread. With a delay or a duration there is one thread, dagtap-switch, from the
 * first use of a GPU until the time has passed. A fork child begins anew: its time and its
 * instances count from the fork, and a scope that its thread has open is its first instance.
 * Cost: one load while the switch is not armed; a lock for each event. */
#ifndef DAGTAP_CAPTURE_CAPTURE_SWITCH_H
#define DAGTAP_CAPTURE_CAPTURE_SWITCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/spooler.h"

/* Set before any event and not changed later. */
struct switch_state {
	_Atomic bool is_armed;	    /* some option is given */
	_Atomic bool takes_calls;   /* calls of the vendors' profilers start and stop */
	_Atomic bool watches_scope; /* instances of a scope start and stop */
};
extern struct switch_state switch_state;

static inline bool switch_is_armed(void)
{
	return atomic_load_explicit(&switch_state.is_armed, memory_order_relaxed);
}

static inline bool switch_takes_calls(void)
{
	return atomic_load_explicit(&switch_state.takes_calls, memory_order_relaxed);
}

/* Returns whether scopes are events. They are then kept open across recordings. */
static inline bool switch_watches_scope(void)
{
	return atomic_load_explicit(&switch_state.watches_scope, memory_order_relaxed);
}

/* Reads the options from the environment, and arms the switch if there are any; the second call
 * does nothing. Call after session_arm. */
void switch_configure(void);

/* The program's own calls (dagtap/session.h) start and stop the recording. WHO is the function's
 * name, a static text. switch_start returns whether the recording is on. */
bool switch_start(const char *who);
void switch_stop(const char *who);

/* As switch_start, but a start that cannot be carried out now is taken back, so that it does not
 * begin a recording later: at the end of the delay, or when a spool can be made again. A start
 * that was in force before stays. Not from a signal handler. */
bool switch_start_now(const char *who);

/* switch_start and switch_stop for calls of a vendor's profiler interface, which do nothing without
 * --wait. */
void switch_profiler_start(const char *who);
void switch_profiler_stop(const char *who);

/* Writes TEXT into the notes of the recording: of this one, or of the next one when none is on.
 * TEXT is static. The same text is written once in a recording, and of several texts for the next
 * one the last. */
void switch_note(const char *text);

/* What the switch has done, for those who ask from outside. */
struct switch_status {
	bool is_on;	   /* a recording is on */
	bool is_over;	   /* none will be on any more */
	uint64_t since_ns; /* CLOCK_REALTIME from which on is_on has been what it is */
	uint64_t recordings;
	uint64_t instances, selected; /* of the scope; see switch_policy.h */
	struct spooler_totals totals; /* of the recording that is on, or of the last one */
	char spool[64];		      /* name of its file; "": there was none yet */
};

/* Fills RET_STATUS for a moment at which no recording starts or stops. Returns false when that does
 * not come within TIMER_SESSION_CHANGE. */
bool switch_read_status(struct switch_status *ret_status);

/* ---- scopes; call only if switch_watches_scope ---- */

/* Returns whether TEXT, of BYTES bytes, is a scope that is an event: the name, alone or before the
 * "#" of XLA's attributes. */
bool switch_is_scope(const char *text, size_t bytes);

/* Such a scope begins or ends on the calling thread. Of nested ones the outermost counts. A scope
 * also ends with its thread. */
void switch_scope_begins(void);
void switch_scope_ends(void);

/* The same for a range with the id ID, which any thread may end. switch_range_ends does nothing for
 * an id that is not known. */
void switch_range_begins(uint64_t id);
void switch_range_ends(uint64_t id);

#endif
