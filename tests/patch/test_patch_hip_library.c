/* Which libamdhip64 a context uses if there are several: the one that is loaded in the process,
 * whatever its file name, or else the newest. The folder STUBS has libamdhip64.so.7 and .so.5,
 * where the loader looks, and libamdhip64-0a1b2c3d.so. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <dagpatch/dagpatch.h>

#define HASHED STUBS "/bundled/libamdhip64-0a1b2c3d.so"

/* True if library NAME is loaded and dagpatch asked it for the number of devices. */
static bool was_asked(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
	int (*asked)(void) = NULL;
	bool is_asked;

	if (library)
		*(void **)&asked = dlsym(library, "stub_asked");
	is_asked = asked && asked() > 0;
	if (library)
		dlclose(library);
	return is_asked;
}

static void expect_taken(const char *library, const char *taken)
{
	static const char *const all[] = {"libamdhip64.so.7", "libamdhip64.so.5", HASHED};
	const struct dagpatch_options options = {
		.size = sizeof(options), .driver = "hip", .library = library};
	struct dagpatch_context *context;
	struct dagpatch_error error;

	if (dagpatch_context_create(&options, &context, &error) < 0)
		fail_msg("%s", error.message);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(was_asked(all[i]), strcmp(all[i], taken) == 0);
	dagpatch_context_destroy(context);
}

static void *load(const char *name, int flags)
{
	void *library = dlopen(name, RTLD_NOW | flags);

	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

static const char seven[] = "libamdhip64.so.7", five[] = "libamdhip64.so.5";

static void the_newest_where_none_is_loaded(void **state)
{
	expect_taken(NULL, seven);
}

static void the_one_that_is_loaded(void **state)
{
	void *library = load(five, RTLD_LOCAL);

	expect_taken(NULL, five);
	dlclose(library);
}

static void a_loaded_one_with_another_name(void **state)
{
	void *library = load(HASHED, RTLD_LOCAL);

	expect_taken(NULL, HASHED);
	dlclose(library);
}

/* Of two loaded libraries, the global one has the functions that the program calls. */
static void of_two_the_global_one(void **state)
{
	void *first = load(seven, RTLD_LOCAL), *second = load(five, RTLD_GLOBAL);

	expect_taken(NULL, five);
	dlclose(second);
	dlclose(first);
}

static void the_one_that_is_named(void **state)
{
	void *library = load(seven, RTLD_GLOBAL);

	expect_taken(five, five);
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_where_none_is_loaded),
		cmocka_unit_test(the_one_that_is_loaded),
		cmocka_unit_test(a_loaded_one_with_another_name),
		cmocka_unit_test(of_two_the_global_one),
		cmocka_unit_test(the_one_that_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
