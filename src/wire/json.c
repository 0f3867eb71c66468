/* The JSON writer: punctuation by level, quoting, numbers. */
#include "wire/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wire/utf8.h"

void json_init(struct json *json, FILE *out)
{
	*json = (struct json){.out = out};
}

static void fail(struct json *json, int err)
{
	if (!json->error)
		json->error = err;
}

static void put(struct json *json, const char *bytes, size_t count)
{
	if (json->error)
		return;
	errno = 0;
	if (fwrite(bytes, 1, count, json->out) != count)
		fail(json, errno ? -errno : -EIO);
}

static void put_string(struct json *json, const char *string)
{
	put(json, string, strlen(string));
}

static bool level_has(uint64_t bits, unsigned depth)
{
	return bits >> depth & 1;
}

static void line_break(struct json *json)
{
	if (json->row_depth) {
		put_string(json, " ");
		return;
	}
	put_string(json, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		put_string(json, "  ");
}

/* Writes the comma and the line break before a key or an element of an array. */
static void begin_element(struct json *json)
{
	if (level_has(json->has_element, json->depth))
		put_string(json, ",");
	if (level_has(json->has_element, json->depth) || !json->row_depth)
		line_break(json);
	json->has_element |= UINT64_C(1) << json->depth;
}

/* Checks that a value may come here, and writes what precedes it. */
static void begin_value(struct json *json)
{
	bool in_object = level_has(json->is_object, json->depth);
	bool second_root = json->depth == 0 && level_has(json->has_element, 0);

	if (in_object != json->has_key || second_root) {
		fail(json, -EINVAL);
		return;
	}
	if (json->depth == 0)
		json->has_element |= 1;
	else if (!in_object)
		begin_element(json);
	json->has_key = false;
}

static void open_level(struct json *json, bool is_object)
{
	begin_value(json);
	if (json->depth == JSON_DEPTH_MAX)
		fail(json, -EINVAL);
	if (json->error)
		return;
	put_string(json, is_object ? "{" : "[");
	json->depth++;
	json->has_element &= ~(UINT64_C(1) << json->depth);
	json->is_object &= ~(UINT64_C(1) << json->depth);
	json->is_object |= (uint64_t)is_object << json->depth;
}

static void close_level(struct json *json, bool is_object)
{
	bool empty = !level_has(json->has_element, json->depth);

	if (json->depth == 0 || json->has_key ||
	    level_has(json->is_object, json->depth) != is_object) {
		fail(json, -EINVAL);
		return;
	}
	json->depth--;
	if (!empty && !json->row_depth)
		line_break(json);
	put_string(json, is_object ? "}" : "]");
	if (json->depth < json->row_depth)
		json->row_depth = 0;
}

void json_object_begin(struct json *json)
{
	open_level(json, true);
}

void json_row_begin(struct json *json)
{
	open_level(json, true);
	if (!json->row_depth)
		json->row_depth = json->depth;
}

void json_object_end(struct json *json)
{
	close_level(json, true);
}

void json_array_begin(struct json *json)
{
	open_level(json, false);
}

void json_array_end(struct json *json)
{
	close_level(json, false);
}

/* Number of first bytes of TEXT that need no escape in a JSON string. */
static size_t plain_length(const char *text, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		unsigned char byte = (unsigned char)text[done];
		size_t length = utf8_character(text + done, bytes - done);

		if (length == 0 || byte < 0x20 || byte == '"' || byte == '\\')
			break;
		done += length;
	}
	return done;
}

/* Writes the escape of CHARACTER, or the replacement of a byte that is not UTF-8, to TO: six
 * bytes at most. Returns how many. */
static size_t escape(char character, char *to)
{
	static const char from[] = "\"\\\n\t\r\b\f";
	static const char letters[] = "\"\\ntrbf";
	const char *found = character ? strchr(from, character) : NULL;
	char text[8];

	if ((unsigned char)character >= 0x80) {
		memcpy(to, UTF8_REPLACEMENT, UTF8_REPLACEMENT_BYTES);
		return UTF8_REPLACEMENT_BYTES;
	}
	if (found) {
		to[0] = '\\';
		to[1] = letters[found - from];
		return 2;
	}
	snprintf(text, sizeof(text), "\\u%04x", (unsigned)character);
	memcpy(to, text, 6);
	return 6;
}

static void put_quoted(struct json *json, const char *text, size_t bytes)
{
	char escaped[8];

	put_string(json, "\"");
	while (bytes > 0) {
		size_t plain = plain_length(text, bytes);

		put(json, text, plain);
		text += plain;
		bytes -= plain;
		if (bytes > 0) {
			put(json, escaped, escape(*text, escaped));
			text++;
			bytes--;
		}
	}
	put_string(json, "\"");
}

size_t json_quote(const char *text, size_t bytes, char *to)
{
	char *at = to;

	*at++ = '"';
	while (bytes > 0) {
		size_t plain = plain_length(text, bytes);

		memcpy(at, text, plain);
		at += plain;
		text += plain;
		bytes -= plain;
		if (bytes > 0) {
			at += escape(*text, at);
			text++;
			bytes--;
		}
	}
	*at++ = '"';
	return (size_t)(at - to);
}

void json_key(struct json *json, const char *key)
{
	if (json->has_key || !level_has(json->is_object, json->depth)) {
		fail(json, -EINVAL);
		return;
	}
	begin_element(json);
	put_quoted(json, key, strlen(key));
	put_string(json, ": ");
	json->has_key = true;
}

void json_text_n(struct json *json, const char *text, size_t bytes)
{
	begin_value(json);
	put_quoted(json, text, bytes);
}

void json_text(struct json *json, const char *text)
{
	if (text)
		json_text_n(json, text, strlen(text));
	else
		json_null(json);
}

static void put_value(struct json *json, const char *text)
{
	begin_value(json);
	put_string(json, text);
}

void json_u64(struct json *json, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_value(json, digits);
}

void json_i64(struct json *json, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	put_value(json, digits);
}

size_t json_print_double(double value, char to[JSON_DOUBLE_BYTES])
{
	char *point;

	if (!isfinite(value))
		return (size_t)snprintf(to, JSON_DOUBLE_BYTES, "null");
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(to, JSON_DOUBLE_BYTES, "%.*g", precision, value);
		if (strtod(to, NULL) == value)
			break;
	}
	/* The program may have set a locale with another decimal point. */
	point = to + strspn(to, "-+0123456789e");
	if (*point != '\0')
		*point = '.';
	return strlen(to);
}

void json_double(struct json *json, double value)
{
	char digits[JSON_DOUBLE_BYTES];

	json_print_double(value, digits);
	put_value(json, digits);
}

void json_bool(struct json *json, bool value)
{
	put_value(json, value ? "true" : "false");
}

void json_null(struct json *json)
{
	put_value(json, "null");
}

void json_put_text(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_text(json, value);
}

void json_put_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

void json_put_i64(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

void json_put_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

int json_finish(struct json *json)
{
	if (json->depth != 0 || json->has_key || !json->has_element)
		fail(json, -EINVAL);
	put_string(json, "\n");
	if (!json->error && fflush(json->out) != 0)
		fail(json, -errno);
	return json->error;
}
