/* Kernels of the HIP runtime, by name (see blit.h). */
#include "trace/load/blit.h"

#include <string.h>

#define BLIT_PREFIX "__amd_rocclr_"

/* By the start of what follows the prefix; the first row that fits counts. The names are those of
 * ROCclr's blit kernel sources, 4.2 to 7.2. A kernel with the prefix that is in no other row writes
 * memory as well. */
static const struct {
	const char *start;
	enum trace_activity_kind kind;
} blits[] = {
	{"copy", TRACE_COPY},	/* copyBuffer, copyBufferRect, copyImage, copyBufferToImage ... */
	{"fill", TRACE_MEMSET}, /* fillBufferAligned, fillBufferAligned2D, fillImage */
	{"streamOps", TRACE_MEMSET}, /* hipStreamWriteValue, hipStreamWaitValue */
	{"initHeap", TRACE_MEMSET},  /* device-side malloc's heap */
	{"gwsInit", TRACE_MEMSET},   /* cooperative launch's global wave sync */
	{"", TRACE_MEMSET},
};

bool blit_find(const char *kernel_name, enum trace_activity_kind *ret_kind)
{
	const char *rest;
	size_t i = 0;

	if (strncmp(kernel_name, BLIT_PREFIX, sizeof(BLIT_PREFIX) - 1) != 0)
		return false;
	rest = kernel_name + sizeof(BLIT_PREFIX) - 1;
	while (strncmp(rest, blits[i].start, strlen(blits[i].start)) != 0)
		i++;
	*ret_kind = blits[i].kind;
	return true;
}
