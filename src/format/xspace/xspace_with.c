/* Reads a profile that is joined with a recording. xspace_with.h has the contracts. */
#include "format/xspace/xspace_with.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/row_table.h"
#include "wire/proto_reader.h"

/* A failure inside a file: -EBADMSG or -ENOMEM. */
static int next(struct proto_reader *reader, struct proto_field *field)
{
	return proto_reader_next(reader, field);
}

static uint32_t intern(struct xspace_with *with, const struct proto_field *field)
{
	return strtab_intern(&with->texts, (const char *)field->bytes, field->size);
}

/* Adds a map entry of metadata to *ROWS. */
static int add_metadata(struct xspace_with *with, const struct proto_field *entry,
			struct with_metadata **rows, uint32_t *count)
{
	struct with_metadata *row = table_add((void **)rows, count, sizeof(*row));
	struct proto_reader reader = proto_reader_into(entry);
	struct proto_field field;
	int got;

	if (!row)
		return -ENOMEM;
	while ((got = next(&reader, &field)) > 0) {
		if (field.number == XMAP_KEY && field.wire == PROTO_VARINT) {
			row->id = field.value;
		} else if (field.number == XMAP_VALUE && field.wire == PROTO_BYTES) {
			row->bytes = field.bytes;
			row->size = field.size;
		}
	}
	if (got < 0 || !row->bytes)
		return got;
	reader = proto_reader_of(row->bytes, row->size);
	while ((got = next(&reader, &field)) > 0) {
		if (field.number == XEVENT_METADATA_NAME && field.wire == PROTO_BYTES)
			row->name = intern(with, &field);
	}
	return got;
}

static uint64_t metadata_key(const void *row)
{
	return ((const struct with_metadata *)row)->id;
}

/* The index of the row with ID; COUNT if there is none. */
static uint32_t find_metadata(const struct with_metadata *rows, uint32_t count, uint64_t id)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && rows[low].id == id ? low : count;
}

/* Whether a stat says that its event is a call or a scope, which the recording has itself. */
static bool is_recorded(const struct xspace_with *with, const struct proto_field *stat)
{
	struct proto_reader reader = proto_reader_into(stat);
	struct proto_field field;

	while (next(&reader, &field) > 0) {
		uint32_t row;
		const char *name;

		if (field.number != XSTAT_METADATA_ID || field.wire != PROTO_VARINT)
			continue;
		row = find_metadata(with->stat_metadata, with->stat_metadata_count, field.value);
		if (row == with->stat_metadata_count)
			return false;
		name = xspace_with_text(with, with->stat_metadata[row].name);
		return strcmp(name, xspace_stat_name(XSPACE_STAT_CORRELATION_ID)) == 0 ||
		       strcmp(name, xspace_stat_name(XSPACE_STAT_SCOPE_RANGE_ID)) == 0;
	}
	return false;
}

static int read_event(struct xspace_with *with, const struct proto_field *message, uint64_t line_ps)
{
	struct proto_reader reader = proto_reader_into(message);
	struct proto_field field;
	struct with_event event = {
		.begin_ps = line_ps, .bytes = message->bytes, .size = message->size};
	bool is_wanted = true;
	struct with_event *row;
	int got;

	event.metadata = with->event_metadata_count;
	while ((got = next(&reader, &field)) > 0) {
		if (field.wire == PROTO_BYTES && field.number == XEVENT_STATS)
			is_wanted = is_wanted && !is_recorded(with, &field);
		if (field.wire != PROTO_VARINT)
			continue;
		if (field.number == XEVENT_METADATA_ID)
			event.metadata = find_metadata(with->event_metadata,
						       with->event_metadata_count, field.value);
		else if (field.number == XEVENT_OFFSET_PS)
			event.begin_ps = line_ps + field.value;
		else if (field.number == XEVENT_DURATION_PS)
			event.duration_ps = field.value;
		else if (field.number == XEVENT_OCCURRENCES)
			is_wanted = false; /* it has no time */
	}
	if (got < 0 || !is_wanted || event.metadata == with->event_metadata_count)
		return got;
	row = trace_add(with, events);
	if (!row)
		return -ENOMEM;
	*row = event;
	return 0;
}

/* By begin, the longer first. */
static int compare_events(const void *left, const void *right)
{
	const struct with_event *a = left, *b = right;

	if (a->begin_ps != b->begin_ps)
		return a->begin_ps < b->begin_ps ? -1 : 1;
	if (a->duration_ps != b->duration_ps)
		return a->duration_ps > b->duration_ps ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* The line's begin from the profile's start. XLA has subtracted the start from most files. */
static uint64_t line_begin_ps(const struct xspace_with *with, uint64_t timestamp_ns)
{
	return (timestamp_ns >= with->start_ns ? timestamp_ns - with->start_ns : timestamp_ns) *
	       1000;
}

static int read_line(struct xspace_with *with, const struct proto_field *message)
{
	struct proto_reader reader = proto_reader_into(message);
	struct with_line *line = trace_add(with, lines);
	uint32_t first = with->events_count;
	struct proto_field field;
	uint64_t line_ps = 0;
	int got;

	if (!line)
		return -ENOMEM;
	line->thread = TRACE_NONE;
	while ((got = next(&reader, &field)) > 0) {
		if (field.number == XLINE_ID && field.wire == PROTO_VARINT)
			line->id = field.value;
		else if (field.number == XLINE_NAME && field.wire == PROTO_BYTES)
			line->name = intern(with, &field);
		else if (field.number == XLINE_TIMESTAMP_NS && field.wire == PROTO_VARINT)
			line_ps = line_begin_ps(with, field.value);
	}
	reader = proto_reader_into(message);
	while (got == 0 && (got = next(&reader, &field)) > 0)
		got = field.number == XLINE_EVENTS && field.wire == PROTO_BYTES
			      ? read_event(with, &field, line_ps)
			      : 0;
	line->first = first;
	line->count = with->events_count - first;
	if (line->count)
		qsort(with->events + first, line->count, sizeof(*with->events), compare_events);
	return got;
}

/* Reads the maps of a plane, then its lines. */
static int read_host(struct xspace_with *with, const struct with_plane *plane)
{
	struct proto_reader reader = proto_reader_of(plane->bytes, plane->size);
	struct proto_field field;
	int got, err = 0;

	while (!err && (got = next(&reader, &field)) > 0) {
		if (field.wire == PROTO_BYTES && field.number == XPLANE_EVENT_METADATA)
			err = add_metadata(with, &field, &with->event_metadata,
					   &with->event_metadata_count);
		else if (field.wire == PROTO_BYTES && field.number == XPLANE_STAT_METADATA)
			err = add_metadata(with, &field, &with->stat_metadata,
					   &with->stat_metadata_count);
	}
	if (!err)
		err = sort_by_key(with->event_metadata, with->event_metadata_count,
				  sizeof(*with->event_metadata), metadata_key);
	if (!err)
		err = sort_by_key(with->stat_metadata, with->stat_metadata_count,
				  sizeof(*with->stat_metadata), metadata_key);
	reader = proto_reader_of(plane->bytes, plane->size);
	while (!err && (got = next(&reader, &field)) > 0) {
		if (field.wire == PROTO_BYTES && field.number == XPLANE_LINES)
			err = read_line(with, &field);
	}
	return err ? err : got;
}

static int read_planes(struct xspace_with *with)
{
	struct proto_reader space = proto_reader_of(with->file->bytes, with->file->size);
	struct proto_field field, inner;
	int got, err = 0;

	while (!err && (got = next(&space, &field)) > 0) {
		struct proto_reader reader;
		struct with_plane *plane;

		if (field.number != XSPACE_PLANES || field.wire != PROTO_BYTES)
			continue;
		plane = trace_add(with, planes);
		if (!plane)
			return -ENOMEM;
		plane->bytes = field.bytes;
		plane->size = field.size;
		reader = proto_reader_into(&field);
		while ((got = next(&reader, &inner)) > 0) {
			if (inner.number == XPLANE_NAME && inner.wire == PROTO_BYTES)
				plane->name = intern(with, &inner);
		}
		err = got;
	}
	return err ? err : got;
}

static const struct with_plane *find_plane(const struct xspace_with *with, const char *name)
{
	for (uint32_t i = 0; i < with->planes_count; i++) {
		if (strcmp(xspace_with_text(with, with->planes[i].name), name) == 0)
			return &with->planes[i];
	}
	return NULL;
}

/* The id of the stats that are called NAME; UINT64_MAX if the plane has none. */
static uint64_t find_stat_id(struct xspace_with *with, const struct with_plane *plane,
			     const char *name)
{
	struct with_metadata *names = NULL;
	uint32_t count = 0;
	struct proto_reader reader = proto_reader_of(plane->bytes, plane->size);
	struct proto_field field;
	uint64_t id = UINT64_MAX;

	while (next(&reader, &field) > 0) {
		if (field.number == XPLANE_STAT_METADATA && field.wire == PROTO_BYTES)
			add_metadata(with, &field, &names, &count);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(xspace_with_text(with, names[i].name), name) == 0)
			id = names[i].id;
	}
	free(names);
	return id;
}

struct stat_number {
	uint64_t id, value;
};

/* Reads the id and the uint64 of the XStat STAT; each is 0 if it has none. */
static struct stat_number read_number(const struct proto_field *stat)
{
	struct proto_reader reader = proto_reader_into(stat);
	struct proto_field field;
	struct stat_number number = {0};

	while (next(&reader, &field) > 0) {
		if (field.number == XSTAT_METADATA_ID && field.wire == PROTO_VARINT)
			number.id = field.value;
		else if (field.number == XSTAT_UINT64 && field.wire == PROTO_VARINT)
			number.value = field.value;
	}
	return number;
}

/* The uint64 of a stat of the plane itself; 0 if it has none. */
static uint64_t find_number(struct xspace_with *with, const struct with_plane *plane,
			    const char *name)
{
	struct proto_reader reader = proto_reader_of(plane->bytes, plane->size);
	struct proto_field field;
	uint64_t id = find_stat_id(with, plane, name), found = 0;

	while (next(&reader, &field) > 0) {
		struct stat_number number;

		if (field.number != XPLANE_STATS || field.wire != PROTO_BYTES)
			continue;
		number = read_number(&field);
		if (number.id == id)
			found = number.value;
	}
	return found;
}

/* Reads the names of the programs whose HLO protos the profile has. */
static int read_programs(struct xspace_with *with, const struct with_plane *plane)
{
	struct proto_reader reader = proto_reader_of(plane->bytes, plane->size);
	struct proto_field field;
	int got, err = 0;

	while (!err && (got = next(&reader, &field)) > 0) {
		if (field.number == XPLANE_EVENT_METADATA && field.wire == PROTO_BYTES)
			err = add_metadata(with, &field, &with->programs, &with->programs_count);
	}
	return err ? err : got;
}

static int read_all(struct xspace_with *with, struct dagtap_error *error)
{
	const struct with_plane *plane;
	int err = strtab_init(&with->texts);

	if (!err)
		err = read_planes(with);
	if (!err && (plane = find_plane(with, XSPACE_PLANE_ENVIRONMENT))) {
		with->start_ns = find_number(with, plane, "profile_start_time");
		with->stop_ns = find_number(with, plane, "profile_stop_time");
	}
	if (!err && with->start_ns == 0)
		return dagtap_error_set(error, -EBADMSG,
					"%s: no profile of XLA: there is no profile_start_time",
					with->file->name);
	if (!err && (plane = find_plane(with, XSPACE_PLANE_HOST)))
		err = read_host(with, plane);
	if (!err && (plane = find_plane(with, XSPACE_PLANE_METADATA)))
		err = read_programs(with, plane);
	if (!err && with->texts.failed)
		err = -ENOMEM;
	return err < 0 ? dagtap_error_set(error, err, "%s: %s", with->file->name,
					  err == -EBADMSG ? "not a well-formed XSpace"
							  : strerror(-err))
		       : 0;
}

int xspace_with_open(const struct read_file *file, struct xspace_with **ret_with,
		     struct dagtap_error *error)
{
	struct xspace_with *with = calloc(1, sizeof(*with));
	int err;

	if (!with)
		return dagtap_error_set(error, -ENOMEM, "%s: %s", file->name, strerror(ENOMEM));
	with->file = file;
	err = read_all(with, error);
	if (err < 0)
		xspace_with_close(with);
	else
		*ret_with = with;
	return err;
}

void xspace_with_close(struct xspace_with *with)
{
	if (!with)
		return;
	strtab_release(&with->texts);
	free(with->planes);
	free(with->event_metadata);
	free(with->stat_metadata);
	free(with->programs);
	free(with->lines);
	free(with->events);
	free(with->operations);
	free(with->operation_of_call);
	free(with);
}
