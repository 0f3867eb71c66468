/* Plays HSA programs under the injected library on the software GPU, each in a process and a folder
 * of its own, and checks what was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

#define ARGUMENTS_MOST 24

struct play {
	char folder[PATH_MAX];
	struct rows *rows;
};

static const char *build_dir(void)
{
	const char *dir = getenv("BUILD_DIR");

	return dir ? dir : ".";
}

static void exec_program(const struct play *play, const char *program, char *const *arguments)
{
	char path[2 * PATH_MAX];
	int out;

	snprintf(path, sizeof(path), "%s/stdout", play->folder);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(out, STDOUT_FILENO);
	snprintf(path, sizeof(path), "%s/lib/dagtap/softgpu", build_dir());
	setenv("LD_LIBRARY_PATH", path, 1);
	snprintf(path, sizeof(path), "%s/lib/dagtap/libdagtap-inject.so %s/tests/hsa_other_tool.so",
		 build_dir(), build_dir());
	setenv("HSA_TOOLS_LIB", path, 1);
	setenv("DAGTAP_SPOOL", play->folder, 1);
	snprintf(path, sizeof(path), "%s/%s", build_dir(), program);
	alarm(120); /* outlives the exec: a program that hangs fails the case */
	execv(path, arguments);
	_exit(127);
}

/* "tests/hsa-scenes fork": runs it with the software GPU set to CONFIG; it must exit with 0. */
static struct play play(const char *config, const char *command_line)
{
	char words[512], *arguments[ARGUMENTS_MOST] = {0}, *rest = words;
	struct play play = {.folder = "/tmp/test-capture-hsa-XXXXXX"};
	int count = 0, status;
	pid_t child;

	assert_non_null(mkdtemp(play.folder));
	snprintf(words, sizeof(words), "%s", command_line);
	while (count < ARGUMENTS_MOST - 1 && (arguments[count] = strtok_r(rest, " ", &rest)))
		count++;
	setenv("DAGTAP_SOFTGPU", config, 1);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		exec_program(&play, arguments[0], arguments);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		print_error("%s: status 0x%x, see %s\n", command_line, (unsigned)status,
			    play.folder);
	assert_int_equal(status, 0);
	play.rows = rows_read(play.folder);
	return play;
}

static void play_end(struct play *play)
{
	char command[PATH_MAX + 16];

	rows_free(play->rows);
	snprintf(command, sizeof(command), "rm -r %s", play->folder);
	assert_int_equal(system(command), 0);
}

static uint64_t drops(const struct rows *rows, enum record_class class)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		sum += rows->dropped_by[class][cause];
	return sum;
}

/* Rows, the gates' own counts and the device's write indices say the same. On a busy machine
 * records may be dropped: then they are counted. */
static void check_ledger(const struct play *play)
{
	const struct rows *rows = play->rows;
	uint64_t dispatches = 0, barriers = 0;

	assert_true(rows->closed);
	assert_true(rows->without_done <= drops(rows, RECORD_CLASS_DONE));
	assert_true(rows->orphans <= drops(rows, RECORD_CLASS_DISPATCH));
	for (uint32_t i = 0; i < ROWS_QUEUES_MOST; i++) {
		const struct row_queue *queue = &rows->queues[i];

		if (!queue->exists)
			continue;
		assert_true(queue->is_counted);
		assert_true(queue->dispatches <= queue->count.dispatches);
		assert_int_equal(queue->count.write_index, queue->count.dispatches +
								   queue->count.barriers +
								   queue->count.others);
		dispatches += queue->count.dispatches;
		barriers += queue->count.barriers;
	}
	assert_int_equal(dispatches, rows->dispatch_count + drops(rows, RECORD_CLASS_DISPATCH));
	assert_int_equal(barriers, rows->barriers + drops(rows, RECORD_CLASS_BARRIER));
	assert_int_equal(rows_witness(play->folder, "softgpu", "packets_kernel_dispatch"),
			 dispatches);
	assert_int_equal(rows_witness(play->folder, "softgpu", "signal_errors"), 0);
}

static void print_untimed(const struct play *play)
{
	for (int i = 1; i < RECORD_UNTIMED_COUNT; i++) {
		if (play->rows->untimed[i])
			print_error("%s: %" PRIu64 " untimed, cause %d\n", play->folder,
				    play->rows->untimed[i], i);
	}
}

/* Plays on a device that is slow enough for any machine to follow: COUNT dispatches, all timed. */
static void play_timed(const char *config, const char *command_line, uint64_t count)
{
	struct play p = play(config, command_line);

	print_untimed(&p);
	check_ledger(&p);
	assert_int_equal(p.rows->dropped, 0);
	assert_int_equal(p.rows->dispatch_count, count);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], count);
	play_end(&p);
}

/* ---- cases ---- */

static void producers_and_queues(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 16 --queues 4 --packets 20000 --batch 7 "
		   "--ring 256 --barrier",
		   20000);
}

/* As fast as it goes: what is lost or untimed has a cause, and the sums are right. */
static void device_without_kernel_time(void **state)
{
	struct play p =
		play("gfx906,kernel_ns=0",
		     "examples/raw-driver --producers 16 --packets 50000 --batch 1 --ring 64");
	const struct rows *rows = p.rows;

	(void)state;
	check_ledger(&p);
	assert_int_equal(rows->dispatch_count + drops(rows, RECORD_CLASS_DISPATCH), 50000);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO] + rows->untimed[RECORD_UNTIMED_NO_SLOT] +
				 rows->without_done,
			 rows->dispatch_count);
	play_end(&p);
}

static void batch_larger_than_ring(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=10000",
		   "examples/raw-driver --batch 10000 --ring 1024 --packets 30000 --barrier",
		   30000);
}

static void signal_on_every_packet(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 8 --queues 3 --packets 20000 --completion each "
		   "--batch 16 --profile",
		   20000);
}

static void dependencies_between_queues(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 8 --queues 4 --packets 20000 --cross --batch 5",
		   20000);
}

static void doorbells_out_of_order(void **state)
{
	(void)state;
	play_timed("gfx906", "tests/hsa-scenes out-of-order", 3);
}

static void cas_and_store_writers(void **state)
{
	(void)state;
	play_timed("gfx906", "tests/hsa-scenes writers", 1000);
}

static void other_packets_pass_unchanged(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes unknown");

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->queues[1].count.others, 2);
	assert_int_equal(rows_witness(p.folder, "softgpu", "packets_vendor"), 1);
	assert_int_equal(rows_witness(p.folder, "softgpu", "packets_agent_dispatch"), 1);
	play_end(&p);
}

/* What the application read from its signals is what was recorded. */
static void own_signals_keep_their_times(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes own-signals");
	unsigned long long start, end;
	char path[PATH_MAX + 16];
	size_t i = 0;
	FILE *out;

	(void)state;
	check_ledger(&p);
	snprintf(path, sizeof(path), "%s/stdout", p.folder);
	out = fopen(path, "r");
	assert_non_null(out);
	while (fscanf(out, " ticks %llu %llu", &start, &end) == 2) {
		assert_true(i < p.rows->dispatch_count);
		assert_int_equal(p.rows->dispatches[i].done.untimed, RECORD_UNTIMED_NO);
		assert_int_equal(p.rows->dispatches[i].done.start_tick, start);
		assert_int_equal(p.rows->dispatches[i].done.end_tick, end);
		i++;
	}
	fclose(out);
	assert_int_equal(i, 600);
	assert_int_equal(p.rows->dispatch_count, 600);
	play_end(&p);
}

static void shared_signal_is_said(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000000", "tests/hsa-scenes shared-signal");

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 1);
	play_end(&p);
}

static void foreign_signal_is_said(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes foreign-signal");

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_FOREIGN_SIGNAL], 1);
	play_end(&p);
}

static void queue_destroyed_in_flight(void **state)
{
	struct play p = play("gfx906,kernel_ns=60000000000,overlap=1",
			     "tests/hsa-scenes destroy-in-flight");

	(void)state;
	assert_true(p.rows->closed);
	assert_int_equal(p.rows->dispatch_count, 3);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_QUEUE_DESTROYED], 3);
	assert_int_equal(p.rows->queues[1].count.destroyed, 1);
	assert_int_equal(rows_witness(p.folder, "softgpu", "signal_errors"), 0);
	play_end(&p);
}

static void exit_in_flight(void **state)
{
	struct play p = play("gfx906,kernel_ns=60000000000", "tests/hsa-scenes exit-in-flight");

	(void)state;
	assert_true(p.rows->closed);
	assert_int_equal(p.rows->queues[1].count.dispatches, 3);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHUTDOWN], 3);
	play_end(&p);
}

static void fork_child_is_silent(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes fork");

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 20);
	assert_int_equal(rows_spool_count(p.folder), 1);
	play_end(&p);
}

static void copies_are_timed(void **state)
{
	struct play p = play("gfx906,copy_ns=2000000", "tests/hsa-scenes copies");
	uint64_t last_end = 0;

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->copy_count, 102);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 100);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
	for (size_t i = 0; i < 100; i++) {
		const struct row_copy *copy = &p.rows->copies[i];

		assert_int_equal(copy->r.bytes, i + 1);
		/* Host clock: not before it was started, nor before the last one's end. */
		assert_true(copy->start + 2000 > copy->r.ns);
		assert_true(copy->start >= last_end && copy->end > copy->start);
		last_end = copy->end;
	}
	play_end(&p);
}

static void queues_come_and_go(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000", "tests/hsa-scenes churn");

	(void)state;
	check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 4 * 25 * 20 * 2);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], p.rows->dispatch_count);
	assert_int_equal(rows_witness(p.folder, "softgpu", "queues_created"), 101);
	play_end(&p);
}

static void signals_move_between_uses(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000,copy_ns=2000", "tests/hsa-scenes mix");

	(void)state;
	check_ledger(&p);
	print_untimed(&p);
	assert_int_equal(p.rows->dispatch_count, 8 * 150);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 8 * 150);
	assert_int_equal(p.rows->copy_count, 8 * 75);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 8 * 75);
	assert_int_equal(p.rows->barriers, 8 * 75);
	play_end(&p);
}

/* Kernel ids are new when a code object is loaded again at the same address. */
static void runtime_starts_again(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes again");
	const struct rows *rows = p.rows;

	(void)state;
	assert_int_equal(rows->dispatch_count, 10);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO], 10);
	assert_int_equal(rows->kernels, 2);
	assert_int_equal(rows->kernels_gone, 2);
	assert_int_equal(rows->kernel_of_last, 2);
	assert_string_equal(rows->kernel_name, "ticket");
	assert_int_equal(rows->dispatches[0].r.kernel, 1);
	assert_int_equal(rows->dispatches[9].r.kernel, 2);
	play_end(&p);
}

/* Another tool's queue is only counted; the application's own is traced as ever. */
static void intercepted_queue_is_observed(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes intercepted");
	const struct row_queue *own = &p.rows->queues[1], *proxy = &p.rows->queues[2];

	(void)state;
	assert_int_equal(own->r.mode, RECORD_QUEUE_HARVEST);
	assert_int_equal(own->dispatches, 10);
	assert_int_equal(proxy->r.mode, RECORD_QUEUE_OBSERVE);
	assert_int_equal(proxy->dispatches, 0);
	assert_int_equal(proxy->count.write_index, 11);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 10);
	play_end(&p);
}

/* ---- the clock ---- */

/* Piecewise linear between anchors, the end pieces extended. */
static double host_of_tick(const struct rows *rows, uint64_t tick)
{
	const struct record_anchor *a = rows->anchors, *b;
	size_t i = 1;

	while (i + 1 < rows->anchor_count && a[i].tick < tick)
		i++;
	b = &a[i - 1];
	return (double)(int64_t)(b->host_ns - a[0].host_ns) +
	       (double)(int64_t)(tick - b->tick) * (double)(a[i].host_ns - b->host_ns) /
		       (double)(a[i].tick - b->tick);
}

static void check_truth(const struct rows *rows, const char *path)
{
	unsigned long long queue, index, start, end, start_tick, end_tick;
	FILE *truth = fopen(path, "r");
	size_t rows_seen = 0;

	assert_non_null(truth);
	while (fscanf(truth, "D %llu %llu %*s %llu %llu %llu %llu\n", &queue, &index, &start, &end,
		      &start_tick, &end_tick) == 6) {
		const struct row_dispatch *row = &rows->dispatches[index];
		double off_start, off_end;

		assert_int_equal(row->done.start_tick, start_tick);
		assert_int_equal(row->done.end_tick, end_tick);
		off_start = host_of_tick(rows, start_tick) -
			    (double)(int64_t)(start - rows->anchors[0].host_ns);
		off_end = host_of_tick(rows, end_tick) -
			  (double)(int64_t)(end - rows->anchors[0].host_ns);
		assert_true(off_start > -1000 && off_start < 1000);
		assert_true(off_end > -1000 && off_end < 1000);
		rows_seen++;
	}
	fclose(truth);
	assert_int_equal(rows_seen, 60);
}

static void drifting_clock_is_fitted(void **state)
{
	char truth[] = "/tmp/test-capture-hsa-truth-XXXXXX", config[256];
	struct play p;
	int file = mkstemp(truth);

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(config, sizeof(config),
		 "gfx906,clock_drift_ppm=50,clock_offset_ticks=-98765432,truth=%s", truth);
	p = play(config, "tests/hsa-scenes drift");
	check_ledger(&p);
	assert_true(p.rows->anchor_count >= 4);
	check_truth(p.rows, truth);
	play_end(&p);
	unlink(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(producers_and_queues),
		cmocka_unit_test(device_without_kernel_time),
		cmocka_unit_test(batch_larger_than_ring),
		cmocka_unit_test(signal_on_every_packet),
		cmocka_unit_test(dependencies_between_queues),
		cmocka_unit_test(doorbells_out_of_order),
		cmocka_unit_test(cas_and_store_writers),
		cmocka_unit_test(other_packets_pass_unchanged),
		cmocka_unit_test(own_signals_keep_their_times),
		cmocka_unit_test(shared_signal_is_said),
		cmocka_unit_test(foreign_signal_is_said),
		cmocka_unit_test(queue_destroyed_in_flight),
		cmocka_unit_test(exit_in_flight),
		cmocka_unit_test(fork_child_is_silent),
		cmocka_unit_test(copies_are_timed),
		cmocka_unit_test(queues_come_and_go),
		cmocka_unit_test(signals_move_between_uses),
		cmocka_unit_test(runtime_starts_again),
		cmocka_unit_test(intercepted_queue_is_observed),
		cmocka_unit_test(drifting_clock_is_fitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
