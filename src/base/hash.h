/* Hashes for tables in memory. They may change at any time: no file holds one (checksums of files
 * are CRC-32C and XXH3). Inputs from outside may collide on purpose; a table then gets slow, not
 * wrong. Any thread; no allocation. */
#ifndef DAGTAP_BASE_HASH_H
#define DAGTAP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Combines two values, or a hash and the next value, into a hash of which all bits are usable: a
 * multiplication whose halves are folded, as in wyhash. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	unsigned __int128 product =
		(unsigned __int128)(hash ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd1b54a32d192ed03u);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The hash of SIZE bytes: one multiplication for each 16. */
static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	const uint8_t *end = at + size;
	uint64_t hash = size, second = 0, tail = 0;

	if (size < 8) {
		for (size_t i = 0; i < size; i++)
			tail = tail << 8 | at[i];
		return hash_mix(hash, tail);
	}
	/* Two chains of multiplications, so that one does not wait for the other. */
	for (; end - at > 32; at += 32) {
		hash = hash_mix(hash ^ hash_word(at), hash_word(at + 8));
		second = hash_mix(second ^ hash_word(at + 16), hash_word(at + 24));
	}
	hash ^= second;
	if (end - at > 16) {
		hash = hash_mix(hash ^ hash_word(at), hash_word(at + 8));
		at += 16;
	}
	/* The last 16 bytes, or the last 8 twice; some of them may be hashed already. */
	return hash_mix(hash ^ hash_word(end - at > 8 ? at : end - 8), hash_word(end - 8));
}

#endif
