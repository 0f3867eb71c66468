/* Writes a plane of an XSpace: metadata, lines, lists of stats. */
#include "format/xspace/xspace_plane.h"

#include <errno.h>
#include <stdlib.h>

#include "format/xspace/xspace_event.h"

static int number_stats(struct xspace_plane *plane)
{
	for (uint32_t stat = 1; stat < XSPACE_STAT_END; stat++)
		strtab_intern_z(&plane->stats, xspace_stat_name(stat));
	return plane->stats.failed ? -ENOMEM : 0;
}

static void release(struct xspace_plane *plane)
{
	strtab_release(&plane->events);
	strtab_release(&plane->stats);
	proto_release(&plane->scratch);
	free(plane->string_ids);
}

int xspace_plane_begin(struct xspace_plane *plane, struct xspace_out *out, uint64_t id,
		       const char *name)
{
	*plane = (struct xspace_plane){.out = out};
	if (strtab_init(&plane->events) < 0 || strtab_init(&plane->stats) < 0 ||
	    number_stats(plane) < 0) {
		release(plane);
		return -ENOMEM;
	}
	plane->mark = xspace_out_begin(out, XSPACE_PLANES);
	if (id)
		xspace_out_put_u64(out, XPLANE_ID, id);
	proto_put_text(&plane->scratch, XPLANE_NAME, name);
	xspace_out_put_fields(out, &plane->scratch);
	return 0;
}

static void put_metadata(struct xspace_plane *plane, enum xplane_field field, uint32_t id,
			 const char *name)
{
	struct proto *entry = &plane->scratch;
	size_t mark;

	_Static_assert((int)XEVENT_METADATA_KEY == (int)XSTAT_METADATA_KEY &&
			       (int)XEVENT_METADATA_NAME == (int)XSTAT_METADATA_NAME,
		       "one function does for both");
	proto_reset(entry);
	proto_put_u64(entry, XMAP_KEY, id);
	mark = proto_begin(entry, XMAP_VALUE);
	proto_put_u64(entry, XEVENT_METADATA_KEY, id);
	proto_put_text(entry, XEVENT_METADATA_NAME, name);
	proto_end(entry, mark);
	xspace_out_put_message(plane->out, field, entry);
}

int xspace_plane_end(struct xspace_plane *plane)
{
	struct xspace_out *out = plane->out;

	for (uint32_t id = 1; id < plane->events.count; id++)
		put_metadata(plane, XPLANE_EVENT_METADATA, id, plane->events.strings[id]);
	for (uint32_t id = 1; id < plane->stats.count; id++) {
		if (id >= XSPACE_STAT_END || plane->used[id])
			put_metadata(plane, XPLANE_STAT_METADATA, id, plane->stats.strings[id]);
	}
	xspace_out_end(out, plane->mark);
	if ((plane->events.failed || plane->stats.failed) && !out->error)
		out->error = -ENOMEM;
	release(plane);
	return out->error;
}

uint32_t xspace_plane_event(struct xspace_plane *plane, const char *name)
{
	return strtab_intern_z(&plane->events, name);
}

void xspace_plane_use(struct xspace_plane *plane, enum xspace_stat stat)
{
	plane->used[stat] = true;
}

uint32_t xspace_plane_stat(struct xspace_plane *plane, const char *name)
{
	uint32_t id = strtab_intern_z(&plane->stats, name);

	if (id < XSPACE_STAT_END)
		plane->used[id] = true;
	return id;
}

void xspace_line_begin(struct xspace_plane *plane, struct xspace_line *line)
{
	line->mark = xspace_out_begin(plane->out, XPLANE_LINES);
	if (line->id)
		xspace_out_put_u64(plane->out, XLINE_ID, line->id);
	proto_reset(&plane->scratch);
	proto_put_text(&plane->scratch, XLINE_NAME, line->name);
	if (plane->lines_ns)
		proto_put_u64(&plane->scratch, XLINE_TIMESTAMP_NS, plane->lines_ns);
	xspace_out_put_fields(plane->out, &plane->scratch);
}

void xspace_line_end(struct xspace_plane *plane, const struct xspace_line *line)
{
	xspace_out_end(plane->out, line->mark);
}

static size_t begin_stat(struct xspace_stats *stats, uint32_t stat)
{
	size_t mark = proto_begin(&stats->bytes, stats->field);

	if (stat < XSPACE_STAT_END)
		stats->plane->used[stat] = true;
	proto_put_u64(&stats->bytes, XSTAT_METADATA_ID, stat);
	return mark;
}

/* Appends a stat whose value is a varint, as most are. */
static void put_number(struct xspace_stats *stats, uint32_t stat, enum xstat_field field,
		       uint64_t value)
{
	uint8_t bytes[4 + 3 * VARINT_BYTES_MAX];
	uint8_t *at = bytes;

	if (stat < XSPACE_STAT_END)
		stats->plane->used[stat] = true;
	*at++ = XSPACE_KEY_BYTES(stats->field);
	at++; /* the length is less than 128 */
	*at++ = XSPACE_KEY_VARINT(XSTAT_METADATA_ID);
	at = varint_put(at, stat);
	*at++ = XSPACE_KEY_VARINT(field);
	at = varint_put(at, value);
	bytes[1] = (uint8_t)(at - bytes - 2);
	proto_put_raw(&stats->bytes, bytes, (size_t)(at - bytes));
}

void xspace_put_u64(struct xspace_stats *stats, uint32_t stat, uint64_t value)
{
	put_number(stats, stat, XSTAT_UINT64, value);
}

void xspace_put_i64(struct xspace_stats *stats, uint32_t stat, int64_t value)
{
	put_number(stats, stat, XSTAT_INT64, (uint64_t)value);
}

void xspace_put_double(struct xspace_stats *stats, uint32_t stat, double value)
{
	size_t mark = begin_stat(stats, stat);

	proto_put_double(&stats->bytes, XSTAT_DOUBLE, value);
	proto_end(&stats->bytes, mark);
}

void xspace_put_text(struct xspace_stats *stats, uint32_t stat, const char *text)
{
	size_t mark = begin_stat(stats, stat);

	proto_put_text(&stats->bytes, XSTAT_STRING, text);
	proto_end(&stats->bytes, mark);
}

void xspace_put_ref(struct xspace_stats *stats, uint32_t stat, const char *text)
{
	if (text[0] == '\0')
		xspace_put_text(stats, stat, text);
	else
		put_number(stats, stat, XSTAT_REF, xspace_plane_stat(stats->plane, text));
}

/* The stat id of a string; 0 for the empty string, which cannot be a stat's name, or if there is
 * no memory. */
static uint32_t find_string(struct xspace_plane *plane, const struct trace *trace,
			    trace_string string)
{
	uint32_t *id;

	if (!plane->string_ids)
		plane->string_ids = calloc(trace->strings_count, sizeof(*plane->string_ids));
	if (!plane->string_ids) {
		plane->stats.failed = true;
		return 0;
	}
	id = &plane->string_ids[string];
	if (*id == 0 && string != 0)
		*id = xspace_plane_stat(plane, trace_text(trace, string));
	return *id;
}

void xspace_put_string(struct xspace_stats *stats, uint32_t stat, const struct trace *trace,
		       trace_string string)
{
	uint32_t id = find_string(stats->plane, trace, string);
	if (id == 0)
		xspace_put_text(stats, stat, trace_text(trace, string));
	else
		put_number(stats, stat, XSTAT_REF, id);
}

void xspace_put_attribute(struct xspace_stats *stats, const struct trace *trace,
			  const struct trace_scope_attribute *attribute)
{
	uint32_t stat = find_string(stats->plane, trace, attribute->key);

	switch (attribute->kind) {
	case RECORD_ATTRIBUTE_INT64:
		xspace_put_i64(stats, stat, attribute->value.int64);
		break;
	case RECORD_ATTRIBUTE_UINT64:
		xspace_put_u64(stats, stat, attribute->value.uint64);
		break;
	case RECORD_ATTRIBUTE_DOUBLE:
		xspace_put_double(stats, stat, attribute->value.float64);
		break;
	default:
		xspace_put_string(stats, stat, trace, attribute->value.text);
		break;
	}
}

void xspace_event_put(struct xspace_plane *plane, const char *name, struct xspace_span span,
		      const struct xspace_stats *stats)
{
	struct proto *event = &plane->scratch;

	proto_reset(event);
	proto_put_u64(event, XEVENT_METADATA_ID, xspace_plane_event(plane, name));
	proto_put_u64(event, XEVENT_OFFSET_PS, span.offset_ps);
	if (span.duration_ps)
		proto_put_u64(event, XEVENT_DURATION_PS, span.duration_ps);
	proto_put_raw(event, stats->bytes.bytes, stats->bytes.used);
	xspace_out_put_message(plane->out, XLINE_EVENTS, event);
}
