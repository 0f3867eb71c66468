/* Counts the bytes of an XSpace file by what they encode: events of GPUs and of the host, and
 * their stats. It reads any XSpace, dagtap's or XLA's, so that the two can be compared. Used by
 * tests and benchmarks, not by the writer. */
#ifndef DAGTAP_FORMAT_XSPACE_ACCOUNT_H
#define DAGTAP_FORMAT_XSPACE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

struct xspace_account_row {
	/* name of the stat, cut off if it is longer; "(other)" if its id has no name */
	char name[64];
	uint64_t count;
	uint64_t bytes; /* with the field's key and length */
};

struct xspace_account_side {
	uint64_t events;
	/* of whole events, including what no row counts: keys, lengths, ids of names */
	uint64_t bytes;
	uint64_t time_bytes;		 /* of offsets and durations */
	struct xspace_account_row *rows; /* by stat name, in the order of first sight; owned */
	uint32_t rows_count;
};

struct xspace_account {
	struct xspace_account_side device; /* planes of GPUs */
	struct xspace_account_side host;   /* /host:CPU */
};

/* Counts the bytes of a file in memory. Returns 0; -ENOMEM; or -EBADMSG if the file is not
 * well-formed protobuf. Cost: one pass over BYTES. */
int xspace_account(const void *bytes, size_t size, struct xspace_account *ret_account);

/* Frees the rows. Accepts a zeroed or released struct. */
void xspace_account_release(struct xspace_account *account);

#endif
