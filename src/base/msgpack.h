/* A reader of MessagePack (github.com/msgpack/msgpack, spec.md), as far as metadata of code objects
 * uses it: numbers that are not negative, texts, arrays and maps. Other values are skipped. It
 * copies nothing: texts stay in the caller's bytes, and a map is searched again for each key. The
 * bytes may be anything; all of them are checked. Any thread; no allocation. */
#ifndef DAGTAP_BASE_MSGPACK_H
#define DAGTAP_BASE_MSGPACK_H

#include <stdbool.h>
#include <stdint.h>

/* A position in the bytes. Reading a value moves AT behind it. After a failure, is_broken stays
 * set, and what is read means nothing. */
struct msgpack {
	const uint8_t *at;
	const uint8_t *end;
	bool is_broken;
};

enum msgpack_type {
	MSGPACK_OTHER,
	MSGPACK_NUMBER,
	MSGPACK_TEXT,
	MSGPACK_ARRAY,
	MSGPACK_MAP,
};

struct msgpack_value {
	enum msgpack_type type;
	uint64_t number;  /* the number; or the count of bytes, elements or pairs */
	const char *text; /* of MSGPACK_TEXT; no NUL at its end */
};

/* Reads the next value; of an array or a map only its head, so that READER is at the first element
 * or key. */
struct msgpack_value msgpack_take(struct msgpack *reader);

/* Moves READER behind the next value. Values nested more than 16 deep count as broken. */
void msgpack_skip(struct msgpack *reader);

/* Whether VALUE is the text TEXT. */
bool msgpack_is_text(const struct msgpack_value *value, const char *text);

/* Finds KEY in the map at MAP, which does not move, and gives the position of its value. False:
 * there is no map, no such key, or the bytes are broken. */
bool msgpack_find(const struct msgpack *map, const char *key, struct msgpack *ret_value);

#endif
