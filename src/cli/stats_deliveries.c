/* What a process launched beside what came, for its statistics: see stats_deliveries.h. */
#include "cli/stats_deliveries.h"

/* Records of activities that were lost or dropped. LOST counts what is not read yet while the
 * process writes. */
static uint64_t count_not_read(const struct live_counts *counts, bool is_over)
{
	static const enum record_class classes[] = {RECORD_CLASS_DISPATCH, RECORD_CLASS_COPY};
	uint64_t sum = counts->cuda_dropped;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		sum += counts->ring.dropped[classes[i]] +
		       (is_over ? counts->ring.lost[classes[i]] : 0);
	return sum;
}

/* CUPTI and the ring do not say which activities they dropped, so what did not come is first put
 * down to these. */
struct stat_deliveries stats_deliveries_of(const struct live *live,
					   const struct live_counts *counts, bool is_over)
{
	uint64_t not_read = count_not_read(counts, is_over), left;
	struct deliveries found;

	live_compare(live, is_over, &found);
	if (found.absent < not_read)
		not_read = found.absent;
	left = found.absent - not_read;
	if (found.unended > left)
		found.unended = left;
	return (struct stat_deliveries){
		.is_known = found.is_known,
		.graph_launches = found.graph_launches,
		.kernel_launches = found.kernel_launches,
		.launched_kernels = found.launched[DELIVERY_KERNELS],
		.launched_copies = found.launched[DELIVERY_COPIES],
		.launched_memsets = found.launched[DELIVERY_MEMSETS],
		.delivered_kernels = found.delivered[DELIVERY_KERNELS],
		.delivered_copies = found.delivered[DELIVERY_COPIES],
		.delivered_memsets = found.delivered[DELIVERY_MEMSETS],
		.not_read = not_read,
		.pending = found.unended,
		.missing = left - found.unended,
		.uncompared_launches = found.uncompared_launches,
		.uncompared_activities = found.uncompared_activities,
	};
}
