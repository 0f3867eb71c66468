/* The schedule: an order of the device's work that is drawn from a seed (configuration key
 * "schedule"). It tests programs: the order is the least favourable one that the rules of queues
 * and engines allow. Without a schedule, work runs in the order in which it is submitted, so a
 * program that omits a dependency mostly still computes the right result.
 *
 * A *party* is a thread that does work of the device: a queue's packet processor, a copy engine, or
 * the handler thread (an interrupt of a real device may be late, too). A *turn* is the permission
 * to do one piece of work: a kernel, the completion of a barrier packet, a copy, or a callback. A
 * party counts the pieces of work that it could do now, in any order, and waits for a turn. No turn
 * is given while the program is still submitting, so that all work that a missing dependency lets
 * run too early or too late is among the candidates. Then one turn at a time is given, until the
 * program acts again.
 *
 * The program is considered idle when one of its threads waits for a signal, when it says so
 * (softgpu_program_waits), or when it has called no function of this library for 20 ms, for
 * instance because it polls memory or sleeps. A callback needs only 1 ms without a call, because
 * HIP 5.2.3 polls for what its callbacks change. A turn that takes more than a second may be a
 * kernel that waits for another kernel; other parties get turns meanwhile. The same seed gives the
 * same order as long as none of these times matters and one thread of the program submits. Every
 * order is one that real hardware may choose.
 *
 * Threading: any thread may call these functions, but the functions with a party are called by the
 * party's thread only. The thread that starts it calls schedule_join, and schedule_leave if it
 * could not start. Cost while the schedule is off: callers check schedule_is_on, one load. */
#ifndef SOFTGPU_SCHEDULE_H
#define SOFTGPU_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* A party. Its owner zeroes it and keeps it in memory from schedule_join to schedule_leave. The
 * schedule's lock protects all fields but WORD. */
struct schedule_party {
	struct schedule_party *next;
	uint32_t ordinal;    /* number of parties that joined before this one */
	uint32_t candidates; /* pieces of work that the party could do; valid if is_waiting */
	uint32_t seen;	     /* the epoch when it counted them; valid if is_waiting */
	bool is_waiting;
	bool runs_callbacks; /* this is the handler thread; the owner sets it before it joins */
	bool has_turn;
	bool is_passed_over;   /* its turn takes long, and other parties get turns meanwhile */
	uint64_t turn_ns;      /* CLOCK_MONOTONIC when its turn began */
	_Atomic uint32_t word; /* futex that the party sleeps on; incremented at each wake-up */
};

/* Returns whether a schedule is configured. It does not change while the process runs. */
bool schedule_is_on(void);

/* Adds a party. Called before the party's thread starts; from then on no turn is given until the
 * party waits in schedule_wait. */
void schedule_join(struct schedule_party *party);
/* Removes a party, and ends its turn if it has one. */
void schedule_leave(struct schedule_party *party);

/* Waits for a turn. CANDIDATES is how many pieces of work the party could do now; SEEN is the value
 * of signal_epoch() from before they were counted. Returns the number of the candidate, from 0,
 * that the party must do now; the party must call schedule_turn_ends when it is done. Returns a
 * negative value when the party must count its candidates again. If there are candidates, or
 * MAY_CHANGE is true, this happens after at most 1 ms, because candidates may change without a
 * change of the epoch. */
int schedule_wait(struct schedule_party *party, uint32_t seen, uint32_t candidates,
		  bool may_change);
/* Ends the party's turn, after its piece of work is complete. */
void schedule_turn_ends(struct schedule_party *party);

/* Changes the epoch (signal_epoch.h) and wakes all threads that wait for it, and all parties, so
 * that they count their candidates again. Called after every change of a signal, when there is new
 * work, and when a party is to stop; also without a schedule. */
void schedule_bump_epoch(void);

/* Called before and after a change of what the parties may do: no turn is given between the two
 * calls. The pairs may nest. */
void schedule_pause(void);
void schedule_resume(void);

/* Notes that the program has submitted work or changed a signal. */
void schedule_host_acts(void);

/* Notes that the program waits for the device, until it acts: softgpu_program_waits. */
void schedule_host_polls(void);

/* A wait for a signal by a thread of the program. The struct belongs to that thread, which sets the
 * first four fields. */
struct schedule_host_wait {
	volatile int64_t *value; /* the signal's value; NULL: the thread waits for several */
	hsa_signal_condition_t condition;
	int64_t compare;
	bool is_limited; /* the wait has a time limit */
	bool is_ignored; /* set by the schedule: the program is not idle because of this wait */
	struct schedule_host_wait *next;
};

/* Called before and after the wait. One in eight of the waits with a time limit is ignored: it
 * counts as work of the thread and not as a wait, so that it runs out in vain. The repetition of an
 * ignored wait is not ignored again. */
void schedule_host_waits(struct schedule_host_wait *wait);
void schedule_host_waited(struct schedule_host_wait *wait);

#endif
