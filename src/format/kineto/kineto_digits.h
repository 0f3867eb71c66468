/* Decimal and hexadecimal numbers of the Kineto writer's rows. A row has about eight of them, so
 * they are made from eight digits at a time or taken from a table by three, without a loop or a
 * branch for each digit.
 *
 * Each function writes at AT and returns the end of what it wrote. It may overwrite up to
 * KINETO_DIGITS_STEP bytes from AT on, also where the number is shorter. */
#ifndef DAGTAP_FORMAT_KINETO_DIGITS_H
#define DAGTAP_FORMAT_KINETO_DIGITS_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte");

#define KINETO_DIGITS_STEP   8
#define KINETO_DIGITS_VALUES 100000000 /* values of eight digits */

/* ".000" to ".999", four bytes for each value, and zeros that a copy of four bytes may read. */
#define KINETO_THOUSANDTHS_BYTES 4004
extern const char kineto_thousandths[KINETO_THOUSANDTHS_BYTES];

/* The eight digits of VALUE, which is below KINETO_DIGITS_VALUES, the first one in the lowest byte.
 * Each step divides all parts of the number at once: by 100 and by 10, as multiplications with a
 * rounded reciprocal that are exact for parts of this size. */
static inline uint64_t kineto_digits(uint32_t value)
{
	uint64_t parts = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t quotients = parts * 10486 >> 20 & UINT64_C(0x0000007f0000007f);

	parts = (parts << 16) - quotients * ((100 << 16) - 1);
	quotients = parts * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	parts = (parts << 8) - quotients * ((10 << 8) - 1);
	return parts | UINT64_C(0x3030303030303030);
}

/* Writes the last COUNT digits of VALUE, which is below KINETO_DIGITS_VALUES, with leading
 * zeros. COUNT: 1 to 8. */
static inline char *kineto_put_digits(char *at, uint32_t value, unsigned count)
{
	uint64_t digits = kineto_digits(value) >> (KINETO_DIGITS_STEP - count) * 8;

	memcpy(at, &digits, sizeof(digits));
	return at + count;
}

/* The number of decimal digits of VALUE, which is below KINETO_DIGITS_VALUES; 1 for 0. */
static inline unsigned kineto_count_digits(uint32_t value)
{
	static const uint32_t powers[] = {0,	  10,	   100,	     1000,     10000,
					  100000, 1000000, 10000000, 100000000};
	/* 1233 / 4096 approximates log10(2) closely enough. */
	unsigned guess = (32 - (unsigned)__builtin_clz(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

/* kineto_put_u64 for a VALUE from KINETO_DIGITS_VALUES on. */
char *kineto_put_long(char *at, uint64_t value);

/* Writes the three digits of VALUE, which is below 1000, but for the first SKIPPED. */
static inline char *kineto_put_three(char *at, uint32_t value, unsigned skipped)
{
	memcpy(at, kineto_thousandths + (size_t)4 * value + 1 + skipped, 4);
	return at + 3 - skipped;
}

static inline char *kineto_put_u64(char *at, uint64_t value)
{
	if (value < 1000)
		return kineto_put_three(at, (uint32_t)value, (value < 100) + (value < 10));
	if (__builtin_expect(value >= KINETO_DIGITS_VALUES, 0))
		return kineto_put_long(at, value);
	return kineto_put_digits(at, (uint32_t)value, kineto_count_digits((uint32_t)value));
}

static inline char *kineto_put_i64(char *at, int64_t value)
{
	if (value < 0)
		*at++ = '-';
	return kineto_put_u64(at, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Writes a point and the three digits of THOUSANDTHS, which is below 1000. */
static inline char *kineto_put_thousandths(char *at, uint32_t thousandths)
{
	memcpy(at, kineto_thousandths + (size_t)4 * thousandths, 4);
	return at + 4;
}

/* Writes a duration in microseconds with three decimals, which is exact. */
static inline char *kineto_put_us(char *at, uint64_t ns)
{
	return kineto_put_thousandths(kineto_put_u64(at, ns / 1000), (uint32_t)(ns % 1000));
}

/* The eight hexadecimal digits of VALUE, the first one in the lowest byte. */
static inline uint64_t kineto_hex_digits(uint32_t value)
{
	uint64_t parts = value, letters;

	parts = (parts | parts << 16) & UINT64_C(0x0000ffff0000ffff);
	parts = (parts | parts << 8) & UINT64_C(0x00ff00ff00ff00ff);
	parts = (parts | parts << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	/* 1 in the bytes from 10 on */
	letters = (parts + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	parts += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
	return __builtin_bswap64(parts);
}

/* Writes an address as C's %p does, in quotes: "0x7f00". */
static inline char *kineto_put_pointer(char *at, uint64_t address)
{
	unsigned count = (64 - (unsigned)__builtin_clzll(address | 1) + 3) / 4;
	unsigned low = count < KINETO_DIGITS_STEP ? count : KINETO_DIGITS_STEP;
	uint64_t digits;

	memcpy(at, "\"0x", 3);
	at += 3;
	if (count > low) {
		digits = kineto_hex_digits((uint32_t)(address >> 32)) >>
			 (2 * KINETO_DIGITS_STEP - count) * 8;
		memcpy(at, &digits, sizeof(digits));
		at += count - low;
	}
	digits = kineto_hex_digits((uint32_t)address) >> (KINETO_DIGITS_STEP - low) * 8;
	memcpy(at, &digits, sizeof(digits));
	at[low] = '"';
	return at + low + 1;
}

/* ---- numbers close to the one before ---- */

/* Ids of consecutive rows mostly differ in their last three digits alone. Keeps the digits before
 * those. One for each kind of number; starts as KINETO_NEAR. */
struct kineto_near {
	uint64_t first; /* numbers from here to FIRST + 999 begin with DIGITS */
	size_t bytes;
	char digits[2 * KINETO_DIGITS_STEP];
};

#define KINETO_NEAR	((struct kineto_near){.first = 1000, .bytes = 1, .digits = "1"})
#define KINETO_NEAR_END UINT64_C(10000000000000000000) /* what begins with 16 digits is less */

/* The slow path of kineto_put_near. */
char *kineto_put_far(struct kineto_near *near, char *at, uint64_t value);

/* Writes VALUE as kineto_put_u64 does, and may overwrite 20 bytes. */
static inline char *kineto_put_near(struct kineto_near *near, char *at, uint64_t value)
{
	uint64_t rest = value - near->first;

	if (rest >= 1000)
		return kineto_put_far(near, at, value);
	memcpy(at, near->digits, sizeof(near->digits));
	return kineto_put_three(at + near->bytes, (uint32_t)rest, 0);
}

#endif
