/* Attributes of scopes, and of rows of other tools' files, as arguments of a row. */
#include <inttypes.h>

#include "format/kineto/kineto_writer.h"

static void put_value(struct kineto *kineto, const struct trace_scope_attribute *attribute)
{
	struct pieces *text = &kineto->row;

	switch (attribute->kind) {
	case RECORD_ATTRIBUTE_INT64:
		if (attribute->value.int64 < 0)
			kineto_text_put(text, "%" PRId64, attribute->value.int64);
		else
			kineto_text_u64(text, attribute->value.uint64);
		break;
	case RECORD_ATTRIBUTE_UINT64:
		kineto_text_u64(text, attribute->value.uint64);
		break;
	case RECORD_ATTRIBUTE_DOUBLE:
		kineto_text_double(text, attribute->value.float64);
		break;
	default:
		kineto_text_repeat(text, &kineto->text,
				   kineto_quoted(kineto, attribute->value.text));
	}
}

/* True for keys that rows have themselves. An attribute of the same name would hide the row's own
 * value. */
static bool is_own_key(const char *key)
{
	static const char *const keys[] = {"External id",
					   "scope id",
					   "parent External id",
					   "scope kind",
					   "open",
					   "device",
					   "stream",
					   "correlation",
					   "result",
					   "registers per thread",
					   "shared memory",
					   "grid",
					   "block",
					   "kind",
					   "fromDevice",
					   "toDevice",
					   "bytes",
					   "memory bandwidth (GB/s)",
					   "blit kernel",
					   "hsa_queue",
					   "graph id",
					   "replay",
					   "graph node id",
					   "node",
					   "graph node External id",
					   "graph node confidence",
					   "graph launch correlation"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(key, keys[i]) == 0)
			return true;
	}
	return false;
}

/* As is_own_key, looked up once for each string. */
static bool is_own(struct kineto *kineto, trace_string key)
{
	struct kineto_string *entry = &kineto->strings[key];

	if (entry->is_own_key == 0)
		entry->is_own_key = is_own_key(trace_text(kineto->trace, key)) ? 1 : 2;
	return entry->is_own_key == 1;
}

static bool is_said_before(const struct trace *trace, uint32_t first, uint32_t row)
{
	for (uint32_t i = first; i < row; i++) {
		if (trace->scope_attributes[i].key == trace->scope_attributes[row].key)
			return true;
	}
	return false;
}

void kineto_put_attributes(struct kineto *kineto, uint32_t first, uint32_t count)
{
	static const struct pieces signs = {.bytes = ",:"};
	static const struct piece comma = {0, 1, true}, colon = {1, 1, true};
	const struct trace *trace = kineto->trace;

	for (uint32_t i = first; i < first + count; i++) {
		const struct trace_scope_attribute *attribute = &trace->scope_attributes[i];

		if (is_own(kineto, attribute->key) || is_said_before(trace, first, i))
			continue;
		kineto_text_repeat(&kineto->row, &signs, comma);
		kineto_text_repeat(&kineto->row, &kineto->text,
				   kineto_quoted(kineto, attribute->key));
		kineto_text_repeat(&kineto->row, &signs, colon);
		put_value(kineto, attribute);
	}
}

struct piece kineto_find_set(struct kineto *kineto, const uint32_t *sets, uint32_t row)
{
	const struct trace_attribute_set *set;
	struct piece *piece;
	size_t begin;

	if (!sets)
		return (struct piece){0};
	set = &kineto->trace->attribute_sets[sets[row]];
	piece = &kineto->sets[sets[row]];
	if (piece->bytes == 0 && set->count > 0) {
		kineto_put_attributes(kineto, set->first, set->count);
		begin = kineto->text.used;
		kineto_text_repeat(&kineto->text, &kineto->row, pieces_since(&kineto->row, 0));
		kineto->row.used = 0;
		*piece = pieces_since(&kineto->text, begin);
	}
	return *piece;
}
