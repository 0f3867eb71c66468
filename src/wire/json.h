/* A JSON writer: streaming, no allocation, always well-formed UTF-8.
 *
 * One writer belongs to one thread. Errors stick: after the first one nothing more is written and
 * json_finish says what it was, so callers need not check every call. A wrong use (a value without
 * a key in an object, an end without its begin, more than JSON_DEPTH_MAX levels) is such an error
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
 *	error = json_finish(&json);
 */
#ifndef DAGTAP_WIRE_JSON_H
#define DAGTAP_WIRE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 60

struct json {
	FILE *out;
	int error;
	unsigned depth;
	unsigned row_depth;   /* level at which the innermost row began, 0 = not in a row */
	uint64_t is_object;   /* one bit a level */
	uint64_t has_element; /* one bit a level */
	bool has_key;	      /* a key was written and waits for its value */
};

/* OUT stays the caller's. */
void json_init(struct json *json, FILE *out);

/* Ends with a newline and flushes. 0, or the first error as negative errno. */
int json_finish(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

/* An object that stays on one line, whatever is in it; ended by json_object_end. */
void json_row_begin(struct json *json);

void json_key(struct json *json, const char *key);

/* Bytes that are not UTF-8 become U+FFFD. NULL is written as null. */
void json_text(struct json *json, const char *text);
void json_text_n(struct json *json, const char *text, size_t bytes);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
/* The shortest digits that read back as VALUE; infinities and NaN, which JSON has not, as null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* The writer's strings for those who put text together themselves: TEXT as a JSON string, quotes and all,
 * into TO, which has room for JSON_QUOTED_BYTES(BYTES). Returns how many bytes it took. */
#define JSON_QUOTED_BYTES(bytes) (6 * (bytes) + 2)
size_t json_quote(const char *text, size_t bytes, char *to);

/* The same for what json_double writes, without an end. */
#define JSON_DOUBLE_BYTES 40
size_t json_print_double(double value, char to[JSON_DOUBLE_BYTES]);

/* A key and its value in one call. */
void json_put_text(struct json *json, const char *key, const char *value);
void json_put_u64(struct json *json, const char *key, uint64_t value);
void json_put_i64(struct json *json, const char *key, int64_t value);
void json_put_double(struct json *json, const char *key, double value);
void json_put_bool(struct json *json, const char *key, bool value);

#endif
