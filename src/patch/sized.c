/* Reading of structs that begin with their size: callers may have been built with an older or a
 * newer header. */
#include <errno.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/recording.h"

/* Larger than any of the structs. A size that was not set is often larger. */
enum { MOST_BYTES = 4096 };

int sized_read(void *ret, size_t known, const void *given)
{
	const uint8_t *bytes = given;
	size_t size;

	if (!given)
		return -EINVAL;
	memcpy(&size, given, sizeof(size));
	/* All of these structs contain pointers, so their sizes are multiples of a pointer's
	 * size. */
	if (size < sizeof(size) || size > MOST_BYTES || size % sizeof(void *))
		return -EINVAL;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memset(ret, 0, known);
	memcpy(ret, given, size < known ? size : known);
	memcpy(ret, &known, sizeof(known));
	return 0;
}

int recording_read(struct dagpatch_recording *recording, void *ret, size_t known, const void *given,
		   const char *name)
{
	int err = sized_read(ret, known, given);

	if (err == -E2BIG)
		return recording_fail(recording, err,
				      "struct dagpatch_%s has fields that this library, version "
				      "%u, does not know",
				      name, dagpatch_version());
	if (err < 0 && !given)
		return recording_fail(recording, err, "no struct dagpatch_%s", name);
	if (err < 0)
		return recording_fail(recording, err, "size is not sizeof(struct dagpatch_%s)",
				      name);
	return 0;
}

uint32_t dagpatch_version(void)
{
	return DAGPATCH_VERSION;
}
