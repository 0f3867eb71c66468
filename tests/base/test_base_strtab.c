/* Interned texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/strtab.h"

static void equal_text_has_equal_numbers(void **state)
{
	struct strtab tab;
	char text[32];

	assert_int_equal(strtab_init(&tab), 0);
	assert_int_equal(strtab_intern_z(&tab, ""), 0);
	for (uint32_t i = 1; i <= 5000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(strtab_intern_z(&tab, text), i);
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(strtab_intern_z(&tab, text), i);
		assert_string_equal(tab.strings[i], text);
	}
	assert_int_equal(strtab_intern(&tab, "text 7 and more", 6), 7);
	assert_int_equal(strtab_intern(&tab, "text 8\0hidden", 13), 8);
	assert_int_equal(strtab_intern_field(&tab, "text 9", 6), 9);
	assert_int_equal(strtab_format(&tab, "text %d", 10), 10);
	strtab_release(&tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_text_has_equal_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
