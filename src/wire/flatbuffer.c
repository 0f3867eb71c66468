/* FlatBuffers, written from the end. */
#include "wire/flatbuffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024

void flatbuffer_restart(struct flatbuffer *message)
{
	message->size = 0;
	message->failed = false;
}

void flatbuffer_release(struct flatbuffer *message)
{
	free(message->bytes);
	*message = (struct flatbuffer){0};
}

/* Makes room for BYTES in front of what is written. Places are 32-bit and offsets signed. */
static bool reserve(struct flatbuffer *message, size_t bytes)
{
	size_t room = message->room ? message->room : FIRST_ROOM;
	uint8_t *larger;

	if (message->failed || message->size + bytes <= message->room)
		return !message->failed;
	while (room < message->size + bytes)
		room *= 2;
	larger = room <= INT32_MAX ? malloc(room) : NULL;
	if (!larger) {
		message->failed = true;
		return false;
	}
	if (message->size)
		memcpy(larger + room - message->size,
		       message->bytes + message->room - message->size, message->size);
	free(message->bytes);
	message->bytes = larger;
	message->room = room;
	return true;
}

/* Puts BYTES of DATA (NULL: zeros) in front. */
static void put(struct flatbuffer *message, const void *data, size_t bytes)
{
	uint8_t *to;

	if (!bytes || !reserve(message, bytes))
		return;
	message->size += bytes;
	to = message->bytes + message->room - message->size;
	if (data)
		memcpy(to, data, bytes);
	else
		memset(to, 0, bytes);
}

/* Adds zeros, so that after BYTES more the size is a multiple of ALIGNMENT. */
static void align(struct flatbuffer *message, size_t alignment, size_t bytes)
{
	put(message, NULL, (alignment - (message->size + bytes) % alignment) % alignment);
}

static uint32_t place_of(const struct flatbuffer *message)
{
	return message->failed ? 0 : (uint32_t)message->size;
}

/* A reference is the distance from itself to what it refers to. */
static void put_reference(struct flatbuffer *message, uint32_t place)
{
	uint32_t distance = (uint32_t)message->size + sizeof(distance) - place;

	put(message, &distance, sizeof(distance));
}

static uint32_t end_vector(struct flatbuffer *message, size_t count)
{
	uint32_t length = (uint32_t)count;

	put(message, &length, sizeof(length));
	return place_of(message);
}

uint32_t flatbuffer_string(struct flatbuffer *message, const char *text, size_t bytes)
{
	align(message, sizeof(uint32_t), bytes + 1);
	put(message, NULL, 1);
	put(message, text, bytes);
	return end_vector(message, bytes);
}

uint32_t flatbuffer_places(struct flatbuffer *message, const uint32_t *places, uint32_t count)
{
	align(message, sizeof(uint32_t), 0);
	for (uint32_t i = count; i > 0; i--)
		put_reference(message, places[i - 1]);
	return end_vector(message, count);
}

uint32_t flatbuffer_structs(struct flatbuffer *message, const void *structs, uint32_t count,
			    size_t struct_bytes)
{
	align(message, sizeof(uint64_t), count * struct_bytes);
	put(message, structs, count * struct_bytes);
	return end_vector(message, count);
}

void flatbuffer_begin(struct flatbuffer *message)
{
	memset(message->fields, 0, sizeof(message->fields));
	message->table_end = message->size;
}

void flatbuffer_number(struct flatbuffer *message, unsigned slot, uint64_t value, size_t bytes)
{
	if (!value)
		return;
	align(message, bytes, bytes);
	put(message, &value, bytes); /* little-endian: the low bytes come first */
	message->fields[slot] = place_of(message);
}

void flatbuffer_place(struct flatbuffer *message, unsigned slot, uint32_t place)
{
	if (!place)
		return;
	align(message, sizeof(uint32_t), sizeof(uint32_t));
	put_reference(message, place);
	message->fields[slot] = place_of(message);
}

/* In front of a table is its vtable: both sizes, then for each slot the distance from the table's
 * begin to the field, or 0. The table begins with the distance to its vtable. */
uint32_t flatbuffer_end(struct flatbuffer *message)
{
	uint16_t vtable[2 + FLATBUFFER_SLOTS] = {0};
	int32_t distance = 0;
	uint32_t place;
	unsigned slots = FLATBUFFER_SLOTS;

	align(message, sizeof(distance), sizeof(distance));
	put(message, &distance, sizeof(distance));
	place = place_of(message);
	while (slots > 0 && !message->fields[slots - 1])
		slots--;
	vtable[0] = (uint16_t)((2 + slots) * sizeof(uint16_t));
	vtable[1] = (uint16_t)(message->size - message->table_end);
	for (unsigned i = 0; i < slots; i++) {
		if (message->fields[i])
			vtable[2 + i] = (uint16_t)(place - message->fields[i]);
	}
	put(message, vtable, vtable[0]);
	if (message->failed)
		return 0;
	distance = (int32_t)(message->size - place);
	memcpy(message->bytes + message->room - place, &distance, sizeof(distance));
	return place;
}

const void *flatbuffer_finish(struct flatbuffer *message, uint32_t place, size_t *ret_bytes)
{
	align(message, sizeof(uint64_t), sizeof(uint32_t));
	put_reference(message, place);
	if (message->failed)
		return NULL;
	*ret_bytes = message->size;
	return message->bytes + message->room - message->size;
}
