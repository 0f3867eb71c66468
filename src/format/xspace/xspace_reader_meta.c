/* Reads a plane's maps: what the ids of its events and stats mean. Also the field and text
 * helpers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"

int xread_next(struct xread_load *load, struct proto_reader *reader, struct proto_field *ret_field,
	       const char *what)
{
	int got = proto_reader_next(reader, ret_field);

	if (got < 0)
		return dagtap_error_at(
			load->error, got, load->name, (uint64_t)(reader->at - load->bytes),
			"%s is cut off or not an XSpace's (no field that ends inside it)", what);
	return got;
}

trace_string xread_text(struct xread_load *load, const struct proto_field *field)
{
	return strtab_intern(load->import.strings, (const char *)field->bytes, field->size);
}

static enum xspace_stat known_stat(const struct proto_field *name)
{
	for (int stat = 1; stat < XSPACE_STAT_END; stat++) {
		const char *known = xspace_stat_name((enum xspace_stat)stat);

		if (strlen(known) == name->size && !memcmp(known, name->bytes, name->size))
			return (enum xspace_stat)stat;
	}
	return XSPACE_STAT_NONE;
}

/* Reads the value of a map entry. The name has the same field number in metadata of events and of
 * stats. */
static int read_value(struct xread_load *load, struct proto_reader value, bool is_stat,
		      struct xread_meta *row)
{
	struct proto_reader fields = value;
	struct proto_field field;
	int got;

	while ((got = xread_next(load, &fields, &field, "metadata")) > 0) {
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == XEVENT_METADATA_NAME) {
			row->name = xread_text(load, &field);
			row->known = is_stat ? known_stat(&field) : XSPACE_STAT_NONE;
		} else if (field.number == XEVENT_METADATA_STATS && !is_stat) {
			row->stats = value;
		}
	}
	return got;
}

static int read_entry(struct xread_load *load, const struct proto_field *entry, bool is_stat,
		      struct xread_metas *metas)
{
	struct xread_meta *row =
		table_add((void **)&metas->rows, &metas->count, sizeof(*metas->rows));
	struct proto_reader fields = proto_reader_into(entry);
	struct proto_field field;
	int got, result = 0;

	if (!row)
		return -ENOMEM;
	while (result == 0 && (got = xread_next(load, &fields, &field, "a map")) != 0) {
		if (got < 0)
			return got;
		if (field.number == XMAP_KEY && field.wire == PROTO_VARINT)
			row->id = (int64_t)field.value;
		else if (field.number == XMAP_VALUE && field.wire == PROTO_BYTES)
			result = read_value(load, proto_reader_into(&field), is_stat, row);
	}
	return result;
}

static int sort_metas(struct xread_metas *metas)
{
	struct sort_row *order = malloc(((size_t)metas->count + 1) * sizeof(*order));
	struct xread_meta *rows = calloc((size_t)metas->count + 1, sizeof(*rows));
	int err = order && rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < metas->count && err == 0; i++)
		order[i] = (struct sort_row){(uint64_t)metas->rows[i].id, i};
	if (err == 0)
		err = sort_rows(order, metas->count);
	if (err == 0) {
		for (uint32_t i = 0; i < metas->count; i++)
			rows[i] = metas->rows[order[i].index];
		free(metas->rows);
		metas->rows = rows;
		rows = NULL;
	}
	free(rows);
	free(order);
	return err;
}

int xread_metas_read(struct xread_load *load, struct xread_plane *plane)
{
	struct proto_reader fields = plane->body;
	struct proto_field field;
	int got, result = 0;

	xread_metas_release(plane);
	while (result == 0 && (got = xread_next(load, &fields, &field, "a plane")) != 0) {
		if (got < 0)
			return got;
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == XPLANE_EVENT_METADATA)
			result = read_entry(load, &field, false, &plane->events);
		else if (field.number == XPLANE_STAT_METADATA)
			result = read_entry(load, &field, true, &plane->stats);
	}
	if (result == 0)
		result = sort_metas(&plane->events);
	return result == 0 ? sort_metas(&plane->stats) : result;
}

void xread_metas_release(struct xread_plane *plane)
{
	free(plane->events.rows);
	free(plane->stats.rows);
	plane->events = plane->stats = (struct xread_metas){0};
}

const struct xread_meta *xread_meta_find(const struct xread_metas *metas, int64_t id)
{
	uint64_t key = (uint64_t)id;
	uint32_t low = 0, high = metas->count;

	/* fast path: writers number from 1 without gaps */
	if (key - 1 < metas->count && metas->rows[key - 1].id == id)
		return &metas->rows[key - 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((uint64_t)metas->rows[middle].id < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < metas->count && metas->rows[low].id == id ? &metas->rows[low] : NULL;
}
