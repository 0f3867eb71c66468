/* An output stream (fopencookie) that compresses with zlib's deflate. */
#include "format/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUFFER_BYTES ((size_t)1 << 18)

/* Traces repeat themselves so much that a higher level saves little and takes twice the time. */
#define LEVEL 4

/* A window of 32 KiB; 16 asks zlib for gzip's header and trailer. */
#define WINDOW_BITS (15 + 16)
#define MEMORY	    9

struct gzip {
	FILE *inner;
	z_stream stream;
	unsigned char buffer[BUFFER_BYTES];
};

bool gzip_is_name(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* Compresses the input that stream.next_in holds and writes what deflate gives out. With Z_FINISH
 * it also writes the end of the data. Returns 0 or negative errno. */
static int compress_given(struct gzip *gzip, int flush)
{
	do {
		size_t bytes;

		gzip->stream.next_out = gzip->buffer;
		gzip->stream.avail_out = BUFFER_BYTES;
		deflate(&gzip->stream, flush);
		bytes = BUFFER_BYTES - gzip->stream.avail_out;
		errno = 0;
		if (fwrite(gzip->buffer, 1, bytes, gzip->inner) != bytes)
			return errno ? -errno : -EIO;
	} while (gzip->stream.avail_out == 0);
	return 0;
}

/* cookie_write_function_t: 0 with errno set is an error, because a negative return is not
 * allowed. */
static ssize_t write_bytes(void *context, const char *bytes, size_t size)
{
	struct gzip *gzip = context;
	size_t done = 0;

	while (done < size) {
		/* zlib counts in 32 bits */
		size_t piece = size - done < UINT32_MAX ? size - done : UINT32_MAX;
		int err;

		gzip->stream.next_in = (unsigned char *)bytes + done;
		gzip->stream.avail_in = (unsigned)piece;
		err = compress_given(gzip, Z_NO_FLUSH);
		if (err) {
			errno = -err;
			return 0;
		}
		done += piece;
	}
	return (ssize_t)size;
}

static int end(void *context)
{
	struct gzip *gzip = context;
	int err;

	gzip->stream.avail_in = 0;
	err = compress_given(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	free(gzip);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

int gzip_open(FILE *inner, FILE **ret_file)
{
	const cookie_io_functions_t functions = {.write = write_bytes, .close = end};
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->inner = inner;
	if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*ret_file = fopencookie(gzip, "w", functions);
	if (*ret_file)
		return 0;
	deflateEnd(&gzip->stream);
	free(gzip);
	return -ENOMEM;
}
