/* The monitor thread: its loop, its pauses and its parking. */
#include "capture/hsa/hsa_monitor.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>

#include "capture/capture_session.h"
#include "capture/guest_thread.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/hsa_copies.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/queue_mode.h"

/* The pause while the program waits for the monitor, for completions to pass on or packets that are
 * held back; and the timer slack in modes in which it may wait. */
#define PAUSE_AWAITED_NS   20000
#define PAUSE_SLACK_NS	   10000
/* Otherwise the pause starts at the least one after something has ended, and doubles until it is
 * not less than the most: 1.6 ms. */
#define PAUSE_LEAST_NS	   100000
#define PAUSE_MOST_NS	   1000000
/* Idle looks before the monitor parks, some 30 ms: parking costs the next submitter a system
 * call. */
#define LOOKS_UNTIL_PARKED 20

static _Atomic bool is_stopping;

static bool has_work(void)
{
	struct slot_ring *copies = hsa_copies_ring();

	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (!slot_ring_is_empty(gate->slots) || gate_needs_monitor(gate) ||
		    slot_ring_needs_signals(gate->slots))
			return true;
	}
	return copies && !slot_ring_is_empty(copies);
}

/* Whether the program waits for the monitor now. */
static bool is_awaited(void)
{
	struct gate *gate = queue_mode_serialises() ? gate_newest() : NULL;

	while (gate && !atomic_load_explicit(&gate->has_unpublished, memory_order_relaxed))
		gate = gate->older;
	return gate || completion_borrowed();
}

/* One look at everything. Returns how many activities it has recorded. */
static uint32_t collect(void)
{
	struct slot_ring *copies = hsa_copies_ring();
	uint32_t recorded = copies ? slot_ring_collect(copies) : 0;

	completion_look_begins(session_now_ns());
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		recorded += slot_ring_collect(gate->slots);
		slot_ring_make_more(gate->slots);
	}
	/* After collecting: what has ended may let a packet pass that is held back. */
	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		gate_retry(gate);
	hsa_monitor_look_ends();
	return recorded;
}

void hsa_monitor_await_look(struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = PAUSE_AWAITED_NS};
	uint32_t before = hsa_monitor_looks();

	while (hsa_monitor_looks() - before < 2 && !atomic_load(&is_stopping) &&
	       !timer_is_over(limit)) {
		hsa_monitor_wake();
		nanosleep(&pause, NULL);
	}
}

/* Sleeps until another thread has something for the monitor. */
static void park(void)
{
	/* Sequentially consistent: pairs with hsa_monitor_wake. Another thread changes a ring's
	 * tail, a gate's has_unpublished, is_ahead or is_awaited, or is_stopping, and then loads
	 * this; this thread stores it and then loads those. So that thread wakes the monitor, or
	 * has_work sees the change. */
	atomic_store(&hsa_monitor_parked, 1);
	if (has_work() || atomic_load(&is_stopping)) {
		atomic_store(&hsa_monitor_parked, 0);
		return;
	}
	hsa_monitor_sleep();
}

static void watch(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_LEAST_NS};
	uint32_t idle = 0;

	hsa_monitor_set_tid(session_tid());
	/* As a batch thread the monitor takes no CPU away from a running thread when it wakes up.
	 * Not in modes in which the program waits for it: there it wakes up as exactly as
	 * possible. */
	if (queue_mode_needs_monitor())
		prctl(PR_SET_TIMERSLACK, PAUSE_SLACK_NS);
	else
		sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
	while (!atomic_load_explicit(&is_stopping, memory_order_relaxed)) {
		bool has_collected = collect() != 0;

		if (is_awaited())
			pause.tv_nsec = PAUSE_AWAITED_NS;
		else if (has_collected || pause.tv_nsec < PAUSE_LEAST_NS)
			pause.tv_nsec = PAUSE_LEAST_NS;
		else if (pause.tv_nsec < PAUSE_MOST_NS)
			pause.tv_nsec *= 2;
		idle = has_work() ? 0 : idle + 1;
		if (idle < LOOKS_UNTIL_PARKED) {
			nanosleep(&pause, NULL);
			continue;
		}
		park();
		idle = 0;
		pause.tv_nsec = PAUSE_LEAST_NS;
	}
}

static struct guest_thread monitor_thread = {.name = "dagtap-monitor", .body = watch};

int hsa_monitor_start(void)
{
	if (guest_thread_exists(&monitor_thread) && !atomic_load(&is_stopping))
		return 0;
	/* The last monitor may still be there: it was stuck in the runtime when it was stopped. */
	if (!guest_thread_await_end(&monitor_thread, timer_start(TIMER_THREAD_END)))
		return -EBUSY;
	atomic_store(&is_stopping, false);
	return guest_thread_start(&monitor_thread);
}

void hsa_monitor_stop(void)
{
	if (!guest_thread_exists(&monitor_thread))
		return;
	/* The store, and the load in hsa_monitor_wake, are sequentially consistent: see park. */
	atomic_store(&is_stopping, true);
	hsa_monitor_wake();
	if (guest_thread_await_end(&monitor_thread, timer_start(TIMER_THREAD_END)) &&
	    !session_is_ending())
		guest_thread_see_off(&monitor_thread, timer_start(TIMER_THREAD_END));
}

void hsa_monitor_forget(void)
{
	guest_thread_forget(&monitor_thread);
	hsa_monitor_set_tid(0);
	atomic_store_explicit(&hsa_monitor_parked, 0, memory_order_relaxed);
}
