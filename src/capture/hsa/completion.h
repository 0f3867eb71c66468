/* Completion sources: how the tool sees that the device has finished a dispatch or copy, and when
 * it ran. Each source is one constant table of functions; a completion slot names its own. */
#ifndef CAPTURE_HSA_COMPLETION_H
#define CAPTURE_HSA_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/completion_slots.h"

/* The result of a use of a completion slot. */
struct completion {
	uint32_t untimed; /* enum record_untimed */
	uint64_t start;	  /* ticks of a dispatch, host ns of a copy; valid if not untimed */
	uint64_t end;
};

struct completion_source {
	const char *name;
	bool is_copy;
	/* The functions below access a signal of the application's, which the program may destroy.
	 * They may be called only by the collector while it announces the signal in `looks_at`, or
	 * by the thread that is about to change that signal. */
	bool is_watching;
	/* Called by the submitting thread: prepares SLOT, which is in PREPARING, for the
	 * application's signal WATCHED, or NULL. Returns false when the activity cannot be timed by
	 * this source. */
	bool (*begin)(struct slot *slot, struct object *watched);
	/* Returns whether the device is done, and then fills *RET_COMPLETION. Never waits. CERTAIN:
	 * the caller knows that the use of the signal is over, so its value is not asked; the
	 * harvest and read sources then answer by the ticks alone. */
	bool (*is_over)(struct slot *slot, bool certain, struct completion *ret_completion);
	/* Called once, by the thread that has claimed the slot: decrements the application's
	 * signal. NULL: the device decrements it. */
	void (*pass_on)(struct slot *slot, const struct completion *completion);
};

/* The slot's own signal, in memory only, for a dispatch that had no completion signal. */
extern const struct completion_source completion_own;

/* The application's signal stays in the packet. Its tick words are zeroed before the device gets
 * the packet, and read as soon as both are written. */
extern const struct completion_source completion_harvest;

/* The application's signal stays in the packet, and not even its tick words are changed: they are
 * read when both differ from what they were. */
extern const struct completion_source completion_read;

/* For a signal of the application's that is already in use: the packet gets the slot's own signal,
 * so that each packet has its own ticks, and the tool decrements the application's signal when the
 * device has decremented the slot's. */
extern const struct completion_source completion_borrow;

/* An asynchronous copy. The signal is always the application's; the runtime tells the times. */
extern const struct completion_source completion_copy;

/* Borrowed completions that were passed on, and how long they may have waited: the time since the
 * monitor last saw that the device was not done. */
struct completion_delays {
	uint64_t count;
	uint64_t p99_ns; /* 99th percentile, rounded up to a power of two */
	uint64_t most_ns;
};

/* Since the process began. Any thread. */
struct completion_delays completion_delays_get(void);

/* Called by the monitor before it looks at slots. NOW_NS: host clock. */
void completion_look_begins(uint64_t now_ns);

/* How many borrowed completions are still to be passed on. Any thread, one relaxed load. */
uint32_t completion_borrowed(void);

#endif
