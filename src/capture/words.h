/* Arguments as the words of an API record, where a cast does not do: what a call gave back through a
 * pointer (0 unless it succeeded), the first 8 bytes of a text, in the order of memory, and floats. */
#ifndef DAGTAP_CAPTURE_WORDS_H
#define DAGTAP_CAPTURE_WORDS_H

#include <stdint.h>

static inline uint64_t word_out64(int result, const uint64_t *out)
{
	return result == 0 && out ? *out : 0;
}

static inline uint64_t word_out32(int result, const uint32_t *out)
{
	return result == 0 && out ? *out : 0;
}

static inline uint64_t word_text(const char *text)
{
	uint64_t word = 0;

	for (unsigned int i = 0; text && i < sizeof(word) && text[i]; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	return word;
}

static inline uint64_t word_float(float value)
{
	union {
		float value;
		uint32_t bits;
	} as = {value};

	return as.bits;
}

#endif
