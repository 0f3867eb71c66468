/* Reads Kineto files with json-c: kineto_rows.h. */
#include "kineto_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "sample.h"

static void put(void *object)
{
	json_object_put(object);
}

struct kineto_file kineto_write(const struct trace *trace, const char *compat)
{
	const struct format_options options = {.compat = compat, .rank = 5};
	struct json_tokener *tokener = json_tokener_new();
	struct kineto_file file = {.text = NULL};

	file.text = sample_write(trace, &format_kineto, &options, &file.bytes);
	assert_int_equal(strlen(file.text), file.bytes);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	file.root = json_tokener_parse_ex(tokener, file.text, (int)file.bytes + 1);
	if (!file.root)
		fail_msg("%s at %zu", json_tokener_error_desc(json_tokener_get_error(tokener)),
			 json_tokener_get_parse_end(tokener));
	keep(file.root, put);
	json_tokener_free(tokener);
	file.rows = kineto_get(file.root, "traceEvents");
	file.count = kineto_length(file.rows);
	return file;
}

struct json_object *kineto_get(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	json_object_object_get_ex(object, key, &member);
	return member;
}

struct json_object *kineto_arg(struct json_object *row, const char *key)
{
	return kineto_get(kineto_get(row, "args"), key);
}

static struct json_object *get_typed(struct json_object *object, const char *key,
				     enum json_type type, enum json_type other)
{
	struct json_object *member = kineto_get(object, key);

	if (!json_object_is_type(member, type) && !json_object_is_type(member, other))
		fail_msg("no \"%s\" of that type", key);
	return member;
}

const char *kineto_text(struct json_object *object, const char *key)
{
	return json_object_get_string(get_typed(object, key, json_type_string, json_type_string));
}

/* For a number with a decimal point json-c keeps the text of the file. */
const char *kineto_digits(struct json_object *object, const char *key)
{
	return json_object_get_string(get_typed(object, key, json_type_int, json_type_double));
}

long long kineto_number(struct json_object *object, const char *key)
{
	return json_object_get_int64(get_typed(object, key, json_type_int, json_type_int));
}

size_t kineto_length(struct json_object *array)
{
	assert_true(json_object_is_type(array, json_type_array));
	return json_object_array_length(array);
}

struct json_object *kineto_at(struct json_object *array, size_t index)
{
	assert_true(index < kineto_length(array));
	return json_object_array_get_idx(array, index);
}

static bool is_text(struct json_object *row, const char *key, const char *wanted)
{
	struct json_object *value = kineto_get(row, key);

	return !wanted || (json_object_is_type(value, json_type_string) &&
			   strcmp(json_object_get_string(value), wanted) == 0);
}

struct json_object *kineto_find(const struct kineto_file *file, const char *cat, const char *name,
				size_t index)
{
	for (size_t i = 0; i < file->count; i++) {
		struct json_object *row = kineto_at(file->rows, i);

		if (is_text(row, "cat", cat) && is_text(row, "name", name) && index-- == 0)
			return row;
	}
	return NULL;
}

size_t kineto_count(const struct kineto_file *file, const char *ph, const char *cat)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct json_object *row = kineto_at(file->rows, i);

		count += is_text(row, "ph", ph) && is_text(row, "cat", cat);
	}
	return count;
}
