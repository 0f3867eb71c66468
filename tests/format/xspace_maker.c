/* Encodes XSpaces by hand: xspace_maker.h. */
#include "xspace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static unsigned id_of(struct maker_names *names, const char *name)
{
	for (unsigned i = 0; i < names->count; i++) {
		if (strcmp(names->rows[i], name) == 0)
			return i + 1;
	}
	assert_true(names->count < MAKER_NAMES_MOST);
	names->rows[names->count] = name;
	return ++names->count;
}

static void end_line(struct maker *maker)
{
	if (maker->in_line)
		proto_end(&maker->bytes, maker->line_mark);
	maker->in_line = 0;
}

static void put_names(struct maker *maker, uint32_t field, const struct maker_names *names)
{
	for (unsigned i = 0; i < names->count; i++) {
		size_t entry = proto_begin(&maker->bytes, field), value;

		proto_put_u64(&maker->bytes, 1, i + 1);
		value = proto_begin(&maker->bytes, 2);
		proto_put_u64(&maker->bytes, 1, i + 1);
		proto_put_text(&maker->bytes, 2, names->rows[i]);
		proto_end(&maker->bytes, value);
		proto_end(&maker->bytes, entry);
	}
}

static void end_plane(struct maker *maker)
{
	end_line(maker);
	if (!maker->in_plane)
		return;
	put_names(maker, 4, &maker->events);
	put_names(maker, 5, &maker->stats);
	proto_end(&maker->bytes, maker->plane_mark);
	maker->events.count = maker->stats.count = 0;
	maker->in_plane = 0;
}

void maker_plane(struct maker *maker, const char *name, int64_t id)
{
	end_plane(maker);
	maker->plane_mark = proto_begin(&maker->bytes, 1);
	maker->in_plane = 1;
	if (id)
		proto_put_i64(&maker->bytes, 1, id);
	proto_put_text(&maker->bytes, 2, name);
}

static void put_stat(struct maker *maker, uint32_t field, const struct maker_stat *stat)
{
	struct proto *bytes = &maker->bytes;
	unsigned id = id_of(&maker->stats, stat->key);
	unsigned ref = stat->kind == MAKER_REF ? id_of(&maker->stats, stat->text) : 0;
	size_t mark = proto_begin(bytes, field);

	proto_put_u64(bytes, 1, id);
	switch (stat->kind) {
	case MAKER_U64:
		proto_put_u64(bytes, 3, stat->u64);
		break;
	case MAKER_I64:
		proto_put_u64(bytes, 4, stat->u64);
		break;
	case MAKER_DOUBLE:
		proto_put_double(bytes, 2, stat->number);
		break;
	case MAKER_TEXT:
		proto_put_text(bytes, 5, stat->text);
		break;
	case MAKER_NEWER:
		proto_put_text(bytes, 5, stat->text);
		proto_put_u64(bytes, 100, stat->u64);
		break;
	case MAKER_REF:
		proto_put_u64(bytes, 7, ref);
		break;
	case MAKER_BYTES:
		proto_put_bytes(bytes, 6, stat->text, strlen(stat->text));
		break;
	}
	proto_end(bytes, mark);
}

void maker_plane_stats(struct maker *maker, const struct maker_stat *stats)
{
	end_line(maker);
	for (; stats->key; stats++)
		put_stat(maker, 6, stats);
}

void maker_pair(struct maker *maker, uint64_t child, uint64_t parent)
{
	size_t mark = proto_begin(&maker->bytes, 6);

	proto_put_u64(&maker->bytes, 1, child);
	proto_put_u64(&maker->bytes, 4, parent);
	proto_end(&maker->bytes, mark);
}

void maker_line(struct maker *maker, int64_t id, const char *name, int64_t timestamp_ns)
{
	end_line(maker);
	maker->line_mark = proto_begin(&maker->bytes, 3);
	maker->in_line = 1;
	proto_put_i64(&maker->bytes, 1, id);
	proto_put_text(&maker->bytes, 2, name);
	proto_put_i64(&maker->bytes, 3, timestamp_ns);
}

void maker_event(struct maker *maker, const char *name, uint64_t offset_ps, uint64_t duration_ps,
		 const struct maker_stat *stats)
{
	size_t mark = proto_begin(&maker->bytes, 4);

	proto_put_u64(&maker->bytes, 1, id_of(&maker->events, name));
	proto_put_u64(&maker->bytes, 2, offset_ps);
	if (duration_ps)
		proto_put_u64(&maker->bytes, 3, duration_ps);
	for (; stats->key; stats++)
		put_stat(maker, 4, stats);
	proto_end(&maker->bytes, mark);
}

void maker_aggregate(struct maker *maker, const char *name, uint64_t occurrences)
{
	size_t mark = proto_begin(&maker->bytes, 4);

	proto_put_u64(&maker->bytes, 1, id_of(&maker->events, name));
	proto_put_u64(&maker->bytes, 3, 1000);
	proto_put_u64(&maker->bytes, 5, occurrences);
	proto_end(&maker->bytes, mark);
}

void maker_warning(struct maker *maker, const char *text)
{
	end_plane(maker);
	proto_put_text(&maker->bytes, 3, text);
}

void maker_finish(struct maker *maker)
{
	end_plane(maker);
	assert_int_equal(maker->bytes.error, 0);
}
