/* Attributes of scopes, and of rows of other tools' files, as arguments of a row. */
#include <inttypes.h>
#include <string.h>

#include "format/kineto/kineto_writer.h"

#define LIST_DEPTH_MOST 16 /* of a value that is written as JSON */

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

/* Keys that rows have themselves. An attribute of the same name would hide the row's own value. */
static const char *const own_keys[] = {"External id",
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

/* Keys with a meaning to Kineto's readers. They are written by Kineto itself, by PyTorch into NVTX
 * texts, and by dagtap.torch. */
static const struct {
	const char *text;
	enum kineto_key key;
} known_keys[] = {
	{"Input Dims", KINETO_KEY_DIMS},
	{"sizes", KINETO_KEY_DIMS},
	{"input_dims", KINETO_KEY_DIMS},
	{"Input type", KINETO_KEY_TYPES},
	{"input_types", KINETO_KEY_TYPES},
	{"Input Strides", KINETO_KEY_STRIDES},
	{"input_strides", KINETO_KEY_STRIDES},
	{"Concrete Inputs", KINETO_KEY_CONCRETE},
	{"concrete_inputs", KINETO_KEY_CONCRETE},
	{"Sequence number", KINETO_KEY_SEQUENCE},
	{"seq", KINETO_KEY_SEQUENCE},
	{"Record function id", KINETO_KEY_FUNCTION},
	{"op_id", KINETO_KEY_FUNCTION},
	{"module", KINETO_KEY_MODULE},
	{"cat", KINETO_KEY_CATEGORY},
};

/* By enum kineto_key: the name in the file, NULL for the key's own text. */
static const char *const written_keys[KINETO_KEY_COUNT] = {
	[KINETO_KEY_DIMS] = "\"Input Dims\"",
	[KINETO_KEY_TYPES] = "\"Input type\"",
	[KINETO_KEY_STRIDES] = "\"Input Strides\"",
	[KINETO_KEY_CONCRETE] = "\"Concrete Inputs\"",
	[KINETO_KEY_SEQUENCE] = "\"Sequence number\"",
	[KINETO_KEY_FUNCTION] = "\"Record function id\"",
};

static enum kineto_key find_key(const char *text)
{
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(*own_keys); i++)
		if (strcmp(text, own_keys[i]) == 0)
			return KINETO_KEY_OWN;
	for (size_t i = 0; i < sizeof(known_keys) / sizeof(*known_keys); i++)
		if (strcmp(text, known_keys[i].text) == 0)
			return known_keys[i].key;
	return KINETO_KEY_OTHER;
}

enum kineto_key kineto_key_of(struct kineto *kineto, trace_string key)
{
	struct kineto_string *entry = &kineto->strings[key];

	if (entry->key == KINETO_KEY_NOT_ASKED)
		entry->key = (uint8_t)find_key(trace_text(kineto->trace, key));
	return (enum kineto_key)entry->key;
}

/* Whether an attribute before ROW is written under the same name. */
static bool is_said_before(struct kineto *kineto, uint32_t first, uint32_t row)
{
	const struct trace_scope_attribute *attributes = kineto->trace->scope_attributes;
	enum kineto_key key = kineto_key_of(kineto, attributes[row].key);

	for (uint32_t i = first; i < row; i++) {
		if (attributes[i].key == attributes[row].key ||
		    (written_keys[key] && kineto_key_of(kineto, attributes[i].key) == key))
			return true;
	}
	return false;
}

/* The end of the integer at TEXT, as JSON has it; TEXT if there is none. */
static const char *skip_integer(const char *text)
{
	const char *digits = text + (*text == '-');
	size_t count = strspn(digits, "0123456789");

	return count == 0 || (count > 1 && *digits == '0') ? text : digits + count;
}

/* The end of the text in quotes at TEXT, of ASCII that JSON has as it is; TEXT if there is none. */
static const char *skip_quoted(const char *text)
{
	const char *end = text + 1;

	if (*text != '"')
		return text;
	while (*end >= ' ' && *end < 0x7f && *end != '"' && *end != '\\')
		end++;
	return *end == '"' ? end + 1 : text;
}

/* True for a list of integers, lists and, if it HAS_TEXTS, texts, which is JSON as it stands. */
static bool is_list(const char *text, bool has_texts)
{
	size_t depth = 0;
	bool may_end = true; /* the list may end here, because it is empty */

	do {
		const char *end;

		text += strspn(text, " ");
		end = has_texts && *text == '"' ? skip_quoted(text) : skip_integer(text);
		if (*text == '[' && depth < LIST_DEPTH_MOST) {
			depth++;
			text++;
			may_end = true;
			continue;
		}
		if (depth == 0 || (end == text && !(may_end && *text == ']')))
			return false;
		/* behind a value: further ends of lists, then a comma or the end of the text */
		text = end;
		for (; text += strspn(text, " "), *text == ']' && depth; depth--)
			text++;
		may_end = false;
		if (depth && *text++ != ',')
			return false;
	} while (depth);
	return *text == '\0';
}

/* True if TEXT, the value of an attribute with KEY, is written as the list that it is. */
static bool is_list_of(enum kineto_key key, const char *text)
{
	switch (key) {
	case KINETO_KEY_DIMS:
	case KINETO_KEY_STRIDES:
		return is_list(text, false);
	case KINETO_KEY_TYPES:
	case KINETO_KEY_CONCRETE:
		return is_list(text, true);
	default:
		return false;
	}
}

/* Appends the name of KEY, whose text is STRING, between a comma and a colon. */
static void put_key(struct kineto *kineto, enum kineto_key key, trace_string string)
{
	struct pieces *row = &kineto->row;
	struct piece quoted = written_keys[key] ? (struct piece){0} : kineto_quoted(kineto, string);
	size_t most = written_keys[key] ? strlen(written_keys[key]) : quoted.bytes;
	char *at;

	if (!pieces_reserve(row, most + 2))
		return;
	at = row->bytes + row->used;
	*at++ = ',';
	at = written_keys[key] ? kineto_put_z(at, written_keys[key])
			       : pieces_copy(at, &kineto->text, quoted);
	*at++ = ':';
	row->used = (size_t)(at - row->bytes);
}

static void put_attribute(struct kineto *kineto, const struct trace_scope_attribute *attribute)
{
	enum kineto_key key = kineto_key_of(kineto, attribute->key);
	const char *text = attribute->kind == RECORD_ATTRIBUTE_TEXT
				   ? trace_text(kineto->trace, attribute->value.text)
				   : "";

	put_key(kineto, key, attribute->key);
	if (is_list_of(key, text))
		pieces_add(&kineto->row, text, strlen(text));
	else
		put_value(kineto, attribute);
}

void kineto_put_attributes(struct kineto *kineto, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		const struct trace_scope_attribute *attribute = &kineto->trace->scope_attributes[i];

		if (kineto_key_of(kineto, attribute->key) != KINETO_KEY_OWN &&
		    !is_said_before(kineto, first, i))
			put_attribute(kineto, attribute);
	}
}

struct piece kineto_make_set(struct kineto *kineto, uint32_t number)
{
	const struct trace_attribute_set *set = &kineto->trace->attribute_sets[number];
	struct piece *piece = &kineto->sets[number];
	size_t begin;

	if (piece->bytes == 0 && set->count > 0) {
		kineto_put_attributes(kineto, set->first, set->count);
		begin = kineto->text.used;
		kineto_text_repeat(&kineto->text, &kineto->row, pieces_since(&kineto->row, 0));
		kineto->row.used = 0;
		*piece = pieces_since(&kineto->text, begin);
	}
	return *piece;
}
