/* Describes the durations of many groups (spread.h). */
#include "analyze/spread.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/distribution.h"
#include "base/table.h"
#include "base/workers.h"

bool spread_grow(struct spread *spread)
{
	if (table_reserve((void **)&spread->groups, &spread->groups_room, spread->count + 1,
			  sizeof(*spread->groups)) < 0 ||
	    table_reserve((void **)&spread->values, &spread->values_room, spread->count + 1,
			  sizeof(*spread->values)) < 0)
		spread->has_failed = true;
	return !spread->has_failed;
}

void spread_borrow(struct spread *spread, uint32_t *groups, int64_t *values, size_t count)
{
	*spread = (struct spread){
		.groups = groups,
		.values = values,
		.groups_room = count,
		.values_room = count,
		.is_borrowed = true,
	};
}

void spread_release(struct spread *spread)
{
	if (!spread->is_borrowed) {
		free(spread->groups);
		free(spread->values);
	}
	*spread = (struct spread){0};
}

static struct tally *tally_at(struct tally *first, size_t row_bytes, uint32_t group)
{
	return (struct tally *)((char *)first + row_bytes * group);
}

/* Pieces while their durations are put together. */
struct gathering {
	struct spread_piece *pieces;
	uint32_t piece_count;
	size_t **places; /* by piece, by its group: how many durations, then where the next goes */
	int64_t *values; /* group after group */
	size_t *ends;	 /* by group: the end of its values */
	struct tally *first;
	size_t row_bytes;
};

static int count_piece(void *gathering_of_pieces, unsigned worker, uint32_t number)
{
	const struct gathering *gathering = gathering_of_pieces;
	const struct spread_piece *piece = &gathering->pieces[number];
	size_t *counts = table_zeroed(piece->group_count, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < piece->spread.count; i++)
		counts[piece->spread.groups[i]]++;
	gathering->places[number] = counts;
	return 0;
}

static uint32_t group_of(const struct spread_piece *piece, uint32_t group)
{
	return piece->groups ? piece->groups[group] : group;
}

/* Finds where each piece writes its durations: within a group, in the order of the pieces. */
static void find_places(struct gathering *gathering, uint32_t groups)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < gathering->piece_count; i++) {
		for (uint32_t k = 0; k < gathering->pieces[i].group_count; k++)
			gathering->ends[group_of(&gathering->pieces[i], k)] +=
				gathering->places[i][k];
	}
	for (uint32_t group = 0; group < groups; group++) {
		size_t count = gathering->ends[group];

		gathering->ends[group] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < gathering->piece_count; i++) {
		for (uint32_t k = 0; k < gathering->pieces[i].group_count; k++) {
			size_t *end = &gathering->ends[group_of(&gathering->pieces[i], k)];
			size_t count = gathering->places[i][k];

			gathering->places[i][k] = *end;
			*end += count;
		}
	}
}

static int copy_piece(void *gathering_of_pieces, unsigned worker, uint32_t number)
{
	const struct gathering *gathering = gathering_of_pieces;
	struct spread_piece *piece = &gathering->pieces[number];
	size_t *places = gathering->places[number];

	for (size_t i = 0; i < piece->spread.count; i++)
		gathering->values[places[piece->spread.groups[i]]++] = piece->spread.values[i];
	spread_release(&piece->spread);
	return 0;
}

static int describe_group(void *gathering_of_pieces, unsigned worker, uint32_t group)
{
	const struct gathering *gathering = gathering_of_pieces;
	size_t begin = group ? gathering->ends[group - 1] : 0;
	struct tally *tally = tally_at(gathering->first, gathering->row_bytes, group);
	struct distribution made;

	distribution_make(gathering->values + begin, (uint32_t)(gathering->ends[group] - begin),
			  &made);
	tally->median_ns = made.p50;
	tally->stddev_ns = made.stddev;
	return 0;
}

static int gather(struct gathering *gathering, uint32_t groups)
{
	uint32_t count = gathering->piece_count;
	size_t durations = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++) {
		durations += gathering->pieces[i].spread.count;
		if (gathering->pieces[i].spread.has_failed)
			err = -ENOMEM;
	}
	gathering->places = calloc((size_t)count + 1, sizeof(*gathering->places));
	gathering->values = table_alloc(durations, sizeof(*gathering->values));
	gathering->ends = table_zeroed(groups, sizeof(*gathering->ends));
	if (!gathering->places || !gathering->values || !gathering->ends)
		err = -ENOMEM;
	if (err == 0)
		err = workers_run(WORKERS_ALL, count, count_piece, gathering);
	if (err == 0) {
		find_places(gathering, groups);
		workers_run(WORKERS_ALL, count, copy_piece, gathering);
		workers_run(WORKERS_ALL, groups, describe_group, gathering);
	}
	return err;
}

int spread_finish_pieces(struct spread_piece *pieces, uint32_t count, struct tally *first,
			 size_t row_bytes, uint32_t groups)
{
	struct gathering gathering = {
		.pieces = pieces,
		.piece_count = count,
		.first = first,
		.row_bytes = row_bytes,
	};
	int err = gather(&gathering, groups);

	for (uint32_t i = 0; i < count; i++) {
		if (gathering.places)
			free(gathering.places[i]);
		spread_release(&pieces[i].spread);
	}
	free(gathering.places);
	free(gathering.values);
	free(gathering.ends);
	return err;
}

int spread_finish(struct spread *spread, struct tally *first, size_t row_bytes, uint32_t groups)
{
	struct spread_piece piece = {.spread = *spread, .group_count = groups};

	*spread = (struct spread){0};
	return spread_finish_pieces(&piece, 1, first, row_bytes, groups);
}
