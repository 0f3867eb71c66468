/* The RANKS section as text and back (ranks.h). */
#include "trace/pack/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "trace/pack/meta_text.h"

int ranks_add_file(struct ranks *ranks, const char *name, uint32_t clock, uint32_t section_count)
{
	struct rank_file *file =
		table_add((void **)&ranks->files, &ranks->file_count, sizeof(*file));

	if (!file)
		return -ENOMEM;
	*file = (struct rank_file){strdup(name), clock, section_count};
	return file->name ? 0 : -ENOMEM;
}

int ranks_add_note(struct ranks *ranks, const char *text)
{
	char **note = table_add((void **)&ranks->notes, &ranks->note_count, sizeof(*note));

	if (!note)
		return -ENOMEM;
	*note = strdup(text);
	return *note ? 0 : -ENOMEM;
}

void ranks_release(struct ranks *ranks)
{
	for (uint32_t i = 0; i < ranks->file_count; i++)
		free(ranks->files[i].name);
	for (uint32_t i = 0; i < ranks->note_count; i++)
		free(ranks->notes[i]);
	free(ranks->clocks);
	free(ranks->files);
	free(ranks->notes);
	*ranks = (struct ranks){0};
}

/* ---- writing ---- */

static void put_clock(FILE *out, const struct rank_clock *clock)
{
	fprintf(out, "clock %d %" PRId64 " %" PRId64 " %" PRId64, (int)clock->source,
		clock->base_ns, clock->offset_ns, clock->drift);
	fprintf(out, " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64, clock->first_ns,
		clock->last_ns, clock->spread, clock->matched, clock->uneven_ns);
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++)
		fprintf(out, " %" PRIu64, clock->uncertainty_ns[i]);
	fputc('\n', out);
}

static void put_joints(FILE *out, uint32_t number, const struct rank_clock *clock)
{
	if (clock->joint_count == 0)
		return;
	fprintf(out, "joints %" PRIu32, number);
	for (uint32_t i = 0; i < clock->joint_count; i++)
		fprintf(out, " %" PRId64 " %" PRId64 " %" PRIu64, clock->joints[i].host_ns,
			clock->joints[i].offset_ns, clock->joints[i].uncertainty_ns);
	fputc('\n', out);
}

int ranks_write(const struct ranks *ranks, char **ret_text, size_t *ret_bytes)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	fprintf(out, "wall %" PRId64 "\n", ranks->wall_ns);
	for (uint32_t i = 0; i < ranks->clock_count; i++)
		put_clock(out, &ranks->clocks[i]);
	for (uint32_t i = 0; i < ranks->clock_count; i++)
		put_joints(out, i, &ranks->clocks[i]);
	for (uint32_t i = 0; i < ranks->file_count; i++) {
		const struct rank_file *file = &ranks->files[i];

		fprintf(out, "file %" PRIu32 " %" PRIu32, file->clock, file->section_count);
		meta_text_put(out, "", file->name);
	}
	for (uint32_t i = 0; i < ranks->note_count; i++)
		meta_text_put(out, "note", ranks->notes[i]);
	if (fclose(out) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	*ret_bytes = bytes;
	return 0;
}

/* ---- reading ---- */

/* Reads the next number of a line. False: there is none. */
static bool take_i64(const char **line, int64_t *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoll(*line, &end, 10);
	if (end == *line || errno)
		return false;
	*line = end;
	return true;
}

/* The same for one from 0 to INT64_MAX. */
static bool take_u64(const char **line, uint64_t *ret_value)
{
	int64_t value;

	if (!take_i64(line, &value) || value < 0)
		return false;
	*ret_value = (uint64_t)value;
	return true;
}

static bool take_u32(const char **line, uint32_t *ret_value)
{
	uint64_t value;

	if (!take_u64(line, &value) || value >= UINT32_MAX)
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

static int read_clock(struct ranks *ranks, const char *line)
{
	struct rank_clock clock = {0}, *row;
	uint32_t source;
	bool ok = take_u32(&line, &source) && take_i64(&line, &clock.base_ns) &&
		  take_i64(&line, &clock.offset_ns) && take_i64(&line, &clock.drift) &&
		  take_i64(&line, &clock.first_ns) && take_i64(&line, &clock.last_ns) &&
		  take_u64(&line, &clock.spread) && take_u64(&line, &clock.matched) &&
		  take_u64(&line, &clock.uneven_ns);

	for (int i = 0; i < RANK_CLOCK_KNOTS && ok; i++)
		ok = take_u64(&line, &clock.uncertainty_ns[i]);
	if (!ok || source > RANK_CLOCK_WALL)
		return -EINVAL;
	clock.source = (enum rank_clock_source)source;
	if (!rank_clock_is_possible(&clock))
		return -EINVAL;
	row = table_add((void **)&ranks->clocks, &ranks->clock_count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = clock;
	return 0;
}

static int read_joints(struct ranks *ranks, const char *line)
{
	struct rank_clock *clock;
	uint32_t number;

	if (!take_u32(&line, &number) || number >= ranks->clock_count)
		return -EINVAL;
	clock = &ranks->clocks[number];
	clock->joint_count = 0;
	while (*line) {
		struct rank_clock_joint *joint = &clock->joints[clock->joint_count];

		if (clock->joint_count++ == RANK_CLOCK_JOINTS_MOST ||
		    !take_i64(&line, &joint->host_ns) || !take_i64(&line, &joint->offset_ns) ||
		    !take_u64(&line, &joint->uncertainty_ns))
			return -EINVAL;
	}
	return rank_clock_is_possible(clock) ? 0 : -EINVAL;
}

static int read_file(struct ranks *ranks, const char *line)
{
	uint32_t clock, sections;

	if (!take_u32(&line, &clock) || !take_u32(&line, &sections) || *line != ' ' ||
	    clock >= ranks->clock_count)
		return -EINVAL;
	return ranks_add_file(ranks, line + 1, clock, sections);
}

static int read_wall(struct ranks *ranks, const char *line)
{
	if (!take_i64(&line, &ranks->wall_ns) || ranks->wall_ns > RANK_CLOCK_TIME_MOST ||
	    ranks->wall_ns < -RANK_CLOCK_TIME_MOST)
		return -EINVAL;
	return 0;
}

/* Reads a line whose escapes are undone. Lines of later versions are ignored. */
static int read_line(struct ranks *ranks, const char *line)
{
	if (!strncmp(line, "clock ", 6))
		return read_clock(ranks, line + 6);
	if (!strncmp(line, "joints ", 7))
		return read_joints(ranks, line + 7);
	if (!strncmp(line, "file ", 5))
		return read_file(ranks, line + 5);
	if (!strncmp(line, "note ", 5))
		return ranks_add_note(ranks, line + 5);
	if (!strncmp(line, "wall ", 5))
		return read_wall(ranks, line + 5);
	return 0;
}

int ranks_read(const char *text, size_t bytes, struct ranks *ret_ranks)
{
	const char *end = text + bytes;
	struct ranks ranks = {0};
	int err = 0;

	while (text < end && err == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		char *line = meta_text_read(text, (size_t)((stop ? stop : end) - text));

		err = line ? read_line(&ranks, line) : -ENOMEM;
		free(line);
		text = stop ? stop + 1 : end;
	}
	if (err == 0 && ranks.file_count == 0)
		err = -EINVAL;
	if (err < 0) {
		ranks_release(&ranks);
		return err;
	}
	*ret_ranks = ranks;
	return 0;
}
