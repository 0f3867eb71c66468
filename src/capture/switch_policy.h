/* Decides whether the recording of a process is to be on, from the options of `dagtap record` and
 * from events: calls that start and stop it, instances of a scope that begin and end, and time.
 * It holds no lock, reads no clock and starts nothing; capture_switch.h does these.
 *
 * The decision is a level, not a sequence of commands: switch_policy_wants gives it for any moment
 * after the events so far. The recording is wanted while
 * - the delay has passed since the process began, and
 * - the duration has not passed since the recording first began, and
 * - a call has started it, or a selected instance of the scope is open. With neither is_waiting nor
 *   has_scope it counts as started by a call from the begin.
 * A window of instances starts it as a call does when its first instance begins, and stops it when
 * the first one after its last begins. If another call has started it
 * before, the window is over at once and stops nothing.
 *
 * Threading: one thread at a time uses a policy; the caller locks. */
#ifndef DAGTAP_CAPTURE_SWITCH_POLICY_H
#define DAGTAP_CAPTURE_SWITCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_NEVER UINT64_MAX

struct switch_options {
	bool is_waiting;      /* only calls start the recording */
	bool takes_calls;     /* calls of vendors' profilers count; the caller leaves them out */
	bool has_scope;	      /* instances of a scope start it, too */
	bool counts_scope;    /* they are counted, for windows; true with has_scope */
	uint64_t delay_ns;    /* nothing is recorded before */
	uint64_t duration_ns; /* 0: no limit */
	uint64_t skip;	      /* so many instances are not selected */
	uint64_t count;	      /* so many instances after them are selected; 0: all */
};

enum switch_window_state {
	SWITCH_WINDOW_NONE,
	SWITCH_WINDOW_AHEAD,
	SWITCH_WINDOW_OPEN,
	SWITCH_WINDOW_OVER,
};

/* Instances, numbered from 0 in the order in which they begin. */
struct switch_window {
	enum switch_window_state state;
	uint64_t first, count;
	uint32_t recording; /* number of the one that began with it; 0: none has */
};

struct switch_policy {
	struct switch_options options;
	uint64_t begin_ns;    /* when the process began */
	uint64_t recorded_ns; /* when the recording first began; 0: not yet */
	bool is_started;      /* by a call */
	uint64_t starts;      /* calls that started the recording */
	uint64_t instances;   /* that began so far */
	uint64_t selected;    /* of these */
	uint64_t open;	      /* selected instances that are open, since the last stop by a call */
	uint32_t stops;	      /* calls that stopped the recording */
	struct switch_window window;
};

/* An instance that has begun: what switch_policy_leave needs of it. All zero: not selected. */
struct switch_instance {
	uint32_t stops; /* 1 + the policy's stops when it began */
};

/* Begins at NOW_NS, with no event. */
void switch_policy_init(struct switch_policy *policy, const struct switch_options *options,
			uint64_t now_ns);

/* Returns whether the recording is to be on at NOW_NS. */
bool switch_policy_wants(const struct switch_policy *policy, uint64_t now_ns);

/* Returns the next moment after NOW_NS at which switch_policy_wants may change without an event;
 * SWITCH_NEVER: none. */
uint64_t switch_policy_next_ns(const struct switch_policy *policy, uint64_t now_ns);

/* Returns whether no event can make the recording wanted any more. */
bool switch_policy_is_over(const struct switch_policy *policy, uint64_t now_ns);

/* A call starts the recording. Such calls do not nest: the next stop ends all. */
void switch_policy_start(struct switch_policy *policy);

/* Takes back the start after which the policy's `starts` was NUMBER. Does nothing if another call
 * has started or stopped the recording since. The instances that are open still count. */
void switch_policy_withdraw(struct switch_policy *policy, uint64_t number);

/* A call stops the recording. The instances that are open no longer count. */
void switch_policy_stop(struct switch_policy *policy);

/* Asks for a window of COUNT instances, at least 1, in the place of an earlier one that is not
 * open: from the instance FIRST on, or, if that has begun, from the next one whose number is a
 * multiple of ROUND_UP, at least 1. */
void switch_policy_ask_window(struct switch_policy *policy, uint64_t first, uint64_t round_up,
			      uint64_t count);

/* An instance of the scope begins; the caller leaves out those that are inside another one. */
struct switch_instance switch_policy_enter(struct switch_policy *policy);

/* The instance ends. Does nothing for one that was not selected, or that a call has stopped. */
void switch_policy_leave(struct switch_policy *policy, struct switch_instance instance);

/* The RECORDING with this number is on since NOW_NS. The first such time begins the duration. */
void switch_policy_began(struct switch_policy *policy, uint64_t now_ns, uint32_t recording);

#endif
