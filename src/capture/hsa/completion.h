/* Completion sources: how it is seen that the device is done with a dispatch or copy, and when it
 * ran. Each is one constant table of functions; a slot names its own. */
#ifndef CAPTURE_HSA_COMPLETION_H
#define CAPTURE_HSA_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/slots.h"

struct completion {
	uint32_t untimed; /* enum record_untimed */
	uint64_t start;
	uint64_t end;
};

struct completion_source {
	const char *name;
	bool is_copy;
	/* Looks at a signal of the application's, which may be destroyed: for the monitor, or for
	 * the thread that is about to change that signal. */
	bool is_watching;
	/* Prepares SLOT, taken and not submitted, for the application's signal (NULL: none). False:
	 * it cannot be timed so. */
	bool (*begin)(struct slot *slot, struct object *watched);
	/* Whether the device is done. CERTAIN: it is known to be. */
	bool (*is_over)(struct slot *slot, bool certain, struct completion *ret_completion);
	/* Once, by who has claimed the slot: the application gets its completion. NULL: it has. */
	void (*pass_on)(struct slot *slot, const struct completion *completion);
};

/* The slot's own memory-only signal, for a dispatch that had none. */
extern const struct completion_source completion_own;
/* The application's signal stays in the packet. Its tick words are zeroed before the device gets
 * it, and read as soon as they are there. */
extern const struct completion_source completion_harvest;
/* The same, and not even the tick words are touched: new ones differ from the old. */
extern const struct completion_source completion_read;
/* For a signal of the application's that is in use already: the packet gets the slot's own, so that
 * each packet has its own ticks, and the application's is decremented when the device is done. */
extern const struct completion_source completion_borrow;
/* An async copy. Its signal is always the application's; its times are the runtime's to know. */
extern const struct completion_source completion_copy;

/* Completions that were passed on, and how long they may have waited for it: the time since the
 * device was last seen not to be done. Nearest power of two above, for the p99. */
struct completion_delays {
	uint64_t count;
	uint64_t p99_ns;
	uint64_t most_ns;
};
struct completion_delays completion_delays_get(void);
/* By the monitor, before it looks at slots. */
void completion_look_begins(uint64_t now_ns);
/* Completions that are to be passed on yet. */
uint32_t completion_lent(void);

#endif
