/* Writes what a joined profile has into an export. xspace_with.h has the contracts. */
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_with.h"
#include "format/xspace/xspace_writer.h"
#include "wire/proto_reader.h"

static struct with_metadata *find_stat(struct xspace_with *with, uint64_t id)
{
	uint32_t low = 0, high = with->stat_metadata_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (with->stat_metadata[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < with->stat_metadata_count && with->stat_metadata[low].id == id
		       ? &with->stat_metadata[low]
		       : NULL;
}

/* The id in PLANE of the text that stat metadata ID has there. */
static uint64_t translate(struct xspace_with *with, struct xspace_plane *plane, uint64_t id)
{
	struct with_metadata *metadata = find_stat(with, id);

	if (!metadata)
		return xspace_plane_stat(plane, "(no name)");
	if (!metadata->written)
		metadata->written =
			xspace_plane_stat(plane, xspace_with_text(with, metadata->name));
	return metadata->written;
}

/* Adds a field as it is. */
static void put_field(struct proto *out, const struct proto_field *field)
{
	if (field->wire == PROTO_BYTES)
		proto_put_bytes(out, field->number, field->bytes, field->size);
	else if (field->wire == PROTO_FIXED64)
		proto_put_fixed64(out, field->number, field->value);
	else if (field->wire == PROTO_VARINT)
		proto_put_u64(out, field->number, field->value);
}

static void put_stat(struct xspace_with *with, struct xspace_plane *plane,
		     const struct proto_field *stat, struct proto *event)
{
	struct proto_reader reader = proto_reader_into(stat);
	size_t mark = proto_begin(event, XEVENT_STATS);
	struct proto_field field;

	while (proto_reader_next(&reader, &field) > 0) {
		if (field.wire == PROTO_VARINT &&
		    (field.number == XSTAT_METADATA_ID || field.number == XSTAT_REF))
			field.value = translate(with, plane, field.value);
		put_field(event, &field);
	}
	proto_end(event, mark);
}

/* Adds all stats of a message, which are its fields NUMBER. */
static void put_stats(struct xspace_with *with, struct xspace_plane *plane,
		      struct proto_reader reader, uint32_t number, struct proto *event)
{
	struct proto_field field;

	while (proto_reader_next(&reader, &field) > 0) {
		if (field.number == number && field.wire == PROTO_BYTES)
			put_stat(with, plane, &field, event);
	}
}

static void put_event(struct xspace_with *with, struct xspace_plane *plane,
		      const struct with_event *event)
{
	struct with_metadata *metadata = &with->event_metadata[event->metadata];
	struct proto message = {0};

	if (!metadata->written)
		metadata->written =
			xspace_plane_event(plane, xspace_with_text(with, metadata->name));
	proto_put_u64(&message, XEVENT_METADATA_ID, metadata->written);
	proto_put_u64(&message, XEVENT_OFFSET_PS, event->begin_ps + with->shift_ps);
	if (event->duration_ps)
		proto_put_u64(&message, XEVENT_DURATION_PS, event->duration_ps);
	put_stats(with, plane, proto_reader_of(event->bytes, event->size), XEVENT_STATS, &message);
	if (metadata->bytes)
		put_stats(with, plane, proto_reader_of(metadata->bytes, metadata->size),
			  XEVENT_METADATA_STATS, &message);
	xspace_out_put_message(plane->out, XLINE_EVENTS, &message);
	proto_release(&message);
}

const struct with_line *xspace_with_find_line(const struct xspace_with *with, uint32_t thread)
{
	for (uint32_t i = 0; i < with->lines_count; i++) {
		if (with->lines[i].thread == thread)
			return &with->lines[i];
	}
	return NULL;
}

void xspace_with_put_before(struct xspace_with *with, struct xspace_plane *plane,
			    const struct with_line *line, uint32_t *next, uint64_t begin_ps,
			    uint64_t duration_ps)
{
	for (; *next < line->first + line->count; ++*next) {
		const struct with_event *event = &with->events[*next];
		uint64_t event_ps = event->begin_ps + with->shift_ps;

		if (event_ps > begin_ps ||
		    (event_ps == begin_ps && event->duration_ps < duration_ps))
			return;
		put_event(with, plane, event);
	}
}

void xspace_with_put_lines(struct xspace_with *with, struct xspace_plane *plane)
{
	for (uint32_t i = 0; i < with->lines_count; i++) {
		const struct with_line *row = &with->lines[i];
		struct xspace_line line = {.id = row->id,
					   .name = xspace_with_text(with, row->name)};
		uint32_t at = row->first;

		if (row->thread != TRACE_NONE)
			continue;
		xspace_line_begin(plane, &line);
		xspace_with_put_before(with, plane, row, &at, UINT64_MAX, 0);
		xspace_line_end(plane, &line);
	}
}

/* Copies a line; its time is shifted. */
static void put_shifted_line(const struct xspace_with *with, const struct proto_field *line,
			     struct proto *plane)
{
	struct proto_reader reader = proto_reader_into(line);
	size_t mark = proto_begin(plane, XPLANE_LINES);
	struct proto_field field;
	uint64_t timestamp_ns = 0;

	while (proto_reader_next(&reader, &field) > 0) {
		if (field.number == XLINE_TIMESTAMP_NS && field.wire == PROTO_VARINT)
			timestamp_ns = field.value >= with->start_ns ? field.value - with->start_ns
								     : field.value;
		else
			put_field(plane, &field);
	}
	proto_put_u64(plane, XLINE_TIMESTAMP_NS, timestamp_ns + with->shift_ps / 1000);
	proto_end(plane, mark);
}

/* The planes that the writer makes itself, or puts the profile's events into. The scope tree is of
 * the events of GPUs, which are left out. */
static bool is_left_out(const char *name)
{
	return strcmp(name, XSPACE_PLANE_HOST) == 0 ||
	       strcmp(name, XSPACE_PLANE_ENVIRONMENT) == 0 ||
	       strcmp(name, XSPACE_PLANE_SCOPES) == 0 ||
	       strcmp(name, XSPACE_PLANE_RECORDING) == 0 ||
	       strncmp(name, XSPACE_PLANE_GPU, strlen(XSPACE_PLANE_GPU)) == 0;
}

static void put_plane(const struct xspace_with *with, const struct with_plane *row,
		      struct xspace_out *out)
{
	struct proto_reader reader = proto_reader_of(row->bytes, row->size);
	struct proto_field field;
	struct proto plane = {0};

	while (proto_reader_next(&reader, &field) > 0) {
		if (field.number == XPLANE_LINES && field.wire == PROTO_BYTES)
			put_shifted_line(with, &field, &plane);
		else
			put_field(&plane, &field);
	}
	xspace_out_put_message(out, XSPACE_PLANES, &plane);
	proto_release(&plane);
}

void xspace_with_put_planes(const struct xspace_with *with, struct xspace_out *out)
{
	struct proto_reader space = proto_reader_of(with->file->bytes, with->file->size);
	struct proto messages = {0};
	struct proto_field field;

	for (uint32_t i = 0; i < with->planes_count; i++) {
		if (!is_left_out(xspace_with_text(with, with->planes[i].name)))
			put_plane(with, &with->planes[i], out);
	}
	while (proto_reader_next(&space, &field) > 0) {
		if (field.number == XSPACE_ERRORS || field.number == XSPACE_WARNINGS)
			put_field(&messages, &field);
	}
	xspace_out_put_fields(out, &messages);
	proto_release(&messages);
}

void xspace_with_put_operation(const struct xspace_with *with, uint32_t operation,
			       struct xspace_stats *stats)
{
	const struct with_operation *row = &with->operations[operation];

	xspace_put_ref(stats, XSPACE_STAT_TF_OP, "XlaModule:");
	xspace_put_ref(stats, XSPACE_STAT_HLO_OP, xspace_with_text(with, row->name));
	xspace_put_ref(stats, XSPACE_STAT_HLO_MODULE, xspace_with_text(with, row->module));
	if (row->program >= 0)
		xspace_put_i64(stats, XSPACE_STAT_PROGRAM_ID, row->program);
}
