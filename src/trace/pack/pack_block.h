/* Inside trace/pack/: packs consecutive records into one block, and unpacks a block.
 *
 * Each block can be unpacked without the others. An encoder or a decoder keeps its memory, a few
 * times the size of the largest block, for the next block. Threading: one thread at a time may use
 * an encoder or a decoder. */
#ifndef DAGTAP_TRACE_PACK_BLOCK_H
#define DAGTAP_TRACE_PACK_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define PACK_BLOCK_BYTES_MOST (4u << 20) /* limit of the unpacked records of a block */

struct pack_encoder;
struct pack_decoder;

int pack_encoder_create(struct pack_encoder **ret_encoder); /* 0 or -ENOMEM */
void pack_encoder_destroy(struct pack_encoder *encoder);    /* accepts NULL */

/* Packs RECORDS: SIZE bytes, at most PACK_BLOCK_BYTES_MOST, of whole consecutive records. The
 * encoder owns the block, which is valid until the next call. 0, -ENOMEM, or -EINVAL: SIZE is too
 * large, the bytes are not whole records, or they have more than PACK_SHAPES_MOST shapes
 * (pack_table.h). */
int pack_encode(struct pack_encoder *encoder, const void *records, size_t size,
		const void **ret_block, size_t *ret_size);

int pack_decoder_create(struct pack_decoder **ret_decoder); /* 0 or -ENOMEM */
void pack_decoder_destroy(struct pack_decoder *decoder);    /* accepts NULL */

/* Selects the record types (bits 1 << type) that the next pack_decode calls must unpack.
 * PACK_WANT_ALL, the initial value, selects all types. */
#define PACK_WANT_ALL UINT64_MAX
void pack_decoder_want(struct pack_decoder *decoder, uint64_t types);

/* Unpacks BLOCK into SIZE bytes of records. The decoder owns them; they are aligned to 8 bytes and
 * valid until the next call. 0, -ENOMEM, or -EINVAL: the block is invalid. The function checks that
 * records are whole and nothing else about them. Records of types that are not selected may be
 * blank: type and size are set, the rest is zero. */
int pack_decode(struct pack_decoder *decoder, const void *block, size_t block_size, size_t size,
		const void **ret_records);

#endif
