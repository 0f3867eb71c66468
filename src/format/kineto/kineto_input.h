/* Gives the bytes of a file in memory piece by piece and inflates them if the file is gzipped.
 * Threading: one thread at a time. Memory: one buffer of 128 KiB for a gzipped file. */
#ifndef DAGTAP_FORMAT_KINETO_INPUT_H
#define DAGTAP_FORMAT_KINETO_INPUT_H

#include <zlib.h>

#include "base/error_text.h"
#include "format/read.h"

struct kineto_input {
	const struct read_file *file;
	size_t used; /* bytes given so far: of the file, or of what it inflates to */
	bool is_gzip;
	bool is_ended; /* the current gzip member has ended; a further one may follow in the file */
	z_stream inflater;
	uint8_t *piece; /* buffer for the inflated bytes; owned, NULL for a plain file */
};

/* Starts reading FILE, which must stay valid until kineto_input_close. Returns 0 or -ENOMEM; then
 * nothing is left to close. */
int kineto_input_open(struct kineto_input *input, const struct read_file *file);

/* Frees the buffer and zlib's state. The struct must not be used afterwards. */
void kineto_input_close(struct kineto_input *input);

/* Sets RET_PIECE to the next piece and returns its bytes. The piece stays valid until the next
 * call. Returns 0 at the end, or where a gzipped file was cut off; -EBADMSG (broken gzip data) or
 * -EFBIG (inflates to an absurd size) with one line in ERROR; -ENOMEM. */
int64_t kineto_input_next(struct kineto_input *input, const uint8_t **ret_piece,
			  struct dagtap_error *error);

/* The number of bytes of the file on disk that have been read; for progress and for messages. */
size_t kineto_input_done(const struct kineto_input *input);

#endif
