/* Arrays of Arrow's C data interface, each of which owns its memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/arrow/arrow.h"

#define BUFFERS_MAX 3

/* The private data of an array. */
struct array_parts {
	const void *buffers[BUFFERS_MAX]; /* owned */
	struct ArrowArray dictionary;
};

static void release_array(struct ArrowArray *array)
{
	struct array_parts *parts = array->private_data;

	for (int i = 0; i < BUFFERS_MAX; i++)
		free((void *)parts->buffers[i]);
	if (parts->dictionary.release)
		parts->dictionary.release(&parts->dictionary);
	free(parts);
	array->release = NULL;
}

int arrow_make_array(int64_t length, int64_t null_count, void *const *buffers,
		     int64_t buffers_count, struct ArrowArray *ret_array)
{
	struct array_parts *parts = calloc(1, sizeof(*parts));

	for (int64_t i = 0; i < buffers_count; i++) {
		if (parts)
			parts->buffers[i] = buffers[i];
		else
			free(buffers[i]);
	}
	if (!parts)
		return -ENOMEM;
	*ret_array = (struct ArrowArray){
		.length = length,
		.null_count = null_count,
		.n_buffers = buffers_count,
		.buffers = parts->buffers,
		.release = release_array,
		.private_data = parts,
	};
	return 0;
}

int arrow_make_dictionary(const struct arrow_column *column, struct ArrowArray *array)
{
	struct array_parts *parts = array->private_data;
	uint32_t count = column->names.count - 1;
	const char **texts = column->names.strings + 1;
	size_t bytes = 0;
	int32_t *offsets = malloc((count + 1) * sizeof(*offsets));
	char *text;

	for (uint32_t i = 0; i < count; i++)
		bytes += strlen(texts[i]);
	/* Arrow's offsets are int32. */
	text = bytes <= INT32_MAX ? malloc(bytes + 1) : NULL;
	if (!offsets || !text) {
		free(offsets);
		free(text);
		return -ENOMEM;
	}
	bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		size_t length = strlen(texts[i]);

		offsets[i] = (int32_t)bytes;
		memcpy(text + bytes, texts[i], length);
		bytes += length;
	}
	offsets[count] = (int32_t)bytes;
	array->dictionary = &parts->dictionary;
	return arrow_make_array(count, 0, (void *[]){NULL, offsets, text}, 3, &parts->dictionary);
}
