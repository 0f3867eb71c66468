/* Parsing of sizes and ages. */
#include "base/amount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000u

/* Returns the end of the digits at TEXT; NULL when there are none, or the number is too large.
 * Checks the first character because strtoull accepts signs and spaces. */
static const char *read_digits(const char *text, uint64_t *ret_number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

static int shift_of_unit(char unit)
{
	switch (unit) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	default:
		return 0;
	}
}

const char *amount_bytes(const char *text, uint64_t *ret_bytes)
{
	uint64_t number;
	const char *end = read_digits(text, &number);
	int shift = end ? shift_of_unit(*end) : 0;

	if (!end || number > UINT64_MAX >> shift)
		return NULL;
	end += shift > 0;
	*ret_bytes = number << shift;
	return *end && *end != ',' ? NULL : end;
}

static bool read_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds;
	const char *end = read_digits(text, &seconds);

	if (!end || *end != 's' || end[1] || !seconds || seconds > UINT64_MAX / SECOND_NS)
		return false;
	*ret_ns = seconds * SECOND_NS;
	return true;
}

/* Reads what follows the point: its digits, as ns. */
static const char *read_fraction(const char *text, uint64_t *ret_ns)
{
	uint64_t unit_ns = SECOND_NS / 10;

	if (*text < '0' || *text > '9')
		return NULL;
	for (*ret_ns = 0; *text >= '0' && *text <= '9'; text++, unit_ns /= 10)
		*ret_ns += unit_ns * (uint64_t)(*text - '0');
	return text;
}

bool amount_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds, ns = 0;
	const char *end = read_digits(text, &seconds);

	if (end && *end == '.')
		end = read_fraction(end + 1, &ns);
	if (!end || (*end && strcmp(end, "s") != 0) || seconds > UINT64_MAX / SECOND_NS - 1)
		return false;
	*ret_ns = seconds * SECOND_NS + ns;
	return true;
}

bool amount_size_and_age(const char *text, uint64_t *ret_bytes, uint64_t *ret_ns)
{
	uint64_t bytes = 0, ns = 0;
	const char *end;

	if (!read_seconds(text, &ns)) {
		end = amount_bytes(text, &bytes);
		if (!end || !bytes || (*end && !read_seconds(end + 1, &ns)))
			return false;
	}
	*ret_bytes = bytes;
	*ret_ns = ns;
	return true;
}
