/* What every driver calls: the last failure of each thread, and buffers of images. */
#include "patch/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Several threads call drivers at once; each thread asks for its own last failure. */
static _Thread_local struct patch_fault last_fault;

int patch_fault(int code_errno, const char *call, int code, const char *text)
{
	last_fault.call = call;
	last_fault.code_errno = code_errno;
	last_fault.code = code;
	snprintf(last_fault.text, sizeof(last_fault.text), "%s", text ? text : "");
	return code_errno;
}

struct patch_fault patch_fault_take(void)
{
	struct patch_fault fault = last_fault;

	last_fault.call = NULL;
	return fault;
}

int patch_image_resize(struct patch_image *image, uint32_t size)
{
	if (size > image->capacity) {
		uint8_t *bytes = realloc(image->bytes, size);

		if (!bytes)
			return patch_fault(-ENOMEM, "realloc", 0,
					   "no memory for a node's parameters");
		image->bytes = bytes;
		image->capacity = size;
	}
	if (size > image->size)
		memset(image->bytes + image->size, 0, size - image->size);
	image->size = size;
	return 0;
}

void patch_image_release(struct patch_image *image)
{
	free(image->bytes);
	*image = (struct patch_image){0};
}
