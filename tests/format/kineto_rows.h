/* A Kineto file as a JSON library that is not ours reads it. */
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

/* Fails the test if what the writer puts out is no JSON. COMPAT may be NULL. */
struct kineto_file kineto_write(const struct trace *trace, const char *compat);
void kineto_release(struct kineto_file *file);

/* A member; NULL if there is none. */
struct json_object *kineto_get(struct json_object *object, const char *key);
struct json_object *kineto_arg(struct json_object *row, const char *key);

/* These fail the test when the member is not there or is another thing. The text of a number as it
 * stands in the file. */
const char *kineto_text(struct json_object *object, const char *key);
const char *kineto_digits(struct json_object *object, const char *key);
long long kineto_number(struct json_object *object, const char *key);

/* Of an array, which it must be. */
size_t kineto_length(struct json_object *array);
struct json_object *kineto_at(struct json_object *array, size_t index);

/* The INDEX-th row of a category (CAT), of a phase, with a name (each may be NULL); NULL if there are fewer. */
struct json_object *kineto_find(const struct kineto_file *file, const char *cat, const char *name,
				size_t index);
size_t kineto_count(const struct kineto_file *file, const char *ph, const char *cat);

#endif
