/* Describes the durations of many groups (spread.h). */
#include "analyze/spread.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/distribution.h"
#include "base/table.h"

void spread_add(struct spread *spread, uint32_t group, struct tally *tally, int64_t ns)
{
	size_t count = spread->count + 1;

	tally_add(tally, ns);
	if (table_reserve((void **)&spread->groups, &spread->groups_room, count,
			  sizeof(*spread->groups)) < 0 ||
	    table_reserve((void **)&spread->values, &spread->values_room, count,
			  sizeof(*spread->values)) < 0) {
		spread->has_failed = true;
		return;
	}
	spread->groups[spread->count] = group;
	spread->values[spread->count] = ns;
	spread->count = count;
}

static struct tally *tally_at(struct tally *first, size_t row_bytes, uint32_t group)
{
	return (struct tally *)((char *)first + row_bytes * group);
}

/* Copies the durations to VALUES, group after group. Afterwards ENDS has, by group, the end of its
 * part. */
static void arrange(const struct spread *spread, int64_t *values, size_t *ends, uint32_t groups)
{
	size_t sum = 0;

	for (size_t i = 0; i < spread->count; i++)
		ends[spread->groups[i]]++;
	for (uint32_t group = 0; group < groups; group++) {
		size_t count = ends[group];

		ends[group] = sum;
		sum += count;
	}
	for (size_t i = 0; i < spread->count; i++)
		values[ends[spread->groups[i]]++] = spread->values[i];
}

int spread_finish(struct spread *spread, struct tally *first, size_t row_bytes, uint32_t groups)
{
	int64_t *values = table_alloc(spread->count, sizeof(*values));
	size_t *ends = table_zeroed(groups, sizeof(*ends));
	int err = spread->has_failed || !values || !ends ? -ENOMEM : 0;

	if (err == 0)
		arrange(spread, values, ends, groups);
	for (uint32_t group = 0; group < groups && err == 0; group++) {
		size_t begin = group ? ends[group - 1] : 0;
		struct tally *tally = tally_at(first, row_bytes, group);
		struct distribution made;

		distribution_make(values + begin, (uint32_t)(ends[group] - begin), &made);
		tally->median_ns = made.p50;
		tally->stddev_ns = made.stddev;
	}
	free(values);
	free(ends);
	free(spread->groups);
	free(spread->values);
	*spread = (struct spread){0};
	return err;
}
