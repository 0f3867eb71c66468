/* Inside the packing of records: from a stretch of records to a block and back.
 *
 * Blocks do not need each other. An encoder or decoder keeps its memory from one block to the next: a
 * few times the block's size. One thread at a time. */
#ifndef DAGTAP_TRACE_PACK_BLOCK_H
#define DAGTAP_TRACE_PACK_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define PACK_BLOCK_BYTES_MOST (4u << 20)

struct pack_encoder;
struct pack_decoder;

int pack_encoder_create(struct pack_encoder **ret_encoder); /* 0 or -ENOMEM */
void pack_encoder_destroy(struct pack_encoder *encoder);    /* accepts NULL */

/* RECORDS: SIZE bytes, at most PACK_BLOCK_BYTES_MOST, of whole records one after the other. The
 * block stays valid until the next call. 0 or -ENOMEM; -EINVAL when these are no records. */
int pack_encode(struct pack_encoder *encoder, const void *records, size_t size,
		const void **ret_block, size_t *ret_size);

int pack_decoder_create(struct pack_decoder **ret_decoder); /* 0 or -ENOMEM */
void pack_decoder_destroy(struct pack_decoder *decoder);    /* accepts NULL */

/* From now on only records of these types (bit 1 << type) need to be unpacked; at first, and with
 * PACK_WANT_ALL, all of them. */
#define PACK_WANT_ALL UINT64_MAX
void pack_decoder_want(struct pack_decoder *decoder, uint64_t types);

/* The SIZE bytes of records that BLOCK holds, aligned to 8, valid until the next call. 0 or -ENOMEM;
 * -EINVAL when the block makes no sense. Records are whole; nothing else about them is checked. Of types that
 * are not wanted, they may be blank: zeros behind type and size. */
int pack_decode(struct pack_decoder *decoder, const void *block, size_t block_size, size_t size,
		const void **ret_records);

#endif
