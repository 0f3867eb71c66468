/* Whichever allocation fails: opening a rank's recording and fitting clocks say so, and leak
 * nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../failing_memory.h"
#include "../launched.h"
#include "merge/rank_recording.h"
#include "merge_job.h"
#include "rank_scene.h"

/* Writes a recording with operations, one of them in a group, and one of CUDA's. */
static void write_rank(const char *path)
{
	struct rank_scene scene;

	rank_scene_init(&scene, 1, 3, "host", 1000);
	rank_scene_reduce(&scene, 1, 20000, 30000);
	rank_scene_call(&scene, RANK_GROUP_START, 0);
	rank_scene_call(&scene, RANK_ALL_REDUCE, 2);
	rank_scene_kernel(&scene, rank_scene_call(&scene, RANK_GROUP_END, 0), 40000, 50000);
	rank_scene_cuda_kernel(&scene, rank_scene_call(&scene, RANK_ALL_REDUCE, 3), 60000, 70000);
	rank_scene_return(&scene);
	rank_scene_write(&scene, path);
	scene_release(&scene.scene);
}

static void a_recording_is_opened_or_not_at_all(void **state)
{
	char path[TEST_PATH_BYTES];
	struct bundle bundle;
	bool is_through = false;

	close(mkstemp(test_path(path, "merge")));
	write_rank(path);
	assert_int_equal(bundle_open(path, &bundle, NULL), 0);
	for (uint64_t which = 1; !is_through; which++) {
		struct dagtap_error error = {.message = ""};
		uint64_t before = memory_allocations();
		struct rank_recording recording;
		int err;

		memory_fail(which);
		err = rank_recording_open(path, &bundle, &recording, &error);
		is_through = memory_allocations() - before < which;
		memory_fail(0);
		if (err == 0) {
			assert_int_equal(recording.traces[0]->activities_count, 3);
			rank_recording_close(&recording);
		}
		if (is_through)
			assert_int_equal(err, 0);
		else
			assert_true(err == 0 || err == -ENOMEM);
	}
	bundle_close(&bundle);
	unlink(path);
}

static void clocks_are_fitted_or_not_at_all(void **state)
{
	static struct job job;
	struct rank_clock clocks[JOB_CLOCKS_MOST];
	bool is_through = false;

	for (uint64_t which = 1; !is_through; which++) {
		uint64_t before = memory_allocations();
		int err;

		job_make_uneven(&job, 3);
		memory_fail(which);
		err = rank_clocks_fit(job.rows, job.row_count, job.facts, job.clock_count, 0,
				      clocks);
		is_through = memory_allocations() - before < which;
		memory_fail(0);
		assert_int_equal(err, is_through ? 0 : -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_opened_or_not_at_all),
		cmocka_unit_test(clocks_are_fitted_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
