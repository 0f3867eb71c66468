/*
 * crc32c gives the sums of RFC 3720 appendix B.4: in one piece, in pieces, and from unaligned
 * addresses; and of long pieces those that the definition gives.
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

/* The definition: a bit at a time, the polynomial reflected. */
static uint32_t bit_by_bit(const unsigned char *bytes, size_t length)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* Long bytes are summed in pieces, side by side. */
static void sums_long_pieces(void **state)
{
	static unsigned char bytes[65536 + 8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 16);
	for (size_t length = 3000; length < 3100; length++)
		assert_int_equal(crc32c(0, bytes, length), bit_by_bit(bytes, length));
	for (size_t shift = 0; shift < 8; shift++)
		assert_int_equal(crc32c(0, bytes + shift, 65536 - 5 * shift),
				 bit_by_bit(bytes + shift, 65536 - 5 * shift));
	for (size_t cut = 0; cut <= 65536; cut += 4099)
		assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, 65536 - cut),
				 bit_by_bit(bytes, 65536));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_published_sums),
		cmocka_unit_test(goes_on_where_it_stopped),
		cmocka_unit_test(does_not_mind_where_bytes_lie),
		cmocka_unit_test(sums_long_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
