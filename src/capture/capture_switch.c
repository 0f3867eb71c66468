/* Options, events and the thread that keeps time; see capture_switch.h. */
#include "capture/capture_switch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/guest_thread.h"
#include "capture/log.h"
#include "capture/owner_lock.h"
#include "capture/process_recordings.h"
#include "capture/switch_arm.h"
#include "capture/switch_notes.h"
#include "capture/switch_policy.h"
#include "capture/switch_scopes.h"

#define LOOK_AGAIN_NS 10000000

struct switch_state switch_state;

static struct switch_options options;
static char scope_name[RECORD_CAPTURE_RANGE_BYTES]; /* text; "": none */
static const struct switch_parts *parts;

/* What the events change. */
static struct {
	struct owner_lock lock; /* over all of it */
	struct switch_policy policy;
	uint64_t decided_ns; /* for which time act has asked the policy last */
	uint64_t changed_ns; /* CLOCK_REALTIME at which the recording began or ended last */
	const char *call;    /* static: the last call that was an event */
	const char *end;     /* static: what the last event was that can end a recording */
	const char *text;    /* static: the last one of switch_note, or NULL */
	struct switch_failures failures; /* since the last note of them */
	bool keeps_time; /* the thread looks at the policy's time once more, at least */
} events;

/* Events that could not take events.lock: its holder is stopped, or is the thread that a signal
 * handler has interrupted. */
static _Atomic uint64_t lost;

/* The last call of a signal handler that has interrupted the holder of events.lock, which takes the
 * call in when it has released the lock. */
static struct {
	_Atomic(const char *) who; /* NULL: none */
	_Atomic bool is_start;
} deferred;

/* Held by the thread that carries the decision out, so that one start or stop follows the other. */
static struct owner_lock acting;
/* Bits: the decision has changed within the holder of `acting`, by a start or stop hook or by a
 * signal handler. The holder looks at it again. */
enum { LOOK_AGAIN = 1, LOOK_USES_GPU = 2 };
static _Atomic uint32_t look_again;

/* ---- the decision is carried out ---- */

static bool events_lock(void)
{
	if (owner_lock_take(&events.lock, timer_start(TIMER_SESSION_CHANGE)))
		return true;
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	return false;
}

/* A call starts or stops the recording. Call with events.lock. */
static void take_call(bool is_start, const char *who)
{
	if (is_start) {
		switch_policy_start(&events.policy);
		events.call = who;
	} else {
		switch_policy_stop(&events.policy);
		events.end = who;
	}
}

static void settle(bool uses_gpu);

static void events_unlock(void)
{
	const char *who;

	owner_lock_release(&events.lock);
	while ((who = atomic_exchange(&deferred.who, NULL)) && events_lock()) {
		bool is_start = atomic_load(&deferred.is_start);

		take_call(is_start, who);
		owner_lock_release(&events.lock);
		settle(is_start);
	}
}

/* Call with events.lock. */
static void describe_begin(char text[SWITCH_NOTE_BYTES])
{
	const struct switch_cause cause = {
		.policy = &events.policy,
		.scope = scope_name,
		.call = events.call,
		.is_delayed = options.delay_ns != 0,
	};

	switch_describe_begin(&cause, text);
}

/* Call with events.lock. The counts begin anew. */
static void describe_failures(char text[SWITCH_NOTE_BYTES])
{
	events.failures.events = atomic_exchange(&lost, 0);
	switch_describe_failures(&events.failures, text);
	events.failures = (struct switch_failures){0};
}

static void note(const char *text)
{
	if (text && *text)
		session_note(text);
}

/* NOW_NS: for which the recording was decided. A duration counts from then, so that it does not
 * depend on how long the start takes. */
static void note_begin(uint64_t now_ns)
{
	char begin[SWITCH_NOTE_BYTES], failures[SWITCH_NOTE_BYTES];
	const char *text;

	if (!events_lock())
		return;
	switch_policy_began(&events.policy, now_ns, session_current_number());
	events.changed_ns = clock_read_ns(CLOCK_REALTIME);
	describe_begin(begin);
	describe_failures(failures);
	text = events.text;
	events_unlock();
	note(begin);
	note(failures);
	note(text);
}

static void note_end(uint64_t now_ns)
{
	char text[SWITCH_NOTE_BYTES], failures[SWITCH_NOTE_BYTES];

	if (!events_lock())
		return;
	switch_describe_end(switch_policy_is_over(&events.policy, now_ns) ? NULL : events.end,
			    text);
	describe_failures(failures);
	events.changed_ns = clock_read_ns(CLOCK_REALTIME);
	events.text = NULL;
	events_unlock();
	note(text);
	note(failures);
}

/* Returns false when the recording cannot be started. */
static bool begin(uint64_t now_ns)
{
	if (session_start_again()) {
		note_begin(now_ns);
		return true;
	}
	log_line("capture range: the recording cannot start");
	if (events_lock()) {
		events.failures.starts++;
		events_unlock();
	}
	return false;
}

/* Starts or stops the recording if need be. Returns whether the decision must be looked at again.
 */
static bool act(void)
{
	uint64_t now_ns = session_now_ns();
	bool is_on = session_is_on(), is_wanted;

	if (!session_may_record() || session_is_ending() || !events_lock())
		return false;
	is_wanted = switch_policy_wants(&events.policy, now_ns);
	events.decided_ns = now_ns;
	events_unlock();
	if (is_wanted == is_on)
		return false;
	if (is_wanted)
		return begin(now_ns);
	note_end(now_ns);
	session_stop();
	return true;
}

/* ---- time ---- */

static void keep_time(void);

static struct guest_thread time_thread = {.name = "dagtap-switch", .body = keep_time};

/* When the decision must be looked at next; in the past when a change has not been seen yet. Call
 * with events.lock. */
static uint64_t due_ns(void)
{
	if (!session_may_record() || session_is_ending())
		return SWITCH_NEVER;
	return switch_policy_next_ns(&events.policy, events.decided_ns);
}

/* On the thread. Without a time to wait for the thread ends. When the lock's holder is stopped, the
 * thread looks again soon. */
static uint64_t next_ns(void)
{
	uint64_t ns;

	if (!events_lock())
		return session_may_record() && !session_is_ending()
			       ? session_now_ns() + LOOK_AGAIN_NS
			       : SWITCH_NEVER;
	ns = due_ns();
	events.keeps_time = ns != SWITCH_NEVER;
	events_unlock();
	return ns;
}

/* Without the thread, the next event tries again. */
static void tell_no_thread(void)
{
	if (events_lock()) {
		events.keeps_time = false;
		events_unlock();
	}
	switch_note("capture range: no thread for the delay or the duration");
}

/* Call with `acting`. Another thread is needed after the first one has ended when the recording
 * begins, which begins the duration. */
static void keep_time_if_needed(void)
{
	bool is_needed;

	if (!events_lock())
		return;
	is_needed = !events.keeps_time && due_ns() != SWITCH_NEVER;
	events.keeps_time |= is_needed;
	events_unlock();
	if (is_needed && (!guest_thread_await_end(&time_thread, timer_start(TIMER_THREAD_END)) ||
			  guest_thread_start(&time_thread)))
		tell_no_thread();
}

/* ---- after each event ---- */

/* Call with `acting`. */
static void follow(bool uses_gpu)
{
	if (!uses_gpu && atomic_load(&session_state) == SESSION_IDLE)
		return;
	while (act())
		;
	session_sleep();
	keep_time_if_needed();
	parts->settled();
}

/* Makes the recording as it is wanted now. USES_GPU: also before the first use of a GPU. */
static void settle(bool uses_gpu)
{
	uint32_t look = LOOK_AGAIN | (uses_gpu ? LOOK_USES_GPU : 0);

	do {
		if (!owner_lock_take(&acting, timer_start(TIMER_SESSION_CHANGE))) {
			/* The caller is a start or stop hook, or a signal handler that has
			 * interrupted this thread here. At the limit the thread that acts is about
			 * to look at the decision again. */
			if (owner_lock_is_mine(&acting))
				atomic_fetch_or(&look_again, look);
			return;
		}
		follow(look & LOOK_USES_GPU);
		owner_lock_release(&acting);
		look = atomic_exchange(&look_again, 0);
	} while (look);
}

static void keep_time(void)
{
	for (uint64_t ns; (ns = next_ns()) != SWITCH_NEVER; settle(false)) {
		while (session_now_ns() < ns && !session_is_ending()) {
			struct timespec wake = clock_timespec(clock_wake_ns(ns));

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
		}
	}
}

/* ---- fork ---- */

static void begin_anew(void)
{
	/* The parent's, if the session has not set it back before its first start. */
	session_thread_tid = 0;
	owner_lock_forget(&events.lock);
	owner_lock_forget(&acting);
	atomic_store(&deferred.who, NULL);
	atomic_store(&look_again, 0);
	guest_thread_forget(&time_thread);
	events.call = events.text = NULL;
	events.failures = (struct switch_failures){0};
	events.keeps_time = false;
	switch_policy_init(&events.policy, &options, session_now_ns());
	events.decided_ns = 0;
	events.changed_ns = clock_read_ns(CLOCK_REALTIME);
	parts->forget_parent();
}

/* ---- the session's questions ---- */

static bool gpu_used(void)
{
	settle(true);
	return session_is_on();
}

static void thread_ended(void)
{
	parts->thread_ended();
}

void switch_arm(const struct switch_options *wanted, const char *scope,
		const struct switch_parts *with)
{
	static struct session_switch armed = {.gpu_used = gpu_used, .thread_ended = thread_ended};

	options = *wanted;
	strcpy(scope_name, scope);
	parts = with;
	armed.keeps_scopes = options.counts_scope;
	switch_policy_init(&events.policy, &options, session_now_ns());
	events.changed_ns = clock_read_ns(CLOCK_REALTIME);
	pthread_atfork(NULL, NULL, begin_anew);
	atomic_store(&switch_state.takes_calls, options.takes_calls);
	atomic_store(&switch_state.watches_scope, options.counts_scope);
	atomic_store(&switch_state.is_armed, true);
	session_take_switch(&armed);
}

/* ---- events ---- */

static void tell_call(bool is_start, const char *who)
{
	if (owner_lock_is_mine(&events.lock)) {
		atomic_store(&deferred.is_start, is_start);
		atomic_store(&deferred.who, who);
	} else if (events_lock()) {
		take_call(is_start, who);
		events_unlock();
	}
	settle(is_start);
}

bool switch_start(const char *who)
{
	tell_call(true, who);
	return session_is_on();
}

bool switch_start_now(const char *who)
{
	uint64_t number;
	bool was_started;

	if (!events_lock())
		return session_is_on();
	was_started = events.policy.is_started;
	take_call(true, who);
	number = events.policy.starts;
	events_unlock();
	settle(true);
	if (session_is_on() || was_started || !events_lock())
		return session_is_on();
	switch_policy_withdraw(&events.policy, number);
	events.end = who;
	events_unlock();
	/* It may have begun meanwhile. */
	settle(false);
	return session_is_on();
}

void switch_stop(const char *who)
{
	tell_call(false, who);
}

void switch_profiler_start(const char *who)
{
	if (switch_takes_calls())
		switch_start(who);
}

void switch_profiler_stop(const char *who)
{
	if (switch_takes_calls())
		switch_stop(who);
}

void switch_note(const char *text)
{
	bool is_on = session_is_on(), is_new;

	if (!events_lock())
		return;
	is_new = events.text != text;
	events.text = text;
	events_unlock();
	if (is_on && is_new)
		session_note(text);
}

/* Call with `acting`: the recording's spooler is not released meanwhile. */
static void describe_recording(struct switch_status *status)
{
	const struct spooler *spooler = recording_spooler();
	const char *slash;

	status->is_on = session_is_on();
	status->recordings = session_current_number();
	if (!spooler)
		return;
	slash = strrchr(spooler_path(spooler), '/');
	snprintf(status->spool, sizeof(status->spool), "%s", slash ? slash + 1 : "");
	status->totals = spooler_read_totals(spooler);
}

bool switch_read_status(struct switch_status *ret_status)
{
	struct switch_status status = {0};
	uint32_t look;

	if (!owner_lock_take(&acting, timer_start(TIMER_SESSION_CHANGE)))
		return false;
	describe_recording(&status);
	owner_lock_release(&acting);
	look = atomic_exchange(&look_again, 0);
	if (look)
		settle(look & LOOK_USES_GPU);
	if (!events_lock())
		return false;
	status.since_ns = events.changed_ns;
	status.instances = events.policy.instances;
	status.selected = events.policy.selected;
	status.is_over =
		!session_may_record() || switch_policy_is_over(&events.policy, session_now_ns());
	events_unlock();
	*ret_status = status;
	return true;
}

/* ---- instances of the scope: switch_scopes.h ---- */

bool switch_take_events(struct switch_events *ret_events)
{
	*ret_events = (struct switch_events){&events.policy, &events.call, &events.end};
	return events_lock();
}

void switch_give_events(void)
{
	events_unlock();
}

void switch_instance_ends(struct switch_instance instance)
{
	if (!events_lock())
		return;
	switch_policy_leave(&events.policy, instance);
	events.end = "the end of the scope's instance";
	events_unlock();
}

void switch_count_unfollowed(void)
{
	if (!events_lock())
		return;
	events.failures.ranges++;
	events_unlock();
}

void switch_settle(void)
{
	settle(false);
}

const char *switch_scope_name(void)
{
	return scope_name;
}
