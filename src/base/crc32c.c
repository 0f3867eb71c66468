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

__attribute__((target("sse4.2"))) static uint32_t
crc_by_machine(uint32_t crc, const unsigned char *bytes, size_t length)
{
	uint64_t wide = crc;
	uint64_t word;

	for (; length >= sizeof(word); length -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (length--)
		crc = __builtin_ia32_crc32qi(crc, *bytes++);
	return crc;
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
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
