/* The table and the rare case of the Kineto writer's numbers. */
#include "format/kineto/kineto_digits.h"

/* clang-format off */
#define TEN(tens)                                                                                  \
	"." tens "0." tens "1." tens "2." tens "3." tens "4."                                      \
	tens "5." tens "6." tens "7." tens "8." tens "9"
#define HUNDRED(hundreds)                                                                          \
	TEN(hundreds "0") TEN(hundreds "1") TEN(hundreds "2") TEN(hundreds "3") TEN(hundreds "4")  \
	TEN(hundreds "5") TEN(hundreds "6") TEN(hundreds "7") TEN(hundreds "8") TEN(hundreds "9")

const char kineto_thousandths[KINETO_THOUSANDTHS_BYTES] =
	HUNDRED("0") HUNDRED("1") HUNDRED("2") HUNDRED("3") HUNDRED("4")
	HUNDRED("5") HUNDRED("6") HUNDRED("7") HUNDRED("8") HUNDRED("9");
/* clang-format on */

char *kineto_put_far(struct kineto_near *near, char *at, uint64_t value)
{
	/* Such a number does not begin like its thousand, or its beginning is too long. */
	if (value < 1000 || value >= KINETO_NEAR_END)
		return kineto_put_u64(at, value);
	near->first = value - value % 1000;
	near->bytes = (size_t)(kineto_put_u64(near->digits, value / 1000) - near->digits);
	return kineto_put_near(near, at, value);
}

char *kineto_put_long(char *at, uint64_t value)
{
	uint64_t high = value / KINETO_DIGITS_VALUES;

	at = kineto_put_u64(at, high);
	return kineto_put_digits(at, (uint32_t)(value - high * KINETO_DIGITS_VALUES), 8);
}
