/* Counts what the bytes of an XSpace file are spent on. */
#include "format/xspace/xspace_account.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace.h"
#include "trace/row_table.h"
#include "wire/proto_reader.h"

/* Stats with a greater metadata id are counted together under id 0. Stats have few names, so real
 * files do not reach it. */
#define ID_MAX 65535

struct plane {
	struct proto_reader bytes;
	struct xspace_account_side *side; /* NULL: the plane is not counted */
	uint32_t *row_of;		  /* by metadata id: 1 + index of its row; 0 = none yet */
	struct proto_field *names;	  /* by metadata id */
};

static bool is_text(const struct proto_field *field, const char *text, size_t bytes)
{
	return field->wire == PROTO_BYTES && field->size >= bytes &&
	       memcmp(field->bytes, text, bytes) == 0;
}

static int read_stat_metadata(struct plane *plane, const struct proto_field *entry)
{
	struct proto_reader map = proto_reader_into(entry);
	struct proto_field field, name;
	uint64_t id = 0;
	int got;

	while ((got = proto_reader_next(&map, &field)) > 0) {
		struct proto_reader value;

		if (field.number == XMAP_KEY && field.wire == PROTO_VARINT)
			id = field.value;
		if (field.number != XMAP_VALUE || field.wire != PROTO_BYTES)
			continue;
		value = proto_reader_into(&field);
		while ((got = proto_reader_next(&value, &name)) > 0) {
			if (name.number == XSTAT_METADATA_NAME && name.wire == PROTO_BYTES &&
			    id <= ID_MAX)
				plane->names[id] = name;
		}
		if (got < 0)
			return got;
	}
	return got;
}

/* Finds the side for which the plane counts, and the names of its stats, which may stand behind
 * the lines. */
static int read_head(struct plane *plane, struct xspace_account *account)
{
	struct proto_reader reader = plane->bytes;
	struct proto_field field;
	int got;

	while ((got = proto_reader_next(&reader, &field)) > 0) {
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == XPLANE_NAME &&
		    is_text(&field, XSPACE_PLANE_GPU, sizeof(XSPACE_PLANE_GPU) - 1))
			plane->side = &account->device;
		else if (field.number == XPLANE_NAME && field.size == strlen(XSPACE_PLANE_HOST) &&
			 is_text(&field, XSPACE_PLANE_HOST, field.size))
			plane->side = &account->host;
		else if (field.number == XPLANE_STAT_METADATA)
			got = read_stat_metadata(plane, &field);
		if (got < 0)
			break;
	}
	return got;
}

static int add_row(struct plane *plane, uint64_t id)
{
	const struct proto_field *name = &plane->names[id];
	struct xspace_account_side *side = plane->side;
	struct xspace_account_row row = {.name = "(other)"};
	struct xspace_account_row *added;

	if (name->size > 0)
		snprintf(row.name, sizeof(row.name), "%.*s", (int)name->size,
			 (const char *)name->bytes);
	for (uint32_t i = 0; i < side->rows_count; i++) {
		if (strcmp(side->rows[i].name, row.name) == 0) {
			plane->row_of[id] = i + 1;
			return 0;
		}
	}
	added = table_add((void **)&side->rows, &side->rows_count, sizeof(row));
	if (!added)
		return -ENOMEM;
	*added = row;
	plane->row_of[id] = side->rows_count;
	return 0;
}

static int count_stat(struct plane *plane, const struct proto_field *stat, size_t bytes)
{
	struct proto_reader reader = proto_reader_into(stat);
	struct proto_field field;
	uint64_t id = 0;
	int got;

	while ((got = proto_reader_next(&reader, &field)) > 0) {
		if (field.number == XSTAT_METADATA_ID && field.wire == PROTO_VARINT)
			id = field.value <= ID_MAX ? field.value : 0;
	}
	if (got == 0 && plane->row_of[id] == 0)
		got = add_row(plane, id);
	if (got < 0)
		return got;
	plane->side->rows[plane->row_of[id] - 1].count++;
	plane->side->rows[plane->row_of[id] - 1].bytes += bytes;
	return 0;
}

static int count_event(struct plane *plane, const struct proto_field *event)
{
	struct proto_reader reader = proto_reader_into(event);
	const uint8_t *begin = reader.at;
	struct proto_field field;
	int got;

	plane->side->events++;
	while ((got = proto_reader_next(&reader, &field)) > 0) {
		size_t bytes = (size_t)(reader.at - begin);

		begin = reader.at;
		if (field.number == XEVENT_STATS && field.wire == PROTO_BYTES)
			got = count_stat(plane, &field, bytes);
		else if (field.number != XEVENT_METADATA_ID)
			plane->side->time_bytes += bytes;
		if (got < 0)
			break;
	}
	return got;
}

static int count_line(struct plane *plane, const struct proto_field *line)
{
	struct proto_reader reader = proto_reader_into(line);
	const uint8_t *begin = reader.at;
	struct proto_field field;
	int got;

	while ((got = proto_reader_next(&reader, &field)) > 0) {
		size_t bytes = (size_t)(reader.at - begin);

		begin = reader.at;
		if (field.number != XLINE_EVENTS || field.wire != PROTO_BYTES)
			continue;
		plane->side->bytes += bytes;
		got = count_event(plane, &field);
		if (got < 0)
			break;
	}
	return got;
}

static int count_plane(const struct proto_field *bytes, struct xspace_account *account)
{
	struct plane plane = {
		.bytes = proto_reader_into(bytes),
		.row_of = calloc(ID_MAX + 1, sizeof(*plane.row_of)),
		.names = calloc(ID_MAX + 1, sizeof(*plane.names)),
	};
	struct proto_field field;
	int got = -ENOMEM;

	if (plane.row_of && plane.names)
		got = read_head(&plane, account);
	while (got >= 0 && plane.side && (got = proto_reader_next(&plane.bytes, &field)) > 0) {
		if (field.number == XPLANE_LINES && field.wire == PROTO_BYTES)
			got = count_line(&plane, &field);
	}
	free(plane.row_of);
	free(plane.names);
	return got;
}

int xspace_account(const void *bytes, size_t size, struct xspace_account *ret_account)
{
	struct proto_reader reader = proto_reader_of(bytes, size);
	struct xspace_account account = {0};
	struct proto_field field;
	int got;

	while ((got = proto_reader_next(&reader, &field)) > 0) {
		if (field.number == XSPACE_PLANES && field.wire == PROTO_BYTES)
			got = count_plane(&field, &account);
		if (got < 0)
			break;
	}
	if (got < 0) {
		xspace_account_release(&account);
		return got;
	}
	*ret_account = account;
	return 0;
}

void xspace_account_release(struct xspace_account *account)
{
	free(account->device.rows);
	free(account->host.rows);
	*account = (struct xspace_account){0};
}
