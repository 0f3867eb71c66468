/* What the injected library does with the library that has settings for it. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_library_with_settings_may_be_unloaded(void **state)
{
	void *library = dlopen(SETTINGS_LIBRARY, RTLD_NOW);

	(void)state;
	assert_non_null(library);
	assert_non_null(dlopen(INJECTED, RTLD_NOW | RTLD_LOCAL));
	assert_int_equal(dlclose(library), 0);
	assert_null(dlopen(SETTINGS_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_with_settings_may_be_unloaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
