/* Decodes XSpaces and checks the rules that hold for every one: xspace_decode.h. */
#include "xspace_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/xspace/xspace.h"

static void copy_text(const struct message *text, char *to, size_t size)
{
	assert_true(text->size < size);
	if (text->size)
		memcpy(to, text->bytes, text->size);
	to[text->size] = '\0';
}

static unsigned count_fields(const struct message *message, uint32_t number)
{
	struct field field;
	size_t offset = 0;
	unsigned count = 0;

	while (decode_next(message, &offset, &field))
		count += field.number == number;
	return count;
}

static bool is_plane(const struct field *field, const char *name)
{
	struct message text = decode_message(&field->message, XPLANE_NAME);

	return decode_is_text(&text, name);
}

bool xspace_has_plane(const struct message *space, const char *name)
{
	struct field field;

	for (unsigned i = 0; decode_find(space, XSPACE_PLANES, i, &field); i++) {
		if (is_plane(&field, name))
			return true;
	}
	return false;
}

struct xplane xspace_plane(const struct message *space, const char *name)
{
	struct xplane plane = {0};
	struct field field;
	unsigned found = 0;

	for (unsigned i = 0; decode_find(space, XSPACE_PLANES, i, &field); i++) {
		if (!is_plane(&field, name))
			continue;
		plane.bytes = field.message;
		plane.id = decode_number(&field.message, XPLANE_ID);
		found++;
	}
	assert_int_equal(found, 1);
	return plane;
}

/* Finds the name of metadata number ID; returns false if there is none. */
static bool find_metadata(const struct xplane *plane, enum xplane_field map, uint64_t id,
			  char *name, size_t size)
{
	struct field field;

	for (unsigned i = 0; decode_find(&plane->bytes, map, i, &field); i++) {
		struct message value = decode_message(&field.message, XMAP_VALUE);
		struct message text = decode_message(&value, XSTAT_METADATA_NAME);

		assert_int_equal(decode_number(&field.message, XMAP_KEY),
				 decode_number(&value, XSTAT_METADATA_KEY));
		if (decode_number(&field.message, XMAP_KEY) != id)
			continue;
		copy_text(&text, name, size);
		return true;
	}
	return false;
}

unsigned xplane_count_lines(const struct xplane *plane)
{
	return count_fields(&plane->bytes, XPLANE_LINES);
}

struct message xplane_line(const struct xplane *plane, unsigned index, char name[128])
{
	struct field field;
	struct message text;

	assert_true(decode_find(&plane->bytes, XPLANE_LINES, index, &field));
	text = decode_message(&field.message, XLINE_NAME);
	copy_text(&text, name, 128);
	return field.message;
}

struct message xplane_find_line(const struct xplane *plane, const char *name)
{
	char here[128];

	for (unsigned i = 0; i < xplane_count_lines(plane); i++) {
		struct message line = xplane_line(plane, i, here);

		if (strcmp(here, name) == 0)
			return line;
	}
	fail_msg("no line \"%s\"", name);
	return (struct message){0};
}

unsigned xline_count_events(const struct message *line)
{
	return count_fields(line, XLINE_EVENTS);
}

struct xevent xline_event(const struct xplane *plane, const struct message *line, unsigned index)
{
	struct xevent event = {.plane = *plane};
	struct field field, offset;

	assert_true(decode_find(line, XLINE_EVENTS, index, &field));
	event.bytes = field.message;
	assert_true(find_metadata(plane, XPLANE_EVENT_METADATA,
				  decode_number(&event.bytes, XEVENT_METADATA_ID), event.name,
				  sizeof(event.name)));
	event.has_offset = decode_find(&event.bytes, XEVENT_OFFSET_PS, 0, &offset);
	event.offset_ps = decode_number(&event.bytes, XEVENT_OFFSET_PS);
	event.duration_ps = decode_number(&event.bytes, XEVENT_DURATION_PS);
	return event;
}

/* Returns the number of events with that name, and the INDEX-th of them if it exists. */
static unsigned find_event(const struct xplane *plane, const char *name, unsigned index,
			   struct xevent *ret_event)
{
	unsigned found = 0;
	char line_name[128];

	for (unsigned i = 0; i < xplane_count_lines(plane); i++) {
		struct message line = xplane_line(plane, i, line_name);

		for (unsigned j = 0; j < xline_count_events(&line); j++) {
			struct xevent event = xline_event(plane, &line, j);

			if (strcmp(event.name, name) == 0 && found++ == index)
				*ret_event = event;
		}
	}
	return found;
}

unsigned xplane_count_events(const struct xplane *plane, const char *name)
{
	struct xevent event;

	return find_event(plane, name, UINT32_MAX, &event);
}

struct xevent xplane_event(const struct xplane *plane, const char *name, unsigned index)
{
	struct xevent event = {0};

	if (find_event(plane, name, index, &event) <= index)
		fail_msg("no event %u of name \"%s\"", index, name);
	return event;
}

static struct xvalue value_of(const struct xplane *plane, const struct message *stat)
{
	struct xvalue value = {0};
	struct field field;
	size_t offset = 0;

	while (decode_next(stat, &offset, &field)) {
		if (field.number == XSTAT_METADATA_ID)
			continue;
		assert_int_equal(value.kind, 0);
		value.kind = field.number;
		value.number = field.value;
		if (field.number == XSTAT_STRING)
			copy_text(&field.message, value.text, sizeof(value.text));
		if (field.number == XSTAT_REF)
			assert_true(find_metadata(plane, XPLANE_STAT_METADATA, field.value,
						  value.text, sizeof(value.text)));
	}
	return value;
}

static struct xvalue find_stat(const struct xplane *plane, const struct message *message,
			       uint32_t stats, const char *name)
{
	struct xvalue value = {0};
	struct field field;
	char here[512];

	for (unsigned i = 0; decode_find(message, stats, i, &field); i++) {
		assert_true(find_metadata(plane, XPLANE_STAT_METADATA,
					  decode_number(&field.message, XSTAT_METADATA_ID), here,
					  sizeof(here)));
		if (strcmp(here, name) != 0)
			continue;
		assert_int_equal(value.kind, 0); /* at most one value of a kind */
		value = value_of(plane, &field.message);
		assert_int_not_equal(value.kind, 0);
	}
	return value;
}

struct xvalue xevent_stat(const struct xevent *event, const char *name)
{
	return find_stat(&event->plane, &event->bytes, XEVENT_STATS, name);
}

struct xvalue xplane_stat(const struct xplane *plane, const char *name)
{
	return find_stat(plane, &plane->bytes, XPLANE_STATS, name);
}

static void check_metadata(const struct xplane *plane, enum xplane_field map)
{
	struct field left, right;

	for (unsigned i = 0; decode_find(&plane->bytes, map, i, &left); i++) {
		struct message a = decode_message(&left.message, XMAP_VALUE);
		struct message name = decode_message(&a, XSTAT_METADATA_NAME);

		for (unsigned j = 0; j < i; j++) {
			struct message b, other;

			decode_find(&plane->bytes, map, j, &right);
			b = decode_message(&right.message, XMAP_VALUE);
			other = decode_message(&b, XSTAT_METADATA_NAME);
			assert_true(decode_number(&left.message, XMAP_KEY) >
				    decode_number(&right.message, XMAP_KEY));
			assert_false(name.size == other.size &&
				     memcmp(name.bytes, other.bytes, name.size) == 0);
		}
	}
}

static void check_line(const struct xplane *plane, const struct message *line)
{
	uint64_t ends[4096];
	unsigned depth = 0;
	struct xevent last = {0};

	for (unsigned i = 0; i < xline_count_events(line); i++) {
		struct xevent event = xline_event(plane, line, i);
		uint64_t end_ps = event.offset_ps + event.duration_ps;

		assert_true(event.has_offset);
		assert_true(event.offset_ps >= last.offset_ps);
		if (event.offset_ps == last.offset_ps && i > 0)
			assert_true(event.duration_ps <= last.duration_ps);
		while (depth > 0 && ends[depth - 1] <= event.offset_ps)
			depth--;
		assert_true(depth == 0 || ends[depth - 1] >= end_ps);
		assert_true(depth < 4096);
		ends[depth++] = end_ps;
		last = event;
	}
}

void xspace_check(const struct message *space)
{
	struct field field;
	char name[128];

	for (unsigned i = 0; decode_find(space, XSPACE_PLANES, i, &field); i++) {
		struct xplane plane = {field.message, decode_number(&field.message, XPLANE_ID)};

		check_metadata(&plane, XPLANE_EVENT_METADATA);
		check_metadata(&plane, XPLANE_STAT_METADATA);
		for (unsigned j = 0; j < xplane_count_lines(&plane); j++) {
			struct message line = xplane_line(&plane, j, name);

			check_line(&plane, &line);
			for (unsigned k = 0; k < j; k++) {
				struct message other = xplane_line(&plane, k, name);

				assert_int_not_equal(decode_number(&line, XLINE_ID),
						     decode_number(&other, XLINE_ID));
			}
		}
	}
}
