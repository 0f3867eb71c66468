/*
 * What the bytes of an XSpace file are spent on: a real profile with known sizes, and damaged
 * files.
 */
#include "xspace_written.h"

#include <errno.h>

#include "format/xspace/xspace_account.h"

static char *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	char *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*ret_size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*ret_size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_size, file), *ret_size);
	fclose(file);
	return bytes;
}

static const struct xspace_account_row *find_row(const struct xspace_account_side *side,
						 const char *name)
{
	for (uint32_t i = 0; i < side->rows_count; i++) {
		if (strcmp(side->rows[i].name, name) == 0)
			return &side->rows[i];
	}
	fail_msg("no row \"%s\"", name);
	return NULL;
}

/*
 * The figures are from the profile's description: 115 bytes a device event, 39 bytes a host event.
 */
static void a_profile_of_jax(void **state)
{
	char path[4096];
	struct xspace_account account;
	size_t size;
	char *bytes;

	snprintf(path, sizeof(path), "%s/tests/data/jax-small.xplane.pb", getenv("SOURCE_DIR"));
	bytes = read_file(path, &size);
	assert_int_equal(xspace_account(bytes, size, &account), 0);
	assert_int_equal(account.device.events, 164);
	assert_int_equal(account.device.bytes / 164, 115);
	assert_int_equal(account.host.events, 605);
	assert_int_equal(account.host.bytes / 605, 38);
	assert_int_equal(find_row(&account.device, "correlation_id")->count, 164);
	assert_int_equal(find_row(&account.device, "theoretical_occupancy_pct")->bytes, 164 * 13);
	assert_int_equal(find_row(&account.host, "step_num")->count, 4);
	xspace_account_release(&account);
	free(bytes);
}

static void rows_add_up_and_damage_is_reported(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct xspace_account account;
	struct message space;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 10; i++) {
		scene_call(scene, "hipLaunchKernel", i + 1, 100 * i, 100 * i + 10);
		scene_activity(scene, work, 100 * i + 20, 100 * i + 50);
	}
	space = write_xspace(scene);
	assert_int_equal(xspace_account(space.bytes, space.size, &account), 0);
	assert_int_equal(account.device.events, 10);
	assert_int_equal(account.host.events, 10);
	for (uint32_t i = 0; i < account.device.rows_count; i++)
		sum += account.device.rows[i].bytes;
	/* In addition: the event's key and length, and the id of its name. */
	assert_int_equal(account.device.bytes, sum + account.device.time_bytes + 10 * 4);
	xspace_account_release(&account);
	for (size_t size = 1; size < space.size; size++) {
		if (xspace_account(space.bytes, size, &account) == 0)
			xspace_account_release(&account);
	}
	assert_int_equal(xspace_account(space.bytes, space.size / 2, &account), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(a_profile_of_jax),
		KEPT_CASE(rows_add_up_and_damage_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
