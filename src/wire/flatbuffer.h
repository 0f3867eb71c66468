/* Writes messages in the FlatBuffers encoding (https://flatbuffers.dev/internals/): tables with
 * optional fields, vectors, strings.
 *
 * A message is built from its end to its begin, so what a table refers to is written before it: its
 * vectors, strings and inner tables first, then flatbuffer_begin, the fields, and flatbuffer_end.
 * Only one table is open at a time.
 *
 * What is written has a place, the number of bytes from its begin to the end of the message; 0
 * means none. Threading: a message belongs to one thread. Errors: out of memory is remembered in
 * `failed`, so callers check once, at the end. */
#ifndef DAGTAP_WIRE_FLATBUFFER_H
#define DAGTAP_WIRE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLATBUFFER_SLOTS 8

struct flatbuffer {
	uint8_t *bytes; /* the last `size` of `room` are written; owned */
	size_t size, room;
	bool failed;
	/* The open table: its end, and the place of each field. */
	size_t table_end;
	uint32_t fields[FLATBUFFER_SLOTS];
};

/* Starts a new message in the memory of the last one. A zeroed struct is a new message, too. */
void flatbuffer_restart(struct flatbuffer *message);
void flatbuffer_release(struct flatbuffer *message);

/* Write a text of BYTES bytes, a vector of COUNT places, and a vector of COUNT structs of
 * STRUCT_BYTES bytes, which have fields of at most 8 bytes. Each returns its place. */
uint32_t flatbuffer_string(struct flatbuffer *message, const char *text, size_t bytes);
uint32_t flatbuffer_places(struct flatbuffer *message, const uint32_t *places, uint32_t count);
uint32_t flatbuffer_structs(struct flatbuffer *message, const void *structs, uint32_t count,
			    size_t struct_bytes);

/* Opens a table; adds the field of SLOT, a number of BYTES bytes or what has PLACE; closes the
 * table and returns its place. A field that is 0, or has no place, is left out: readers take it for
 * the default, 0. */
void flatbuffer_begin(struct flatbuffer *message);
void flatbuffer_number(struct flatbuffer *message, unsigned slot, uint64_t value, size_t bytes);
void flatbuffer_place(struct flatbuffer *message, unsigned slot, uint32_t place);
uint32_t flatbuffer_end(struct flatbuffer *message);

/* Ends the message, whose root is the table with PLACE. Returns its begin, which belongs to MESSAGE
 * until the next call, with a multiple of 8 bytes; NULL if memory ran out. */
const void *flatbuffer_finish(struct flatbuffer *message, uint32_t place, size_t *ret_bytes);

#endif
