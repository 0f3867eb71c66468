/* Arguments of a call as 64-bit words of its API record, where a cast is not enough: values that
 * the call returned through a pointer, texts, and floats. For the generated wrappers. */
#ifndef DAGTAP_CAPTURE_ARG_WORDS_H
#define DAGTAP_CAPTURE_ARG_WORDS_H

#include <stdint.h>

/* The value that a call returned through OUT; 0 when OUT is NULL or the call failed (RESULT not
 * 0). */
static inline uint64_t word_out64(int err, const uint64_t *out)
{
	return err == 0 && out ? *out : 0;
}

/* The same for a 32-bit value. */
static inline uint64_t word_out32(int err, const uint32_t *out)
{
	return err == 0 && out ? *out : 0;
}

/* The first 8 bytes of TEXT in the order of memory, padded with zeros; 0 for NULL. */
static inline uint64_t word_text(const char *text)
{
	uint64_t word = 0;

	for (unsigned int i = 0; text && i < sizeof(word) && text[i]; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	return word;
}

/* The bits of VALUE, zero-extended. */
static inline uint64_t word_float(float value)
{
	union {
		float value;
		uint32_t bits;
	} as = {value};

	return as.bits;
}

#endif
