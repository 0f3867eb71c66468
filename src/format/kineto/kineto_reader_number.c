/* JSON numbers: times exactly, as integers; others as values of attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"

#define DIGITS_MOST   19 /* any 19 digits fit into 64 bits */
#define EXPONENT_MOST 10000
#define TEXT_MOST     127
#define VALUE_MOST    (INT64_C(1) << 61)

/* The powers of ten that a double holds exactly. An integer of up to 15 digits (or up to 2^53)
 * divided by one of them is correctly rounded, so strtod is not needed. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,
				1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define POWER_MOST    22
#define EXACT_INTEGER (UINT64_C(1) << 53)
#define EXACT_DIGITS  15
_Static_assert(DIGITS_MOST <= POWER_MOST, "a power for each fraction of a plain number");

/* The number mantissa * 10^exponent; the mantissa has the first DIGITS_MOST digits. */
struct decimal {
	uint64_t mantissa;
	int exponent;
	int digits; /* number of digits; leading zeros count only on the fast path */
	bool is_negative, is_integer;
};

static int take_exponent(const char *at, const char *end)
{
	bool is_negative = at < end && *at == '-';
	int value = 0;

	for (at += at < end && (*at == '-' || *at == '+'); at < end; at++) {
		if (value < EXPONENT_MOST)
			value = value * 10 + (*at - '0');
	}
	return is_negative ? -value : value;
}

/* Adds the digits at AT to DECIMAL and returns where they end. Digits beyond DIGITS_MOST only
 * change the exponent. The fast path counts leading zeros as digits, the slow one does not. */
static const char *take_digits(const char *at, const char *end, struct decimal *decimal)
{
	const char *begin = at;
	uint64_t mantissa = decimal->mantissa;
	unsigned digit;
	int kept;

	/* fast path, the usual case: no more digits than fit */
	if (end - at <= DIGITS_MOST - decimal->digits) {
		for (; at < end && (digit = (unsigned)(*at - '0')) <= 9; at++)
			mantissa = mantissa * 10 + digit;
		kept = (int)(at - begin);
		decimal->digits += kept;
	} else {
		for (kept = 0; at < end && (digit = (unsigned)(*at - '0')) <= 9; at++) {
			if (decimal->digits < DIGITS_MOST) {
				mantissa = mantissa * 10 + digit;
				kept++;
			}
			decimal->digits += mantissa != 0;
		}
	}
	decimal->exponent += decimal->is_integer ? (int)(at - begin) - kept : -kept;
	decimal->mantissa = mantissa;
	return at;
}

/* Splits a number into its parts. The JSON lexer has checked its form. */
static struct decimal take_apart(const char *text, size_t bytes)
{
	struct decimal decimal = {.is_integer = true};
	const char *at = text, *end = text + bytes;

	if (at < end && *at == '-') {
		decimal.is_negative = true;
		at++;
	}
	at = take_digits(at, end, &decimal);
	if (at < end && *at == '.') {
		decimal.is_integer = false;
		at = take_digits(at + 1, end, &decimal);
	}
	if (at < end) {
		decimal.is_integer = false;
		decimal.exponent += take_exponent(at + 1, end);
	}
	return decimal;
}

/* The mantissa divided by 10^BY_POWER, rounded so that the signed value is rounded down. */
static uint64_t divide(const struct decimal *decimal, int by_power)
{
	uint64_t value = decimal->mantissa, rest = 0;

	for (; by_power > 0 && value; by_power--) {
		rest |= value % 10;
		value /= 10;
	}
	return value + (decimal->is_negative && rest);
}

/* True for a plain number, as most are: up to 18 characters, digits and at most a point. Sets all
 * digits as one integer, and the number of digits after the point. */
static bool is_plain(const char *text, size_t bytes, uint64_t *ret_digits, size_t *ret_fraction)
{
	uint64_t value = 0;
	size_t point = bytes;

	if (bytes >= DIGITS_MOST)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit <= 9)
			value = value * 10 + digit;
		else if (text[i] == '.')
			point = i + 1;
		else
			return false;
	}
	*ret_digits = value;
	*ret_fraction = bytes - point;
	return true;
}

static bool scale_decimal(const struct decimal *decimal, int power, int64_t *ret_value)
{
	uint64_t value = decimal->mantissa;

	if (power < 0)
		value = divide(decimal, -power);
	for (; power > 0 && value; power--) {
		if (value > VALUE_MOST / 10)
			return false;
		value *= 10;
	}
	if (value > VALUE_MOST)
		return false;
	*ret_value = decimal->is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool kread_decimal(const char *text, size_t bytes, int scale, int64_t *ret_value)
{
	struct decimal decimal = {0};
	size_t fraction;

	if (!is_plain(text, bytes, &decimal.mantissa, &fraction)) {
		decimal = take_apart(text, bytes);
		fraction = 0;
	}
	return scale_decimal(&decimal, decimal.exponent + scale - (int)fraction, ret_value);
}

static double exact_double(const struct decimal *decimal, const char *text)
{
	double value = (double)decimal->mantissa;

	if (decimal->digits > EXACT_DIGITS || decimal->exponent > 0 ||
	    decimal->exponent < -POWER_MOST)
		return strtod(text, NULL);
	value /= powers[-decimal->exponent];
	return decimal->is_negative ? -value : value;
}

/* Sets an integer that may not fit into 64 bits; returns false if it does not. */
static bool take_long_integer(const char *text, struct trace_scope_attribute *value)
{
	uint64_t number;

	errno = 0;
	number = *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	value->kind = *text != '-' && number > INT64_MAX ? RECORD_ATTRIBUTE_UINT64
							 : RECORD_ATTRIBUTE_INT64;
	value->value.uint64 = number;
	return errno == 0;
}

static bool take_plain(const char *text, size_t bytes, struct trace_scope_attribute *value)
{
	uint64_t digits;
	size_t fraction;

	if (!is_plain(text, bytes, &digits, &fraction))
		return false;
	if (fraction == 0) {
		value->kind = RECORD_ATTRIBUTE_INT64;
		value->value.uint64 = digits;
		return true;
	}
	if (digits > EXACT_INTEGER)
		return false;
	value->kind = RECORD_ATTRIBUTE_DOUBLE;
	value->value.float64 = (double)digits / powers[fraction];
	return true;
}

void kread_number(struct kread_load *load, const char *text, size_t bytes,
		  struct trace_scope_attribute *value)
{
	struct decimal decimal;
	char copy[TEXT_MOST + 1];

	if (take_plain(text, bytes, value))
		return;
	decimal = take_apart(text, bytes);
	if (decimal.is_integer && decimal.digits < DIGITS_MOST) {
		value->kind = RECORD_ATTRIBUTE_INT64;
		value->value.int64 = (int64_t)decimal.mantissa;
		if (decimal.is_negative)
			value->value.int64 = -value->value.int64;
		return;
	}
	if (bytes > TEXT_MOST) {
		value->kind = RECORD_ATTRIBUTE_TEXT;
		value->value.uint64 = 0;
		value->value.text = strtab_intern(load->import.strings, text, bytes);
		return;
	}
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	if (decimal.is_integer && take_long_integer(copy, value))
		return;
	value->kind = RECORD_ATTRIBUTE_DOUBLE;
	value->value.float64 = exact_double(&decimal, copy);
}
