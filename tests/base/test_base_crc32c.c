/*
 * crc32c gives the sums of RFC 3720 appendix B.4: in one piece, in pieces, and from unaligned
 * addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"

static void knows_the_published_sums(void **state)
{
	unsigned char bytes[32];

	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, "", 0), 0);
}

static void goes_on_where_it_stopped(void **state)
{
	unsigned char bytes[1024];
	uint32_t whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7 + i / 3);
	whole = crc32c(0, bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= sizeof(bytes); cut += 13)
		assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, sizeof(bytes) - cut),
				 whole);
}

static void does_not_mind_where_bytes_lie(void **state)
{
	unsigned char room[64 + 8];

	for (int shift = 0; shift < 8; shift++) {
		memset(room, 0xee, sizeof(room));
		memcpy(room + shift, "123456789", 9);
		assert_int_equal(crc32c(0, room + shift, 9), 0xe3069283);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_published_sums),
		cmocka_unit_test(goes_on_where_it_stopped),
		cmocka_unit_test(does_not_mind_where_bytes_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
