/* The dispatch tables of ROCr 7: their versions and sizes, and that exported functions call
 * through them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "raw_machine.h"
#include "softgpu/hsa_table.h"
#include "vendor/hsa_newer.h"

static struct machine machine;

static const struct hsa_newer_api_table *root(void)
{
	return (const struct hsa_newer_api_table *)table_get();
}

static struct hsa_newer_amd_ext_table *extension(void)
{
	return (struct hsa_newer_amd_ext_table *)root()->old.amd_ext;
}

static void expect_version(const struct hsa_table_version *version, uint32_t major, uint32_t bytes,
			   uint32_t step)
{
	assert_int_equal(version->major_id, major);
	assert_int_equal(version->minor_id, bytes);
	assert_int_equal(version->step_id, step);
}

/* The values of the headers of ROCr 7.2.4. */
static void versions_of_seven(void **state)
{
	expect_version(&root()->old.version, 3, 64, 1);
	expect_version(&root()->old.core->version, 2, 1016, 0);
	expect_version(&extension()->version, 2, 624, 8);
	expect_version(&root()->old.finalizer_ext->version, 2, 64, 0);
	expect_version(&root()->old.image_ext->version, 2, 128, 1);
	expect_version(&root()->tools->version, 1, 64, 0);
	expect_version(&root()->pc_sampling->version, 1, 72, 0);
}

static hsa_status_t says_out_of_resources(void)
{
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* A function that has another offset in major version 1, and one that version 1 does not have. */
static void exports_go_through_the_slots(void **state)
{
	struct hsa_newer_amd_ext_table *table = extension();
	const struct hsa_newer_amd_ext_table before = *table;
	hsa_amd_coherency_type_t type;
	uint32_t mask = 0;

	table->hsa_amd_queue_cu_get_mask_fn =
		(__typeof__(&hsa_amd_queue_cu_get_mask))(uintptr_t)says_out_of_resources;
	table->hsa_amd_memory_get_preferred_copy_engine_fn =
		(__typeof__(&hsa_amd_memory_get_preferred_copy_engine))(uintptr_t)
			says_out_of_resources;
	assert_int_equal(hsa_amd_queue_cu_get_mask(NULL, 32, &mask),
			 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	assert_int_equal(
		hsa_amd_memory_get_preferred_copy_engine(machine.gpu[0], machine.cpu, &mask),
		HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	assert_int_equal(hsa_amd_coherency_get_type(machine.gpu[0], &type), HSA_STATUS_SUCCESS);
	*table = before;
	assert_int_equal(
		hsa_amd_memory_get_preferred_copy_engine(machine.gpu[0], machine.cpu, &mask),
		HSA_STATUS_SUCCESS);
}

/* If the process has no HIP library, or the one of ROCm 5, tools get the tables of ROCm 5. */
static int versions_of_five(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		struct machine other;

		machine_open("gfx906", &other);
		_exit(root()->old.version.major_id == 1 && root()->old.version.minor_id == 48 &&
				      root()->old.amd_ext->version.minor_id == 400 &&
				      root()->old.image_ext->version.minor_id == 120
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	return status;
}

/* The values of the header with version 1.31 of AMD's interface. */
static int versions_of_the_newest(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		struct machine other;

		machine_open("gfx906,rocr7_tables=2", &other);
		_exit(root()->old.version.major_id == 3 && extension()->version.major_id == 2 &&
				      extension()->version.minor_id == 744 &&
				      extension()->version.step_id == 18
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	return status;
}

static int open_machine(void **state)
{
	if (versions_of_five() || versions_of_the_newest())
		return -1;
	machine_open("gfx942,rocr7_tables=1", &machine);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_of_seven),
		cmocka_unit_test(exports_go_through_the_slots),
	};

	return cmocka_run_group_tests_name("tables", tests, open_machine, NULL);
}
