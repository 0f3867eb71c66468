/* The bytes of a file in memory piece by piece, inflated on the way if they are gzipped. */
#ifndef DAGTAP_FORMAT_KINETO_INPUT_H
#define DAGTAP_FORMAT_KINETO_INPUT_H

#include <zlib.h>

#include "base/error.h"
#include "format/read.h"

struct kineto_input {
	const struct read_file *file;
	size_t used; /* of the file, or of what it inflates to */
	bool is_gzip;
	bool is_ended; /* the gzipped file that is being inflated, which may not be the last */
	z_stream inflater;
	uint8_t *piece; /* inflated */
};

/* 0 or -ENOMEM. */
int kineto_input_open(struct kineto_input *input, const struct read_file *file);
void kineto_input_close(struct kineto_input *input);

/* Bytes of the next piece, which stays until the next call; 0 at the end, or where a gzipped file was
 * cut off. -EBADMSG with a line in ERROR; -ENOMEM. */
int64_t kineto_input_next(struct kineto_input *input, const uint8_t **ret_piece,
			  struct dagtap_error *error);

/* How much of the file as it is on disk has been read. */
size_t kineto_input_done(const struct kineto_input *input);

#endif
