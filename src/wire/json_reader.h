/* A JSON reader: calls a handler for each token of a text of any length, which it gets in pieces.
 *
 * Memory is bounded by the longest text or number, which may have JSON_TOKEN_MOST bytes. Values
 * nest up to JSON_READ_DEPTH_MOST deep. The handler gets numbers as text, unconverted. Texts need
 * not be UTF-8. Threading: nothing is shared between calls; the handler runs on the caller's
 * thread. */
#ifndef DAGTAP_WIRE_JSON_READER_H
#define DAGTAP_WIRE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JSON_TOKEN_MOST	     (64u << 20)
#define JSON_READ_DEPTH_MOST 512

/* The caller's functions. All but next are called once per token; returning false stops the
 * reading. The bytes of a key, text or number are not terminated, and valid during the call
 * only. */
struct json_handler {
	bool (*begin)(void *context, bool is_object); /* of an object or array */
	bool (*end)(void *context, bool is_object);
	bool (*key)(void *context, const char *text, size_t bytes);
	bool (*text)(void *context, const char *text, size_t bytes); /* escapes are resolved */
	bool (*number)(void *context, const char *text, size_t bytes);
	bool (*literal)(void *context, const char *text); /* "true", "false", "null" */

	/* Gets the next piece of the text and returns its length; 0 at the end. The piece must stay
	 * valid until the next call of next, and until json_read returns. */
	size_t (*next)(void *context, const char **ret_piece);
};

/* Where and why reading stopped. */
struct json_stop {
	uint64_t offset;   /* bytes from the beginning of the text */
	const char *cause; /* static */
	bool is_cut_off;   /* the text ended within a value */
};

/* Reads one value, which must be all of the text. Returns 0; -EBADMSG if the text is not
 * well-formed, too deep, or has a token that is too long (then *RET_STOP is filled); -ECANCELED
 * if the handler returned false; -ENOMEM. */
int json_read(const struct json_handler *handler, void *context, struct json_stop *ret_stop);

#ifdef __cplusplus
}
#endif

#endif
