/* A JSON reader: tokens as they come, from pieces of a text of any length.
 *
 * Memory is bounded by the longest text or number, which may have JSON_TOKEN_MOST bytes. Values nest
 * up to JSON_READ_DEPTH_MOST deep. Numbers are handed over as they are written. Texts need not be
 * UTF-8. One call belongs to one thread.
 */
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

/* What is done with each token; false gives up. Texts and numbers are not terminated, and gone afterwards. */
struct json_handler {
	bool (*begin)(void *context, bool is_object);
	bool (*end)(void *context, bool is_object);
	bool (*key)(void *context, const char *text, size_t bytes);
	bool (*text)(void *context, const char *text, size_t bytes);
	bool (*number)(void *context, const char *text, size_t bytes);
	bool (*literal)(void *context, const char *text); /* true, false, null */

	/* The next piece of the text, which stays until the next call. 0 at the end. */
	size_t (*next)(void *context, const char **ret_piece);
};

/* Where reading stopped, and why; CAUSE is static. */
struct json_stop {
	uint64_t offset;
	const char *cause;
	bool is_cut_off; /* the text ended where it could not */
};

/* 0: one value, and nothing behind it. -EBADMSG: RET_STOP says more. -ECANCELED: the handler gave up.
 * -ENOMEM. */
int json_read(const struct json_handler *handler, void *context, struct json_stop *ret_stop);

#ifdef __cplusplus
}
#endif

#endif
