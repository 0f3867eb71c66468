/* The ranges of UTF-8 bytes. */
#include "wire/utf8.h"

#include <stdint.h>
#include <string.h>

static bool is_tail(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The range of the second byte depends on the first: Unicode 15, table 3-7. */
static bool second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf;
	case 0xed:
		return second >= 0x80 && second <= 0x9f;
	case 0xf0:
		return second >= 0x90 && second <= 0xbf;
	case 0xf4:
		return second >= 0x80 && second <= 0x8f;
	default:
		return is_tail(second);
	}
}

size_t utf8_character(const char *text, size_t bytes)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t length;

	if (bytes == 0)
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if (byte[0] >= 0xc2 && byte[0] <= 0xdf)
		length = 2;
	else if (byte[0] >= 0xe0 && byte[0] <= 0xef)
		length = 3;
	else if (byte[0] >= 0xf0 && byte[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (length > bytes || !second_fits(byte[0], byte[1]))
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (!is_tail(byte[i]))
			return 0;
	}
	return length;
}

/* Whether the first 8 bytes of TEXT are ASCII. */
static bool is_ascii(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return !(word & 0x8080808080808080);
}

bool utf8_valid(const char *text, size_t bytes)
{
	for (; bytes >= 8 && is_ascii(text); bytes -= 8)
		text += 8;
	while (bytes > 0) {
		size_t length = utf8_character(text, bytes);

		if (length == 0)
			return false;
		text += length;
		bytes -= length;
	}
	return true;
}
