/* Describes the durations of many groups (spread.h). */
#include "analyze/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/distribution.h"
#include "base/table.h"
#include "base/workers.h"

static bool make_room(struct spread *spread, size_t more)
{
	if (table_reserve((void **)&spread->groups, &spread->groups_room, spread->count + more,
			  sizeof(*spread->groups)) < 0 ||
	    table_reserve((void **)&spread->values, &spread->values_room, spread->count + more,
			  sizeof(*spread->values)) < 0)
		spread->has_failed = true;
	return !spread->has_failed;
}

void spread_add(struct spread *spread, uint32_t group, struct tally *tally, int64_t ns)
{
	tally_add(tally, ns);
	if (!make_room(spread, 1))
		return;
	spread->groups[spread->count] = group;
	spread->values[spread->count] = ns;
	spread->count++;
}

void spread_append(struct spread *spread, const struct spread *from, const uint32_t *groups)
{
	spread->has_failed |= from->has_failed;
	if (from->count == 0 || !make_room(spread, from->count))
		return;
	for (size_t i = 0; i < from->count; i++)
		spread->groups[spread->count + i] = groups[from->groups[i]];
	memcpy(spread->values + spread->count, from->values, from->count * sizeof(*from->values));
	spread->count += from->count;
}

void spread_release(struct spread *spread)
{
	free(spread->groups);
	free(spread->values);
	*spread = (struct spread){0};
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

/* The groups of a spread while they are described. */
struct description {
	int64_t *values; /* group after group */
	size_t *ends;	 /* by group */
	struct tally *first;
	size_t row_bytes;
};

static int describe_group(void *description_of_spread, unsigned worker, uint32_t group)
{
	const struct description *description = description_of_spread;
	size_t begin = group ? description->ends[group - 1] : 0;
	struct tally *tally = tally_at(description->first, description->row_bytes, group);
	struct distribution made;

	distribution_make(description->values + begin, (uint32_t)(description->ends[group] - begin),
			  &made);
	tally->median_ns = made.p50;
	tally->stddev_ns = made.stddev;
	return 0;
}

int spread_finish(struct spread *spread, struct tally *first, size_t row_bytes, uint32_t groups)
{
	struct description description = {
		.values = table_alloc(spread->count, sizeof(*description.values)),
		.ends = table_zeroed(groups, sizeof(*description.ends)),
		.first = first,
		.row_bytes = row_bytes,
	};
	int err = spread->has_failed || !description.values || !description.ends ? -ENOMEM : 0;

	if (err == 0) {
		arrange(spread, description.values, description.ends, groups);
		workers_run(WORKERS_ALL, groups, describe_group, &description);
	}
	free(description.values);
	free(description.ends);
	spread_release(spread);
	return err;
}
