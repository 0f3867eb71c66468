/* Sums of the writers' counters while the spool is written. */
#include "record/spooler_state.h"

static void add_counts(const struct spool_counts *counts, struct spooler_totals *totals)
{
	for (int class = 0; class < SPOOL_CLASS_COUNT; class ++) {
		uint64_t attempted = 0, dropped = 0;

		for (int cause = 0; cause < SPOOL_CAUSE_COUNT; cause++) {
			uint64_t count = atomic_load_explicit(&counts->dropped[class][cause],
							      memory_order_relaxed);

			dropped += count;
			if (cause == RECORD_DROP_RING)
				totals->overwritten += count;
			else
				totals->lost += count;
		}
		/* Read last: a record is counted as attempted before it is dropped. */
		attempted = atomic_load_explicit(&counts->attempted[class], memory_order_relaxed);
		totals->stored += attempted > dropped ? attempted - dropped : 0;
	}
}

struct spooler_totals spooler_read_totals(const struct spooler *spooler)
{
	const struct spool_live *live = &spooler->header->live;
	uint64_t used = atomic_load_explicit(&live->writers_used, memory_order_acquire);
	struct spooler_totals totals = {0};

	add_counts(&live->counts, &totals);
	for (uint64_t i = 0; i < used && i < SPOOL_WRITER_COUNT; i++)
		add_counts(&spooler->counters[i].counts, &totals);
	return totals;
}
