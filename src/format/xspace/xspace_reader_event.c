/* Reads lines and events of a plane and decodes their stats. */
#include <errno.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"

#define PS_PER_NS 1000

/* A stat as its message has it. */
struct stat_value {
	int64_t id;
	/* kind RECORD_ATTRIBUTE_NONE: no value, or a value of bytes */
	struct trace_scope_attribute attribute;
	bool is_bytes;
};

static trace_string name_of_stat(struct xread_load *load, const struct xread_meta *meta, int64_t id)
{
	if (meta && meta->name)
		return meta->name;
	return strtab_format(load->import.strings, "stat %lld", (long long)id);
}

/* Both set all bytes of the union, because sets are hashed as bytes. */
static void take_text(struct stat_value *value, trace_string text)
{
	value->attribute.kind = RECORD_ATTRIBUTE_TEXT;
	value->attribute.value.uint64 = 0;
	value->attribute.value.text = text;
}

static void take_number(struct stat_value *value, enum record_attribute_kind kind, uint64_t bits)
{
	value->attribute.kind = kind;
	value->attribute.value.uint64 = bits;
}

/* A field that is not understood leaves the value of an earlier one. */
static void take_value(struct xread_load *load, const struct xread_plane *plane,
		       const struct proto_field *field, struct stat_value *value)
{
	const struct xread_meta *meta;

	if (field->number == XSTAT_DOUBLE && field->wire == PROTO_FIXED64) {
		take_number(value, RECORD_ATTRIBUTE_DOUBLE, field->value);
	} else if (field->number == XSTAT_UINT64 && field->wire == PROTO_VARINT) {
		take_number(value, RECORD_ATTRIBUTE_UINT64, field->value);
	} else if (field->number == XSTAT_INT64 && field->wire == PROTO_VARINT) {
		take_number(value, RECORD_ATTRIBUTE_INT64, field->value);
	} else if (field->number == XSTAT_STRING && field->wire == PROTO_BYTES) {
		take_text(value, xread_text(load, field));
	} else if (field->number == XSTAT_REF && field->wire == PROTO_VARINT) {
		meta = xread_meta_find(&plane->stats, (int64_t)field->value);
		take_text(value, meta ? meta->name : 0);
	} else {
		value->is_bytes |= field->number == XSTAT_BYTES;
	}
}

static int read_value(struct xread_load *load, const struct xread_plane *plane,
		      struct proto_reader stat, struct stat_value *value)
{
	struct proto_field field;
	int got;

	while ((got = xread_next(load, &stat, &field, "a stat")) > 0) {
		if (field.number == XSTAT_METADATA_ID && field.wire == PROTO_VARINT)
			value->id = (int64_t)field.value;
		else
			take_value(load, plane, &field, value);
	}
	return got;
}

static int keep_attribute(struct xread_load *load, struct xread_event *event,
			  const struct trace_scope_attribute *attribute)
{
	struct trace_scope_attribute *row;

	load->attributes_count = event->attribute_count;
	row = table_add((void **)&load->attributes, &load->attributes_count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = *attribute;
	event->attributes = load->attributes;
	event->attribute_count++;
	return 0;
}

/* Notes the value of a stat that the reader understands. A double is never such a value. If an
 * event states a stat several times, the last value counts. */
static void know_value(struct xread_event *event, enum xspace_stat known,
		       const struct trace_scope_attribute *attribute)
{
	const uint64_t bit = UINT64_C(1) << known;

	if (attribute->kind == RECORD_ATTRIBUTE_TEXT) {
		event->stat[known].text = attribute->value.text;
		event->texts |= bit;
		event->numbers &= ~bit;
	} else if (attribute->kind != RECORD_ATTRIBUTE_DOUBLE) {
		event->stat[known].number = attribute->value.uint64;
		event->numbers |= bit;
		event->texts &= ~bit;
	}
}

int xread_stat_read(struct xread_load *load, const struct xread_plane *plane,
		    struct proto_reader stat, struct xread_event *event)
{
	struct stat_value value = {0};
	const struct xread_meta *meta;
	int result = read_value(load, plane, stat, &value);

	if (result < 0)
		return result;
	load->left_out[XREAD_LEFT_OUT_BYTES] += value.is_bytes;
	if (value.attribute.kind == RECORD_ATTRIBUTE_NONE)
		return 0;
	meta = xread_meta_find(&plane->stats, value.id);
	if (meta && meta->known)
		know_value(event, meta->known, &value.attribute);
	if (meta && (meta->known == XSPACE_STAT_CORRELATION_ID ||
		     meta->known == XSPACE_STAT_SCOPE_RANGE_ID))
		return 0;
	value.attribute.key = name_of_stat(load, meta, value.id);
	return keep_attribute(load, event, &value.attribute);
}

void xread_event_clear(struct xread_load *load, struct xread_event *event)
{
	event->name = 0;
	event->is_aggregated = false;
	event->numbers = event->texts = 0;
	event->attributes = load->attributes;
	event->attribute_count = 0;
}

int xread_facts(struct xread_load *load, const struct xread_plane *plane,
		struct xread_event *ret_facts)
{
	struct proto_reader fields = plane->body;
	struct proto_field field;
	int got, result = 0;

	xread_event_clear(load, ret_facts);
	while (result == 0 && (got = xread_next(load, &fields, &field, "a plane")) != 0) {
		if (got < 0)
			return got;
		if (field.number == XPLANE_STATS && field.wire == PROTO_BYTES)
			result = xread_stat_read(load, plane, proto_reader_into(&field), ret_facts);
	}
	return result;
}

int64_t xread_attribute_set(struct xread_load *load, const struct xread_event *event)
{
	if (load->is_ours)
		return 0;
	return import_set(&load->import, event->attributes, event->attribute_count);
}

static int read_line(struct xread_load *load, struct xread_line *line)
{
	struct proto_reader fields = line->body;
	struct proto_field field;
	int got;

	while ((got = xread_next(load, &fields, &field, "a line")) > 0) {
		if (field.wire == PROTO_VARINT && field.number == XLINE_ID)
			line->id = (int64_t)field.value;
		else if (field.wire == PROTO_VARINT && field.number == XLINE_TIMESTAMP_NS)
			line->timestamp_ns = (int64_t)((uint64_t)load->clock_origin + field.value);
		else if (field.wire == PROTO_BYTES && field.number == XLINE_NAME)
			line->name = xread_text(load, &field);
	}
	return got;
}

int xread_line_next(struct xread_load *load, struct xread_plane *plane, struct xread_line *ret_line)
{
	struct proto_field field;
	int result;

	do {
		result = xread_next(load, &plane->rest, &field, "a plane");
		if (result <= 0)
			return result;
	} while (field.number != XPLANE_LINES || field.wire != PROTO_BYTES);
	*ret_line = (struct xread_line){
		.plane = plane,
		.body = proto_reader_into(&field),
		.timestamp_ns = load->clock_origin,
	};
	result = read_line(load, ret_line);
	return result < 0 ? result : 1;
}

/* The stats of event metadata count for each event of that name. The limit keeps a small file from
 * expanding to a huge trace. */
#define META_STATS_MOST 64

static int read_meta_stats(struct xread_load *load, const struct xread_plane *plane,
			   struct proto_reader meta, struct xread_event *event)
{
	struct proto_field field;
	int got, result = 0, count = 0;

	while (result == 0 && (got = xread_next(load, &meta, &field, "metadata")) != 0) {
		if (got < 0)
			return got;
		if (field.number != XEVENT_METADATA_STATS || field.wire != PROTO_BYTES)
			continue;
		if (count++ < META_STATS_MOST)
			result = xread_stat_read(load, plane, proto_reader_into(&field), event);
		else
			load->left_out[XREAD_LEFT_OUT_META]++;
	}
	return result;
}

struct event_head {
	int64_t id;
	uint64_t offset_ps, duration_ps;
};

static int read_event(struct xread_load *load, const struct xread_plane *plane,
		      struct proto_reader fields, struct event_head *head,
		      struct xread_event *event)
{
	struct proto_field field;
	int got, result = 0;

	while (result == 0 && (got = xread_next(load, &fields, &field, "an event")) != 0) {
		if (got < 0)
			return got;
		if (field.wire == PROTO_BYTES && field.number == XEVENT_STATS)
			result = xread_stat_read(load, plane, proto_reader_into(&field), event);
		else if (field.wire != PROTO_VARINT)
			continue;
		else if (field.number == XEVENT_METADATA_ID)
			head->id = (int64_t)field.value;
		else if (field.number == XEVENT_OFFSET_PS)
			head->offset_ps = field.value;
		else if (field.number == XEVENT_DURATION_PS)
			head->duration_ps = field.value;
		else
			event->is_aggregated |= field.number == XEVENT_OCCURRENCES;
	}
	return result;
}

/* The host time at an offset: whole ns, rounded down. Wraps if a file has absurd times. */
static int64_t ns_at(const struct xread_line *line, uint64_t ps)
{
	int64_t signed_ps = (int64_t)ps;
	int64_t ns = signed_ps / PS_PER_NS - (signed_ps % PS_PER_NS < 0);

	return (int64_t)((uint64_t)line->timestamp_ns + (uint64_t)ns);
}

int xread_event_next(struct xread_load *load, struct xread_line *line,
		     struct xread_event *ret_event)
{
	struct event_head head = {0};
	const struct xread_meta *meta;
	struct proto_field field;
	int result;

	do {
		result = xread_next(load, &line->body, &field, "a line");
		if (result <= 0)
			return result;
	} while (field.number != XLINE_EVENTS || field.wire != PROTO_BYTES);
	xread_event_clear(load, ret_event);
	result = read_event(load, line->plane, proto_reader_into(&field), &head, ret_event);
	meta = xread_meta_find(&line->plane->events, head.id);
	if (result == 0 && meta && meta->stats.at)
		result = read_meta_stats(load, line->plane, meta->stats, ret_event);
	if (result < 0)
		return result;
	ret_event->name = meta ? meta->name : 0;
	ret_event->begin_ns = ns_at(line, head.offset_ps);
	ret_event->end_ns = ns_at(line, head.offset_ps + head.duration_ps);
	return 1;
}
