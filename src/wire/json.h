/* A JSON writer: writes to a stream as values come, allocates nothing, and always writes
 * well-formed UTF-8.
 *
 * Threading: one thread per writer. Errors are kept: after the first one nothing more is written,
 * and json_finish returns it, so callers need not check every call. Wrong use (a value without a
 * key in an object, an end without its begin, more than JSON_DEPTH_MAX levels) is such an error
 * too: -EINVAL.
 *
 *	json_init(&json, stdout);
 *	json_object_begin(&json);
 *	json_put_u64(&json, "kernels", 40000);
 *	json_key(&json, "names");
 *	json_array_begin(&json);
 *	json_text(&json, "bubble");
 *	json_array_end(&json);
 *	json_object_end(&json);
 *	error = json_finish(&json); */
#ifndef DAGTAP_WIRE_JSON_H
#define DAGTAP_WIRE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 60

struct json {
	FILE *out;
	int error;	      /* the first one, a negative errno; 0 = none */
	unsigned depth;	      /* open objects and arrays */
	unsigned row_depth;   /* level at which the outermost row began, 0 = not in a row */
	uint64_t is_object;   /* one bit per level */
	uint64_t has_element; /* one bit per level */
	bool has_key;	      /* a key was written, its value was not */
};

/* The writer writes to OUT, which stays the caller's. Needs no release. */
void json_init(struct json *json, FILE *out);

/* Writes a newline and flushes the stream. Returns 0 or the first error, a negative errno. */
int json_finish(struct json *json);

/* Each level is written on lines of its own, indented by two spaces per level. */
void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

/* Begins an object that is written on one line with everything in it. json_object_end ends it. */
void json_row_begin(struct json *json);

/* A key of the innermost object. Its value must follow. */
void json_key(struct json *json, const char *key);

/* A string. Each byte that is not part of a UTF-8 character becomes U+FFFD. NULL becomes null. */
void json_text(struct json *json, const char *text);

/* A string of BYTES bytes, which need not be terminated. */
void json_text_n(struct json *json, const char *text, size_t bytes);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);

/* The shortest digits, from 15 on, that read back as VALUE. Infinities and NaN, which JSON does
 * not have, become null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Writes TEXT as a JSON string with its quotes to TO, for code that composes JSON itself. TO must
 * have room for JSON_QUOTED_BYTES(BYTES). Returns the number of bytes written; they are not
 * terminated. */
#define JSON_QUOTED_BYTES(bytes) (6 * (bytes) + 2)
size_t json_quote(const char *text, size_t bytes, char *to);

/* Writes VALUE to TO as json_double does, terminated. Returns the number of bytes without the
 * terminator. */
#define JSON_DOUBLE_BYTES 40
size_t json_print_double(double value, char to[JSON_DOUBLE_BYTES]);

/* These write a key and its value. */
void json_put_text(struct json *json, const char *key, const char *value);
void json_put_u64(struct json *json, const char *key, uint64_t value);
void json_put_i64(struct json *json, const char *key, int64_t value);
void json_put_double(struct json *json, const char *key, double value);
void json_put_bool(struct json *json, const char *key, bool value);

#endif
