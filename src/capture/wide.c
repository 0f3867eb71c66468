/* Converts texts of wide characters (UTF-32) to UTF-8; see wide.h. */
#include "capture/wide.h"

#include <stdint.h>

#define REPLACEMENT 0xfffdu

/* Surrogates, and numbers beyond Unicode, are no characters. */
static uint32_t character_of(wchar_t wide)
{
	uint32_t value = (uint32_t)wide;

	return value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ? REPLACEMENT : value;
}

/* Returns the number of bytes. */
static size_t put_character(uint32_t value, char ret_bytes[4])
{
	static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t count = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;

	for (size_t at = count; at-- > 1; value >>= 6)
		ret_bytes[at] = (char)(0x80 | (value & 0x3f));
	ret_bytes[0] = (char)(marks[count] | value);
	return count;
}

void wide_to_utf8(const wchar_t *text, char *ret_text, size_t bytes)
{
	size_t used = 0;

	for (; text && *text; text++) {
		char character[4];
		size_t count = put_character(character_of(*text), character);

		if (used + count >= bytes)
			break;
		for (size_t i = 0; i < count; i++)
			ret_text[used++] = character[i];
	}
	ret_text[used] = '\0';
}
