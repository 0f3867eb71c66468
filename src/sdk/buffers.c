/* Buffers and their delivery: see buffers.h. */
#include "sdk/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static struct sdk_buffer buffers[SDK_BUFFERS];
/* Set once the buffer is filled, and cleared once it is empty: tools ask on any thread. */
static _Atomic bool is_used[SDK_BUFFERS];

uint32_t sdk_buffer_make(const struct sdk_buffer *like)
{
	for (uint32_t i = 0; i < SDK_BUFFERS; i++) {
		if (atomic_load(&is_used[i]))
			continue;
		buffers[i] = *like;
		atomic_store(&is_used[i], true);
		return i + 1;
	}
	return 0;
}

struct sdk_buffer *sdk_buffer_find(uint64_t number)
{
	return number && number <= SDK_BUFFERS && atomic_load(&is_used[number - 1])
		       ? &buffers[number - 1]
		       : NULL;
}

void sdk_buffer_deliver(struct sdk_buffer *buffer)
{
	struct sdk_id id = {(uint64_t)(buffer - buffers) + 1};
	uint64_t dropped = buffer->dropped;

	if (!buffer->count && !dropped)
		return;
	for (size_t i = 0; i < buffer->count; i++) {
		buffer->headers[i].payload = buffer->bytes + (size_t)buffer->headers[i].payload;
		buffer->pointers[i] = &buffer->headers[i];
	}
	buffer->dropped = 0;
	buffer->callback(buffer->context, id, buffer->pointers, buffer->count, buffer->data,
			 dropped);
	buffer->count = 0;
	buffer->used = 0;
}

static int append(struct sdk_buffer *buffer, uint32_t kind, const void *record, size_t size)
{
	if (table_reserve((void **)&buffer->bytes, &buffer->room, buffer->used + size, 1) < 0 ||
	    table_reserve((void **)&buffer->headers, &buffer->header_room, buffer->count + 1,
			  sizeof(*buffer->headers)) < 0 ||
	    table_reserve((void **)&buffer->pointers, &buffer->pointer_room, buffer->count + 1,
			  sizeof(*buffer->pointers)) < 0)
		return -ENOMEM;
	memcpy(buffer->bytes + buffer->used, record, size);
	buffer->headers[buffer->count++] = (struct sdk_record_header){
		.category = SDK_CATEGORY_TRACING,
		.kind = kind,
		.payload = (void *)buffer->used,
	};
	buffer->used += size;
	return 0;
}

int sdk_buffer_put(struct sdk_buffer *buffer, uint32_t kind, const void *record, size_t size)
{
	int err;

	if (buffer->used + size > buffer->size && buffer->count) {
		if (buffer->policy == SDK_POLICY_DISCARD) {
			buffer->dropped++;
			return 0;
		}
		sdk_buffer_deliver(buffer);
	}
	err = append(buffer, kind, record, size);
	if (err < 0)
		buffer->dropped++;
	else if (buffer->used >= buffer->watermark)
		sdk_buffer_deliver(buffer);
	return err;
}

void sdk_buffer_free(struct sdk_buffer *buffer)
{
	if (!buffer)
		return;
	free(buffer->bytes);
	free(buffer->headers);
	free(buffer->pointers);
	*buffer = (struct sdk_buffer){0};
	atomic_store(&is_used[buffer - buffers], false);
}
