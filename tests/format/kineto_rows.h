/*
 * Reads what the Kineto writer puts out with json-c, so that the tests do not rely on our own JSON
 * reader.
 */
#ifndef DAGTAP_TESTS_FORMAT_KINETO_ROWS_H
#define DAGTAP_TESTS_FORMAT_KINETO_ROWS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/format.h"

struct kineto_file {
	char *text;
	size_t bytes;
	struct json_object *root;
	struct json_object *rows;
	size_t count;
};

/*
 * Writes TRACE as Kineto JSON and parses it; invalid JSON fails the test. COMPAT may be NULL.
 * The case's end releases the file (kept.h).
 */
struct kineto_file kineto_write(const struct trace *trace, const char *compat);

/* Return a member of OBJECT (or of its "args"), NULL if it is absent. The file owns it. */
struct json_object *kineto_get(struct json_object *object, const char *key);
struct json_object *kineto_arg(struct json_object *row, const char *key);

/*
 * These fail the test when the member is absent or has another type. kineto_digits returns a
 * number's text as the file has it.
 */
const char *kineto_text(struct json_object *object, const char *key);
const char *kineto_digits(struct json_object *object, const char *key);
long long kineto_number(struct json_object *object, const char *key);

/* Access an array; fail the test when ARRAY is not one. */
size_t kineto_length(struct json_object *array);
struct json_object *kineto_at(struct json_object *array, size_t index);

/*
 * Returns the INDEX-th row with this category (CAT), name and phase, each of which may be NULL for
 * any; NULL if there are fewer.
 */
struct json_object *kineto_find(const struct kineto_file *file, const char *cat, const char *name,
				size_t index);
size_t kineto_count(const struct kineto_file *file, const char *ph, const char *cat);

#endif
