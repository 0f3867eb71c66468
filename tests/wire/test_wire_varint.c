/* The fast varint functions against the plain algorithm of the encoding guide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "wire/varint.h"

static void expect(uint64_t value)
{
	uint8_t plain[VARINT_BYTES_MAX], fast[VARINT_BYTES_MAX];
	uint64_t rest = value;
	unsigned count = 0;

	for (; rest >= 0x80; rest >>= 7)
		plain[count++] = (uint8_t)(rest | 0x80);
	plain[count++] = (uint8_t)rest;
	assert_int_equal(varint_bytes(value), count);
	assert_ptr_equal(varint_put(fast, value), fast + count);
	assert_memory_equal(fast, plain, count);
}

static void every_length_at_its_edges(void **state)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		for (uint64_t near = 0; near < 5; near++)
			expect((UINT64_C(1) << bit) + near - 2);
	}
}

static void many_values(void **state)
{
	uint64_t random = test_seed();

	for (unsigned i = 0; i < 200000; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		expect(random >> (i % 64));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_at_its_edges),
		cmocka_unit_test(many_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
