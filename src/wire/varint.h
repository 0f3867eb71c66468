/* Encodes varints of protocol buffers without a loop over bytes, for code that writes millions of
 * them. proto.h puts fields together of them. */
#ifndef DAGTAP_WIRE_VARINT_H
#define DAGTAP_WIRE_VARINT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define VARINT_BYTES_MAX 10

/* The length of VALUE as a varint: 1 to 10 bytes of seven bits. */
static inline unsigned varint_bytes(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	return (9 * bits + 64) / 64;
}

/* Writes VALUE at AT and returns the place behind it. There must be room for VARINT_BYTES_MAX
 * bytes: the function may overwrite bytes behind the value. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t value)
{
	unsigned bytes = varint_bytes(value);
	uint64_t spread = value & UINT64_C(0xffffffffffffff);
	uint64_t packed;

	if (bytes == 1) {
		*at = (uint8_t)value;
		return at + 1;
	}
	/* Spreads 56 bits: 28 bits to each 32-bit half, 14 to each 16-bit quarter, 7 to
	 * each byte. */
	spread = (spread & UINT64_C(0xfffffff)) | (spread & UINT64_C(0xfffffff0000000)) << 4;
	spread = (spread & UINT64_C(0x00003fff00003fff)) | (spread & UINT64_C(0x0fffc0000fffc000))
								   << 2;
	spread = (spread & UINT64_C(0x007f007f007f007f)) | (spread & UINT64_C(0x3f803f803f803f80))
								   << 1;
	if (bytes > 8) {
		packed = htole64(spread | UINT64_C(0x8080808080808080));
		memcpy(at, &packed, sizeof(packed));
		at[8] = (uint8_t)(value >> 56);
		if (bytes == 10) {
			at[8] |= 0x80;
			at[9] = 1;
		} else {
			at[8] &= 0x7f;
		}
		return at + bytes;
	}
	packed = htole64(spread | (UINT64_C(0x8080808080808080) >> (8 * (9 - bytes))));
	memcpy(at, &packed, sizeof(packed));
	return at + bytes;
}

#endif
