/* Formatting of counts, sizes and times, and of text for a terminal. */
#include "cli/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/utf8.h"

const char *human_count(uint64_t count, char *buffer)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	int used = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

/* The number of decimals with which VALUE shows three significant digits. */
static int decimals(double value)
{
	if (value >= 99.95)
		return 0;
	return value >= 9.995 ? 1 : 2;
}

const char *human_bytes(uint64_t bytes, char *buffer)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, HUMAN_CHARS, "%.*f %s", unit ? decimals(value) : 0, value, units[unit]);
	return buffer;
}

const char *human_ns(double ns, char *buffer)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = fabs(ns);
	unsigned unit = 0;

	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, HUMAN_CHARS, "%s%.*f %s", ns < 0 ? "-" : "", unit ? decimals(value) : 0,
		 value, units[unit]);
	return buffer;
}

const char *human_ending(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void human_make_plain(char *text)
{
	size_t left = strlen(text);

	while (left) {
		unsigned char first = (unsigned char)text[0];
		size_t bytes = first < 0x80 ? 1 : utf8_character(text, left);
		/* A control character from U+0080 to U+009F. */
		bool is_wide = first == 0xc2 && bytes == 2 && (unsigned char)text[1] < 0xa0;

		if (first < ' ' || first == 0x7f || is_wide || !bytes) {
			bytes = bytes ? bytes : 1;
			memset(text, '?', bytes);
		}
		text += bytes;
		left -= bytes;
	}
}

bool human_print_to(FILE *out, const char *label, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return false;
	human_make_plain(text);
	fprintf(out, "%s%s\n", label, text);
	free(text);
	return true;
}

void human_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	human_print_to(stdout, "", format, args);
	va_end(args);
}
