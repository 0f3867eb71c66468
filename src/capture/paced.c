/* Writes many records without outrunning the housekeeper; see paced.h. */
#include "capture/paced.h"

#include <stdbool.h>
#include <time.h>

#include "capture/capture_session.h"
#include "record/spooler.h"

/* Waits until CHUNKS_WANTED chunks are ready. */
enum { RECORDS_BETWEEN_LOOKS = 128, CHUNKS_WANTED = 8, PAUSE_NS = 200000 };

static bool is_short_of_room(void)
{
	struct writer *writer = session_writer();
	const struct spool_live *live;

	/* Between two sessions records are not kept, so do not wait. */
	if (!writer || !writer->spooler || !session_is_on())
		return false;
	live = spooler_live(writer->spooler);
	return atomic_load_explicit(&live->chunks_taken, memory_order_relaxed) + CHUNKS_WANTED >
	       atomic_load_explicit(&live->chunks_ready, memory_order_relaxed);
}

static void await_room(struct pace *pace)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	while (is_short_of_room()) {
		if (!pace->limit.end_ns)
			pace->limit = timer_start(TIMER_PACE);
		if (timer_is_over(pace->limit))
			return;
		nanosleep(&pause, NULL);
	}
}

void paced_put(struct pace *pace, enum record_type type, uint32_t tag, const void *record,
	       size_t bytes)
{
	if (pace->records++ % RECORDS_BETWEEN_LOOKS == 0)
		await_room(pace);
	writer_put(session_writer(), type, tag, record, bytes);
}
