/* Kernel names: C++ names are demangled, all others are left unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/demangle.h"

static void assert_name(const char *symbol, size_t bytes, const char *name)
{
	struct strtab strings;

	assert_int_equal(strtab_init(&strings), 0);
	assert_string_equal(strings.strings[demangle_intern(&strings, symbol, bytes)], name);
	strtab_release(&strings);
}

static void cpp_symbols_are_readable(void **state)
{
	assert_name("_Z3addPfii", 10, "add(float*, int, int)");
	/* The name is not terminated: the length counts. */
	assert_name("_Z3addPfiixyz", 10, "add(float*, int, int)");
	assert_name("_ZN2at6native4gemmILi4EfEEvPT0_", 31,
		    "void at::native::gemm<4, float>(float*)");
}

static void everything_else_stays(void **state)
{
	static const char *const names[] = {
		"gemm", "", "_Z", "_Zxx", "_ZN", "Z3addPf", "Cijk_Ailk_Bljk_SB_MT64x64"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_name(names[i], strlen(names[i]), names[i]);
}

static void long_and_deep_ones_stay(void **state)
{
	size_t bytes = 100000;
	char *symbol = malloc(bytes + 1);

	assert_non_null(symbol);
	memset(symbol, 'P', bytes);
	memcpy(symbol, "_Z1f", 4);
	symbol[bytes] = '\0';
	assert_name(symbol, bytes, symbol);
	symbol[16000] = '\0';
	assert_name(symbol, 16000, symbol);
	free(symbol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_symbols_are_readable),
		cmocka_unit_test(everything_else_stays),
		cmocka_unit_test(long_and_deep_ones_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
