/* What the bytes of an XSpace are spent on: events of GPUs and of the host, by what they say. Of any
 * file, ours or XLA's, so that the two can be laid side by side. */
#ifndef DAGTAP_FORMAT_XSPACE_ACCOUNT_H
#define DAGTAP_FORMAT_XSPACE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

struct xspace_account_row {
	char name[64]; /* of a stat, cut off if it is longer */
	uint64_t count;
	uint64_t bytes; /* with the field's key and length */
};

struct xspace_account_side {
	uint64_t events;
	uint64_t bytes; /* of whole events; what the rows leave is keys, lengths and names' ids */
	uint64_t time_bytes; /* of offsets and durations */
	struct xspace_account_row *rows;
	uint32_t rows_count;
};

struct xspace_account {
	struct xspace_account_side device; /* planes of GPUs */
	struct xspace_account_side host;   /* /host:CPU */
};

/* 0, -ENOMEM, or -EBADMSG: not well-formed. One pass over all of BYTES. */
int xspace_account(const void *bytes, size_t size, struct xspace_account *ret_account);
void xspace_account_release(struct xspace_account *account);

#endif
