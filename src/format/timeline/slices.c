/* Lays out slices on tracks on which they nest. */
#include "format/timeline/slices.h"

#include <errno.h>
#include <stdlib.h>

struct subtrack {
	int64_t *ends; /* ends of the open slices, outermost first */
	size_t depth;
	size_t room;
};

struct tracks {
	struct subtrack *tracks;
	uint32_t count;
	const struct slices_output *output;
};

static int compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Order: by group, begin, the longest first, index. */
static int compare_slices(const void *left, const void *right)
{
	const struct slice *a = left;
	const struct slice *b = right;
	int order;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	order = compare_times(a->begin_ns, b->begin_ns);
	if (order == 0)
		order = compare_times(b->end_ns, a->end_ns);
	if (order == 0)
		order = (a->index > b->index) - (a->index < b->index);
	return order;
}

static int64_t last_end(const struct slice *slice)
{
	return slice->end_ns < slice->begin_ns ? slice->begin_ns : slice->end_ns;
}

static void close_until(struct tracks *tracks, uint32_t group, uint32_t number, int64_t ns)
{
	struct subtrack *subtrack = &tracks->tracks[number];

	while (subtrack->depth > 0 && subtrack->ends[subtrack->depth - 1] <= ns) {
		subtrack->depth--;
		tracks->output->end(tracks->output->context, group, number,
				    subtrack->ends[subtrack->depth]);
	}
}

static void close_all(struct tracks *tracks, uint32_t group)
{
	for (uint32_t i = 0; i < tracks->count; i++)
		close_until(tracks, group, i, INT64_MAX);
}

static bool fits(const struct tracks *tracks, const struct subtrack *subtrack,
		 const struct slice *slice)
{
	if (subtrack->depth == 0)
		return true;
	return !tracks->output->flat && subtrack->ends[subtrack->depth - 1] >= last_end(slice);
}

static int add_track(struct tracks *tracks)
{
	struct subtrack *grown = realloc(tracks->tracks, (tracks->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	tracks->tracks = grown;
	tracks->tracks[tracks->count++] = (struct subtrack){0};
	return 0;
}

static int push(struct subtrack *subtrack, int64_t end_ns)
{
	if (subtrack->depth == subtrack->room) {
		size_t room = subtrack->room ? 2 * subtrack->room : 16;
		int64_t *ends = realloc(subtrack->ends, room * sizeof(*ends));

		if (!ends)
			return -ENOMEM;
		subtrack->ends = ends;
		subtrack->room = room;
	}
	subtrack->ends[subtrack->depth++] = end_ns;
	return 0;
}

static int put_slice(struct tracks *tracks, const struct slice *slice)
{
	uint32_t number = 0;

	for (; number < tracks->count; number++) {
		close_until(tracks, slice->group, number, slice->begin_ns);
		if (fits(tracks, &tracks->tracks[number], slice))
			break;
	}
	if (number == tracks->count && add_track(tracks) < 0)
		return -ENOMEM;
	if (push(&tracks->tracks[number], last_end(slice)) < 0)
		return -ENOMEM;
	tracks->output->begin(tracks->output->context, slice, number);
	return 0;
}

int slices_put(struct slice *slices, size_t count, const struct slices_output *output)
{
	struct tracks tracks = {.output = output};
	int err = 0;

	if (count > 0)
		qsort(slices, count, sizeof(*slices), compare_slices);
	for (size_t i = 0; i < count && !err; i++) {
		if (i > 0 && slices[i].group != slices[i - 1].group)
			close_all(&tracks, slices[i - 1].group);
		err = put_slice(&tracks, &slices[i]);
	}
	if (count > 0)
		close_all(&tracks, slices[count - 1].group);
	for (uint32_t i = 0; i < tracks.count; i++)
		free(tracks.tracks[i].ends);
	free(tracks.tracks);
	return err;
}
