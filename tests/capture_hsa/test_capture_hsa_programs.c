/* Plays HSA programs under the injected library on the software GPU and checks what was
 * recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../launched.h"
#include "play.h"

/* ---- cases ---- */

/* Many producers on several queues: every dispatch is recorded and timed. */
static void producers_and_queues(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 16 --queues 4 --packets 20000 --batch 7 "
		   "--ring 256 --barrier",
		   20000);
}

/* The device runs as fast as it can. Records that are dropped and dispatches that are untimed
 * must have a cause, and the sums must agree. */
static void device_without_kernel_time(void **state)
{
	struct play p =
		play("gfx906,kernel_ns=0",
		     "examples/raw-driver --producers 16 --packets 50000 --batch 1 --ring 64");
	const struct rows *rows = p.rows;

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(rows->dispatch_count + play_drops(rows, RECORD_CLASS_DISPATCH), 50000);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO] + rows->untimed[RECORD_UNTIMED_NO_SLOT] +
				 rows->without_done,
			 rows->dispatch_count);
	play_end(&p);
}

/* A batch with more packets than the ring has slots must pass (H21). */
static void h21_batch_larger_than_ring(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=10000",
		   "examples/raw-driver --batch 10000 --ring 1024 --packets 30000 --barrier",
		   30000);
}

/* A completion signal of the application on every packet must not cost any times. */
static void signal_on_every_packet(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 8 --queues 3 --packets 20000 --completion each "
		   "--batch 16 --profile",
		   20000);
}

/* Kernels that wait for kernels of other queues must neither hang nor lose times (H18). */
static void h18_dependencies_between_queues(void **state)
{
	(void)state;
	play_timed("gfx906,kernel_ns=20000",
		   "examples/raw-driver --producers 8 --queues 4 --packets 20000 --cross --batch 5",
		   20000);
}

/* The scene rings twice, each time before a packet is written whose writer then does not ring. */
static void doorbells_out_of_order(void **state)
{
	struct play p = play_bare(NULL, "gfx906", "tests/hsa-scenes out-of-order");

	(void)state;
	play_end(&p);
	p = play("gfx906", "tests/hsa-scenes out-of-order");
	play_check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 3);
	assert_int_equal(play_device(&p, "doorbells"), 2);
	play_end(&p);
}

/* Producers may advance the write index with compare-and-swap or with a store. */
static void cas_and_store_writers(void **state)
{
	(void)state;
	play_timed("gfx906", "tests/hsa-scenes writers", 1000);
}

/* Packets of other types reach the device and are counted as others. */
static void other_packets_pass_unchanged(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes unknown");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->queues[1].count.others, 2);
	assert_int_equal(play_device(&p, "packets_vendor"), 1);
	assert_int_equal(play_device(&p, "packets_agent_dispatch"), 1);
	play_end(&p);
}

/* The times that the application read from its signals are those that were recorded. */
static void h08_own_signals_keep_their_times(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes own-signals");
	unsigned long long start, end;
	char path[PATH_MAX + 16];
	size_t i = 0;
	FILE *out;

	(void)state;
	play_check_ledger(&p);
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

/* Two packets that share a signal have no times of their own; the recording says so. */
static void shared_signal_is_said(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000000", "tests/hsa-scenes shared-signal");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 1);
	play_end(&p);
}

/* A signal that the runtime did not make is not touched; its dispatch is untimed (H12). */
static void h12_foreign_signal_is_left_alone(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes foreign-signal");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_FOREIGN_SIGNAL], 1);
	play_end(&p);
}

/* Kernels that are lost with their queue are untimed, with that cause (H19). */
static void h19_queue_destroyed_in_flight(void **state)
{
	struct play p =
		play_giving_up("queue_drain=0", NULL, "gfx906,kernel_ns=60000000000,overlap=1",
			       "tests/hsa-scenes destroy-in-flight");

	(void)state;
	assert_true(p.rows->closed);
	assert_int_equal(p.rows->dispatch_count, 3);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_QUEUE_DESTROYED], 3);
	assert_int_equal(p.rows->queues[1].count.destroyed, 1);
	assert_int_equal(play_device(&p, "signal_errors"), 0);
	play_end(&p);
}

/* The process exits with kernels in flight: the spool is closed and complete. */
static void exit_in_flight(void **state)
{
	struct play p = play_giving_up("device_drain_most=0", NULL, "gfx906,kernel_ns=60000000000",
				       "tests/hsa-scenes exit-in-flight");

	(void)state;
	assert_true(p.rows->closed);
	assert_int_equal(p.rows->queues[1].count.dispatches, 3);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHUTDOWN], 3);
	play_end(&p);
}

/* A fork child writes no spool, and adds no row to the spool of its parent (H20). */
static void h20_fork_child_is_silent(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes fork");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 20);
	assert_int_equal(rows_spool_count(p.folder), 1);
	play_end(&p);
}

#define COPY_NS	 2000000
#define ABOUT_NS 20 /* two ticks of the device */

/* The scene holds the clock; each copy begins when it is submitted. */
static void copies_are_timed(void **state)
{
	struct play p =
		play_held("gfx906,copy_ns=2000000,copy_bytes_per_us=0", "tests/hsa-scenes copies");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->copy_count, 102);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 100);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
	for (size_t i = 0; i < 100; i++) {
		const struct row_copy *copy = &p.rows->copies[i];

		assert_int_equal(copy->r.bytes, i + 1);
		assert_in_range(copy->start, copy->r.ns - ABOUT_NS, copy->r.ns + ABOUT_NS);
		assert_in_range(copy->end, copy->r.ns + COPY_NS - ABOUT_NS,
				copy->r.ns + COPY_NS + ABOUT_NS);
	}
	play_end(&p);
}

/* A copy keeps its times even when the relation to the host's clock is uncertain. */
static void copies_are_timed_by_a_doubtful_clock(void **state)
{
	struct play p = play_behind("hsa_slow_clock_tool.so", "gfx906,copy_ns=20000",
				    "tests/hsa-scenes copies");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 100);
	play_end(&p);
}

static void rect_copies_are_timed(void **state)
{
	struct play p = play("gfx906,copy_ns=200000", "tests/hsa-scenes rect-copies");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->copy_count, 1);
	assert_int_equal(p.rows->copies[0].kind, RECORD_COPY_RECT);
	assert_int_equal(p.rows->copies[0].r.bytes, 96);
	assert_int_equal(p.rows->copies[0].r.src_agent, 0);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 1);
	play_end(&p);
}

/* Copies by functions that only newer runtimes have, at the offsets of their tables. */
static void newer_copies_are_timed(void **state)
{
	struct play p = play_behind("hsa_newer_tool.so", "gfx906,copy_ns=20000",
				    "tests/hsa-scenes newer-copies");
	const struct rows *rows = p.rows;

	(void)state;
	play_check_ledger(&p);
	/* One copy on a chosen engine. In the batch of 80 operations the tool watches 64; the
	 * broadcast adds two more destinations. */
	assert_int_equal(rows->copy_count, 1 + 80 + 2);
	assert_int_equal(rows->copies_untimed[RECORD_UNTIMED_NO], 65);
	assert_int_equal(rows->copies_untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
	assert_int_equal(rows->copies_untimed[RECORD_UNTIMED_NO_SLOT], 16);
	assert_int_equal(rows_witness(p.folder, "hsa", "copies_started"), 83);
	play_end(&p);
}

/* Queues that come and go while others are used are all recorded. */
static void queues_come_and_go(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000", "tests/hsa-scenes churn");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 4 * 25 * 20 * 2);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], p.rows->dispatch_count);
	assert_int_equal(play_device(&p, "queues_created"), 101);
	play_end(&p);
}

/* A signal that moves between uses (H9) gives each use its own times. */
static void h09_signals_move_between_uses(void **state)
{
	struct play p = play("gfx906,kernel_ns=2000,copy_ns=2000", "tests/hsa-scenes mix");

	(void)state;
	play_check_ledger(&p);
	play_print_untimed(&p);
	assert_int_equal(p.rows->dispatch_count, 8 * 150);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 8 * 150);
	assert_int_equal(p.rows->copy_count, 8 * 75);
	assert_int_equal(p.rows->copies_untimed[RECORD_UNTIMED_NO], 8 * 75);
	assert_int_equal(p.rows->barriers, 8 * 75);
	play_end(&p);
}

/* A code object that is loaded again at the same address gets new kernel ids. */
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

/* For a queue of another tool dagtap records the packets that reach the device; the
 * application's own queue is traced as usual. */
static void intercepted_queue_is_seen(void **state)
{
	struct play p = play("gfx906", "tests/hsa-scenes intercepted");
	const struct row_queue *own = &p.rows->queues[1], *proxy = &p.rows->queues[2];

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(own->r.mode, RECORD_QUEUE_HARVEST);
	assert_int_equal(own->dispatches, 10);
	assert_int_equal(proxy->r.mode, RECORD_QUEUE_INTERCEPT);
	assert_int_equal(proxy->dispatches, 10);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 20);
	play_end(&p);
}

/* ---- the clock ---- */

/* Converts ticks to host time, piecewise linear between anchors; the end pieces are extended. */
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

/* Converted times stay close to the true times although the clocks drift. */
static void drifting_clock_is_fitted(void **state)
{
	char truth[TEST_PATH_BYTES], config[2 * TEST_PATH_BYTES];
	struct play p;
	int file = mkstemp(test_path(truth, "truth"));

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(config, sizeof(config),
		 "gfx906,clock_drift_ppm=50,clock_offset_ticks=-98765432,truth=%s", truth);
	p = play_held(config, "tests/hsa-scenes drift");
	play_check_ledger(&p);
	assert_in_range(p.rows->anchor_count, 4, SIZE_MAX);
	check_truth(p.rows, truth);
	play_end(&p);
	unlink(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(producers_and_queues),
		cmocka_unit_test(device_without_kernel_time),
		cmocka_unit_test(h21_batch_larger_than_ring),
		cmocka_unit_test(signal_on_every_packet),
		cmocka_unit_test(h18_dependencies_between_queues),
		cmocka_unit_test(doorbells_out_of_order),
		cmocka_unit_test(cas_and_store_writers),
		cmocka_unit_test(other_packets_pass_unchanged),
		cmocka_unit_test(h08_own_signals_keep_their_times),
		cmocka_unit_test(shared_signal_is_said),
		cmocka_unit_test(h12_foreign_signal_is_left_alone),
		cmocka_unit_test(h19_queue_destroyed_in_flight),
		cmocka_unit_test(exit_in_flight),
		cmocka_unit_test(h20_fork_child_is_silent),
		cmocka_unit_test(copies_are_timed),
		cmocka_unit_test(copies_are_timed_by_a_doubtful_clock),
		cmocka_unit_test(rect_copies_are_timed),
		cmocka_unit_test(newer_copies_are_timed),
		cmocka_unit_test(queues_come_and_go),
		cmocka_unit_test(h09_signals_move_between_uses),
		cmocka_unit_test(runtime_starts_again),
		cmocka_unit_test(intercepted_queue_is_seen),
		cmocka_unit_test(drifting_clock_is_fitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
