/* The table of doors and their thread; see doors.h. */
#include "capture/doors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/control_door.h"
#include "capture/dynolog_door.h"
#include "capture/guest_thread.h"
#include "capture/log.h"

static const struct door *const doors[] = {&control_door, &dynolog_door};
#define DOOR_COUNT    (sizeof(doors) / sizeof(*doors))
#define POLL_PAUSE_NS 100000000

static struct {
	bool wanted[DOOR_COUNT]; /* constant after doors_configure */
	bool open[DOOR_COUNT];	 /* set before the thread starts */
	_Atomic bool were_opened;
} state;

bool doors_configure(void)
{
	bool any = false;

	for (size_t i = 0; i < DOOR_COUNT; i++) {
		state.wanted[i] = doors[i]->is_wanted();
		any |= state.wanted[i];
	}
	return any;
}

/* ---- the thread ---- */

/* What the doors wait for; the same order in both loops below. */
struct watch {
	struct pollfd ends[DOOR_COUNT * DOOR_ENDS_MOST];
	uint32_t counts[DOOR_COUNT];
	uint32_t count;
	uint64_t due_ns;
};

static void list(struct watch *watch)
{
	watch->count = 0;
	watch->due_ns = DOORS_NEVER;
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		uint64_t due_ns;

		if (!state.open[i])
			continue;
		watch->counts[i] = doors[i]->list(watch->ends + watch->count);
		watch->count += watch->counts[i];
		due_ns = doors[i]->due_ns();
		if (due_ns < watch->due_ns)
			watch->due_ns = due_ns;
	}
}

static int milliseconds_until(uint64_t due_ns)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), wake_ns, ms;

	if (due_ns == DOORS_NEVER)
		return -1;
	if (due_ns <= clock_now_ns())
		return 0;
	wake_ns = clock_wake_ns(due_ns);
	ms = wake_ns > now_ns ? (wake_ns - now_ns + 999999) / 1000000 : 0;
	return ms < 60000 ? (int)ms : 60000;
}

static void serve(const struct watch *watch)
{
	const struct pollfd *ends = watch->ends;

	for (size_t i = 0; i < DOOR_COUNT; i++) {
		if (!state.open[i])
			continue;
		doors[i]->serve(ends, watch->counts[i]);
		ends += watch->counts[i];
	}
}

/* Without a limit: the thread ends with the process. */
static void keep_doors(void)
{
	/* poll fails when the program has set a lower limit of descriptors, or without memory. */
	const struct timespec pause = {.tv_nsec = POLL_PAUSE_NS};
	struct watch watch;

	for (;;) {
		list(&watch);
		if (poll(watch.ends, watch.count, milliseconds_until(watch.due_ns)) >= 0)
			serve(&watch);
		else if (errno != EINTR)
			nanosleep(&pause, NULL);
	}
}

static struct guest_thread door_thread = {.name = "dagtap-doors", .body = keep_doors};

/* ---- open, fork, end ---- */

void doors_open(void)
{
	bool any = false;

	if (atomic_exchange(&state.were_opened, true))
		return;
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		int err = state.wanted[i] ? doors[i]->open() : 0;

		state.open[i] = state.wanted[i] && !err;
		any |= state.open[i];
		if (err)
			log_line("%s cannot be opened: %s", doors[i]->name, strerrordesc_np(-err));
		if (err)
			switch_note("capture range: a door cannot be opened: the recording is not "
				    "controlled from outside");
	}
	if (any && guest_thread_start(&door_thread)) {
		doors_close();
		switch_note("capture range: no thread for the doors");
	}
}

void doors_forget_parent(void)
{
	guest_thread_forget(&door_thread);
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		if (state.open[i])
			doors[i]->forget_parent();
		state.open[i] = false;
	}
	atomic_store(&state.were_opened, false);
}

void doors_close(void)
{
	for (size_t i = 0; i < DOOR_COUNT; i++)
		if (state.open[i])
			doors[i]->close();
}
