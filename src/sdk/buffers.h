/* Buffers of records for a tool. One thread puts records in and delivers them: the source's
 * (sdk/source.h). Threading: that thread alone, except sdk_buffer_find after the configuration. */
#ifndef DAGTAP_SDK_BUFFERS_H
#define DAGTAP_SDK_BUFFERS_H

#include <stdbool.h>

#include "sdk/abi.h"

#define SDK_BUFFERS 32

struct sdk_buffer {
	struct sdk_id context;
	size_t size, watermark; /* bytes of records */
	int policy;
	sdk_buffer_callback *callback;
	void *data;

	unsigned char *bytes; /* the records; owned */
	size_t used, room;
	struct sdk_record_header *headers; /* owned; payload is the offset until it is delivered */
	size_t count, header_room;
	struct sdk_record_header **pointers; /* owned */
	size_t pointer_room;
	uint64_t dropped; /* since the last delivery */
};

/* Makes a buffer. Returns its number, from 1, or 0: there are too many. */
uint32_t sdk_buffer_make(const struct sdk_buffer *like);

/* The buffer with this number, or NULL. */
struct sdk_buffer *sdk_buffer_find(uint64_t number);

/* Puts a record of SIZE bytes in, and delivers the records at the watermark or when the buffer is
 * full. With the policy of discarding, a record for which there is no room is counted. Returns 0,
 * or -ENOMEM: it is counted, too. */
int sdk_buffer_put(struct sdk_buffer *buffer, uint32_t kind, const void *record, size_t size);

/* Calls the tool with the records that are there. */
void sdk_buffer_deliver(struct sdk_buffer *buffer);

/* Frees the buffer, which may be NULL. */
void sdk_buffer_free(struct sdk_buffer *buffer);

#endif
