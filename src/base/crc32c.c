/* The checksum by machine instruction, or by a table. */
#include "base/crc32c.h"

#include <string.h>

/* Four bits per step: a table of 16 words fits in the source and needs no initialisation. */
static uint32_t crc_by_table(uint32_t crc, const unsigned char *bytes, size_t length)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	while (length--) {
		crc ^= *bytes++;
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return crc;
}

#ifdef __x86_64__

#include <nmmintrin.h>
#include <wmmintrin.h>

/* The crc32 instruction has a latency of three cycles and can start in each. So three neighbouring
 * pieces are summed side by side, and their sums put together: the sum of a piece counts as if as
 * many zero bytes followed as the later pieces have. This is a product modulo the polynomial with
 * x^(bits - 33), bit-reflected; the constants are those for one and for two pieces. (Gopal et al.,
 * "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel, 2011.) */
#define PIECE_WORDS 128
#define PIECE_BYTES (PIECE_WORDS * sizeof(uint64_t))
#define SKIP_ONE    0x170076fa
#define SKIP_TWO    0xa51b6135

/* Bytes of a cache line, and how far ahead of the pieces the bytes are fetched into the cache. A
 * file is mapped page by page, and the CPU foresees nothing beyond a page: without this, the check
 * of a spool takes 1.25 times the time. */
#define LINE_WORDS 8
#define AHEAD	   (6 * PIECE_BYTES)

static inline uint64_t word_at(const unsigned char *bytes, size_t index)
{
	uint64_t word;

	memcpy(&word, bytes + index * sizeof(word), sizeof(word));
	return word;
}

/* AT: where the first of three pieces is summed. */
static inline void fetch_ahead(const unsigned char *at)
{
	__builtin_prefetch(at + AHEAD);
	__builtin_prefetch(at + AHEAD + PIECE_BYTES);
	__builtin_prefetch(at + AHEAD + 2 * PIECE_BYTES);
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t crc_of_pieces(uint32_t crc,
								       const unsigned char *bytes)
{
	const __m128i skips = _mm_set_epi64x(SKIP_ONE, SKIP_TWO);
	uint64_t first = crc, second = 0, third = 0;
	__m128i skipped;

	for (size_t i = 0; i < PIECE_WORDS; i++) {
		if (i % LINE_WORDS == 0)
			fetch_ahead(bytes + i * sizeof(uint64_t));
		first = _mm_crc32_u64(first, word_at(bytes, i));
		second = _mm_crc32_u64(second, word_at(bytes, i + PIECE_WORDS));
		third = _mm_crc32_u64(third, word_at(bytes, i + 2 * PIECE_WORDS));
	}
	skipped = _mm_xor_si128(
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)first), skips, 0x00),
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)second), skips, 0x10));
	return (uint32_t)(_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(skipped)) ^ third);
}

__attribute__((target("sse4.2"))) static uint32_t
crc_by_machine(uint32_t crc, const unsigned char *bytes, size_t length)
{
	uint64_t wide = crc;

	for (; length >= sizeof(wide); length -= sizeof(wide), bytes += sizeof(wide))
		wide = _mm_crc32_u64(wide, word_at(bytes, 0));
	crc = (uint32_t)wide;
	while (length--)
		crc = _mm_crc32_u8(crc, *bytes++);
	return crc;
}

static uint32_t crc_by_pieces(uint32_t crc, const unsigned char *bytes, size_t length)
{
	for (; length >= 3 * PIECE_BYTES; length -= 3 * PIECE_BYTES, bytes += 3 * PIECE_BYTES)
		crc = crc_of_pieces(crc, bytes);
	return crc_by_machine(crc, bytes, length);
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return ~crc_by_pieces(~crc, bytes, length);
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_by_machine(~crc, bytes, length);
	return ~crc_by_table(~crc, bytes, length);
}

#else

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
	return ~crc_by_table(~crc, bytes, length);
}

#endif
