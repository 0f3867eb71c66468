/* An order of the device's work that is drawn from a seed (configuration key "schedule"), as unkind
 * as the rules of queues and engines allow. Without it work runs as it comes, and who forgot a
 * dependency is mostly lucky.
 *
 * A *party* is a thread that does the device's work: a queue's packet processor, a copy engine, or
 * the one that runs callbacks, for interrupts may be late, too. A *turn* is one piece of work: a
 * kernel, the completion of a barrier, a copy, a callback. A party says how many pieces it could do
 * now, in any order, and waits. Nobody has a turn while the program is still submitting, so
 * everything that a missing dependency lets come too early or too late is there to choose from.
 * Then one turn is given at a time, until the program acts again.
 *
 * The program is taken to be at a standstill when one of its threads waits for a signal, or when it
 * has called nothing of this library's for 20 ms: it polls, or sleeps elsewhere. A callback waits
 * for a millisecond of it only, for HIP 5.2.3 polls what its callbacks change. A turn of more
 * than a second may be a kernel that waits for another one: others have theirs meanwhile. Where
 * neither of these times counts and one thread of the program submits, a seed is an order. Any
 * order is one that the hardware may take.
 *
 * Threading: any thread, except that a party's calls come from its own. Cost when it is off: the
 * callers look at schedule_is_on, one load. */
#ifndef SOFTGPU_SCHEDULE_H
#define SOFTGPU_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* Zeroed by its owner, in whose memory it lies from join to leave. */
struct schedule_party {
	struct schedule_party *next;
	uint32_t ordinal;    /* the how many-th that joined */
	uint32_t candidates; /* pieces of work that it could do */
	uint32_t seen;	     /* the epoch at which it counted them */
	bool is_waiting;     /* the two above hold */
	bool runs_callbacks; /* set before it joins */
	bool has_turn;
	bool is_passed_over; /* its turn takes long; others have theirs meanwhile */
	uint64_t turn_ns;    /* since when */
	_Atomic uint32_t word;
};

bool schedule_is_on(void);

/* Called before the party's thread starts: from then on no turn is given before it waits. */
void schedule_join(struct schedule_party *party);
void schedule_leave(struct schedule_party *party);

/* SEEN: signal_epoch() from before CANDIDATES were counted. Returns the number of the candidate,
 * from 0, that is to be done now; schedule_turn_ends must follow. Negative: count again. With
 * MAY_CHANGE this is so after a millisecond at most, for a change that nobody is told of. */
int schedule_wait(struct schedule_party *party, uint32_t seen, uint32_t candidates,
		  bool may_change);
void schedule_turn_ends(struct schedule_party *party);

/* The epoch has moved, or a party is to stop: all count again. */
void schedule_wake_all(void);

/* Between these no turn is given: what the parties may do is changing. */
void schedule_pause(void);
void schedule_resume(void);

/* The program has submitted or changed something. */
void schedule_host_acts(void);
/* Between these, a thread of the program waits for a signal, which lies at VALUE (NULL: one of
 * several). Of the waits that are limited in time one in eight is taken for work of the thread's,
 * and so runs out in vain, but not again when it is repeated. The struct is the thread's own, which
 * fills the first four. */
struct schedule_host_wait {
	volatile int64_t *value;
	hsa_signal_condition_t condition;
	int64_t compare;
	bool is_limited;
	bool is_ignored;
	struct schedule_host_wait *next;
};
void schedule_host_waits(struct schedule_host_wait *wait);
void schedule_host_waited(struct schedule_host_wait *wait);

#endif
