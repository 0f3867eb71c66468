/* The files that a process leaves behind, and fork. Each case runs this program again with the
 * name of a role, so that each has its own device. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <hsa/amd_hsa_signal.h>

#include "../launched.h"
#include "aql.h"

#define DISPATCHES 20

static const char *self;
static char folder[TEST_PATH_BYTES];

static char *path_in_folder(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Runs ROLE with CONFIGURATION; returns its wait status. */
static int run_role(const char *role, const char *configuration)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		setenv("ROLE_CONFIGURATION", configuration, 1);
		execl(self, self, role, (char *)NULL);
		_exit(126);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void role_dispatch(struct aql *aql)
{
	uint64_t **kernarg;
	hsa_queue_t *queue;

	kernarg = machine_allocate(aql->machine.kernarg, 4096);
	kernarg[0] = (uint64_t *)&kernarg[1];
	queue = aql_queue(aql, 64);
	for (int i = 0; i < DISPATCHES; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql->count, kernarg, AQL_BARRIER, (hsa_signal_t){0});

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
}

/* The child must end through exit with its destructors, although it does not have the parent's
 * threads. */
static int wait_for_child(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

static int role_fork(struct aql *aql)
{
	hsa_queue_t *queue = aql_queue(aql, 64);
	hsa_signal_t never = aql_signal(1);
	pid_t child;

	role_dispatch(aql);
	child = fork();
	if (child == 0) {
		/* As HIP's destructors do: wait for a signal that no thread completes, then
		 * destroy the queue and the signal. */
		hsa_signal_wait_scacquire(never, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					  HSA_WAIT_STATE_BLOCKED);
		hsa_queue_destroy(queue);
		hsa_signal_destroy(never);
		hsa_shut_down();
		exit(hsa_init() == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? 7 : 8);
	}
	return wait_for_child(child) == 7 << 8 ? 0 : 1;
}

/* Checks that the converted ticks differ from the log's by at most one tick. */
static int role_ticks(struct aql *aql)
{
	hsa_queue_t *queue = aql_queue(aql, 64);
	hsa_signal_t done = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql->scale, NULL, AQL_BARRIER, done);
	hsa_amd_profiling_dispatch_time_t time;
	FILE *file = fopen(getenv("ROLE_TICKS"), "w");

	hsa_amd_profiling_set_profiler_enabled(queue, 1);
	aql_submit(queue, &packet);
	aql_wait(done);
	hsa_amd_profiling_get_dispatch_time(aql->machine.gpu[0], done, &time);
	fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64, time.start, time.end,
		((amd_signal_t *)(uintptr_t)done.handle)->start_ts);
	fclose(file);
	return 0;
}

static atomic_int is_late_done;
static _Atomic(pthread_t) exiting_thread;
static sem_t exit_waits;

/* Replaces the C library's function, also for the software GPU. The exiting thread calls it when
 * it waits for a callback. */
__attribute__((visibility("default"))) int pthread_cond_wait(pthread_cond_t *fact,
							     pthread_mutex_t *lock);
int pthread_cond_wait(pthread_cond_t *fact, pthread_mutex_t *lock)
{
	const struct timespec never = {.tv_sec = INT64_MAX};

	if (pthread_equal(atomic_load(&exiting_thread), pthread_self()))
		sem_post(&exit_waits);
	return pthread_cond_timedwait(fact, lock, &never);
}

/* Ends only when the exiting process waits for it. */
static bool run_late(hsa_signal_value_t value, void *argument)
{
	(void)value;
	(void)argument;
	while (sem_wait(&exit_waits))
		;
	atomic_store(&is_late_done, 1);
	return false;
}

static void end_by_what_has_run(void)
{
	_exit(atomic_load(&is_late_done) ? 0 : 1);
}

/* What is registered first runs last, as destructors of libraries do. */
static int role_exit_with_callback(void)
{
	hsa_signal_t signal = aql_signal(1);

	sem_init(&exit_waits, 0, 0);
	hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, run_late, NULL);
	atomic_store(&exiting_thread, pthread_self());
	hsa_signal_store_screlease(signal, 0);
	return 2;
}

static int play_role(const char *role)
{
	struct aql aql;

	if (!strcmp(role, "idle"))
		return 0;
	if (!strcmp(role, "refused")) {
		setenv("DAGTAP_SOFTGPU", getenv("ROLE_CONFIGURATION"), 1);
		return hsa_init() == HSA_STATUS_ERROR_INVALID_ARGUMENT ? 0 : 1;
	}
	if (!strcmp(role, "exit-with-callback"))
		atexit(end_by_what_has_run);
	aql_open(getenv("ROLE_CONFIGURATION"), &aql);
	if (!strcmp(role, "exit-with-callback"))
		return role_exit_with_callback();
	if (!strcmp(role, "fork"))
		return role_fork(&aql);
	if (!strcmp(role, "ticks"))
		return role_ticks(&aql);
	role_dispatch(&aql);
	return 0;
}

static char *read_file(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	size_t length;

	if (!file)
		return NULL;
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static void the_report_holds_the_counters(void **state)
{
	char configuration[5000];
	char *text;

	snprintf(configuration, sizeof(configuration), "gfx906,kernel_ns=0,report=%s",
		 path_in_folder("report.json"));
	assert_int_equal(run_role("dispatch", configuration), 0);
	text = read_file(path_in_folder("report.json"));
	assert_non_null(text);
	assert_non_null(strstr(text, "\"isa\": \"gfx906\""));
	assert_non_null(strstr(text, "\"packets_kernel_dispatch\": 20,"));
	assert_non_null(strstr(text, "\"packets_barrier_and\": 1,"));
	assert_non_null(strstr(text, "\"doorbells\": 21,"));
	assert_non_null(strstr(text, "\"signal_errors\": 0,"));
}

static void a_process_without_hsa_init_leaves_nothing(void **state)
{
	char configuration[5000];

	snprintf(configuration, sizeof(configuration), "report=%s", path_in_folder("idle.json"));
	assert_int_equal(run_role("idle", configuration), 0);
	assert_null(read_file(path_in_folder("idle.json")));
}

static void a_bad_configuration_fails_hsa_init(void **state)
{
	assert_int_equal(run_role("refused", "gpus=999"), 0);
}

static void the_truth_has_a_line_for_each_dispatch(void **state)
{
	char configuration[5000], kernel[64];
	uint64_t queue, index, start, end, start_tick, end_tick, last_end = 0;
	int lines = 0, length = 0;
	const char *text;

	snprintf(configuration, sizeof(configuration), "gfx906,kernel_ns=1000,truth=%s",
		 path_in_folder("truth"));
	assert_int_equal(run_role("dispatch", configuration), 0);
	text = read_file(path_in_folder("truth"));
	assert_non_null(text);
	while (sscanf(text,
		      "D %" SCNu64 " %" SCNu64 " %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      "\n%n",
		      &queue, &index, kernel, &start, &end, &start_tick, &end_tick, &length) == 7) {
		assert_string_equal(kernel, "count");
		assert_int_equal(index, lines);
		assert_true(start >= last_end && end >= start + 1000);
		assert_in_range(end_tick - start_tick, (end - start) / 10 - 1,
				(end - start) / 10 + 1);
		last_end = end;
		text += length;
		lines++;
	}
	assert_int_equal(lines, DISPATCHES);
	assert_int_equal(*text, '\0');
}

static void times_agree_with_the_truth_under_drift(void **state)
{
	uint64_t start, end, tick, true_start, true_end, true_tick;
	char configuration[5000];

	setenv("ROLE_TICKS", path_in_folder("ticks"), 1);
	snprintf(configuration, sizeof(configuration),
		 "gfx906,clock_drift_ppm=50,clock_offset_ticks=123456789,truth=%s",
		 path_in_folder("truth"));
	assert_int_equal(run_role("ticks", configuration), 0);
	assert_int_equal(sscanf(read_file(path_in_folder("ticks")),
				"%" SCNu64 " %" SCNu64 " %" SCNu64, &start, &end, &tick),
			 3);
	assert_int_equal(sscanf(read_file(path_in_folder("truth")),
				"D %*u %*u scale %" SCNu64 " %" SCNu64 " %" SCNu64, &true_start,
				&true_end, &true_tick),
			 3);
	assert_int_equal(tick, true_tick);
	assert_true(true_start - start <= 11 && true_end - end <= 11);
}

/* A fork child must end and must not write the parent's report. */
static void a_forked_child_ends_and_leaves_the_report_alone(void **state)
{
	char configuration[5000];
	char *text;

	snprintf(configuration, sizeof(configuration),
		 "gfx906,kernel_ns=0,report=%s/fork.json,truth=%s/fork-truth", folder, folder);
	assert_int_equal(run_role("fork", configuration), 0);
	text = read_file(path_in_folder("fork.json"));
	assert_non_null(text);
	assert_non_null(strstr(text, "\"queues_destroyed\": 0,"));
	text = read_file(path_in_folder("fork-truth"));
	assert_non_null(text);
	for (int i = 0; i < DISPATCHES; i++)
		text = strchr(text, '\n') + 1;
	assert_int_equal(*text, '\0');
}

static void callbacks_that_are_due_run_before_the_process_ends(void **state)
{
	assert_int_equal(run_role("exit-with-callback", "gfx906"), 0);
}

static int make_folder(void **state)
{
	return mkdtemp(test_path(folder, "process")) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"report.json", "truth", "ticks", "fork.json",
					    "fork-truth"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_in_folder(names[i]));
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_holds_the_counters),
		cmocka_unit_test(a_process_without_hsa_init_leaves_nothing),
		cmocka_unit_test(a_bad_configuration_fails_hsa_init),
		cmocka_unit_test(the_truth_has_a_line_for_each_dispatch),
		cmocka_unit_test(times_agree_with_the_truth_under_drift),
		cmocka_unit_test(a_forked_child_ends_and_leaves_the_report_alone),
		cmocka_unit_test(callbacks_that_are_due_run_before_the_process_ends),
	};

	if (argc > 1)
		return play_role(argv[1]);
	self = argv[0];
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
