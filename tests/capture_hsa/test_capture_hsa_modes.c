/* The modes, serialised kernels, and the end of tracing, of the program and of the runtime:
 * checks what was recorded, and that the program runs as without the tool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "play.h"

#define MODE	  "DAGTAP_HSA_MODE"
#define SERIALIZE "DAGTAP_HSA_SERIALIZE"

static uint64_t timed(const struct play *p)
{
	return p->rows->untimed[RECORD_UNTIMED_NO];
}

/* ---- the modes ---- */

static const struct {
	const char *name;
	enum record_queue_mode mode;
} modes[] = {
	{"harvest", RECORD_QUEUE_HARVEST},
	{"borrow", RECORD_QUEUE_BORROW},
	{"observe", RECORD_QUEUE_OBSERVE},
	{"intercept", RECORD_QUEUE_INTERCEPT},
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* In each mode the ledger is closed; all dispatches are timed, except in observe. */
static void each_mode_closes_its_ledger(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES; i++) {
		struct play p = play_with(MODE, modes[i].name, "gfx906,kernel_ns=20000",
					  "examples/raw-driver --producers 8 --queues 4 --packets "
					  "8000 --cross --batch 5 --profile");
		uint64_t signals = 8000 / 5;

		play_check_ledger(&p);
		assert_int_equal(p.rows->dispatch_count, 8000);
		for (uint32_t q = 1; q <= 4; q++)
			assert_int_equal(p.rows->queues[q].r.mode, modes[i].mode);
		if (modes[i].mode == RECORD_QUEUE_OBSERVE) {
			/* In observe mode only dispatches with an application signal can be
			 * timed. */
			assert_int_equal(timed(&p), signals);
			assert_int_equal(p.rows->untimed[RECORD_UNTIMED_OBSERVED], 8000 - signals);
		} else {
			assert_int_equal(timed(&p), 8000);
		}
		play_end(&p);
	}
}

/* The intercept mode works with one packet per call and with batches. */
static void intercepted_one_by_one_and_in_batches(void **state)
{
	static const char *const configs[] = {"gfx906,kernel_ns=20000,intercept_batch=0",
					      "gfx906,kernel_ns=20000,intercept_batch=1"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct play p = play_with(MODE, "intercept", configs[i],
					  "examples/raw-driver --producers 4 --queues 2 --packets "
					  "6000 --batch 1500 --ring 256 --barrier");

		play_check_ledger(&p);
		assert_int_equal(timed(&p), 6000);
		play_end(&p);
	}
}

/* An unknown value of DAGTAP_HSA_MODE selects harvest. */
static void unknown_mode_is_harvest(void **state)
{
	struct play p = play_with(MODE, "guess", "gfx906", "tests/hsa-scenes crowd");

	(void)state;
	assert_int_equal(p.rows->queues[1].r.mode, RECORD_QUEUE_HARVEST);
	assert_int_equal(timed(&p), 100);
	play_end(&p);
}

/* Each packet of a signal that counts several packets has its own times. */
static void borrowed_signals_are_timed(void **state)
{
	static const char *const scenes[] = {"tests/hsa-scenes counted",
					     "tests/hsa-scenes known-elsewhere"};
	static const uint64_t counts[] = {320, 160};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct play p =
			play_with(MODE, "borrow", "gfx906,kernel_ns=200000,overlap=4", scenes[i]);
		const struct rows *rows = p.rows;

		play_check_ledger(&p);
		play_print_untimed(&p);
		assert_int_equal(rows->dispatch_count, counts[i]);
		assert_int_equal(timed(&p), counts[i]);
		for (size_t k = 1; k < rows->dispatch_count; k++) {
			if (rows->dispatches[k].queue == rows->dispatches[k - 1].queue)
				assert_true(rows->dispatches[k].done.end_tick >
					    rows->dispatches[k - 1].done.end_tick);
		}
		assert_true(rows_witness(p.folder, "hsa", "completions_passed_on") > counts[i] / 4);
		assert_true(rows_witness(p.folder, "hsa", "pass_on_p99_ns") > 0);
		play_end(&p);
	}
}

/* A signal for which the device waits is not borrowed, in borrow mode either. */
static void dependencies_are_not_borrowed(void **state)
{
	struct play p = play_with(MODE, "borrow", "gfx906,kernel_ns=200000",
				  "tests/hsa-scenes counted-dependency");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 120);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHARED_SIGNAL], 80);
	assert_int_equal(timed(&p), 40);
	assert_int_equal(rows_witness(p.folder, "hsa", "completions_passed_on"), UINT64_MAX);
	play_end(&p);
}

/* Without times from the device a dispatch is untimed; times are never derived from anything
 * else. */
static void dispatch_without_ticks_is_untimed(void **state)
{
	struct play p = play_giving_up("ticks_late=0", "observe", "gfx906",
				       "tests/hsa-scenes no-profiling");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_ZERO_TICK], 1);
	assert_int_equal(p.rows->dispatches[0].done.start_tick, 0);
	assert_int_equal(p.rows->dispatches[0].done.end_tick, 0);
	play_end(&p);
	/* The other modes enable profiling on the queue. */
	p = play("gfx906", "tests/hsa-scenes no-profiling");
	assert_int_equal(timed(&p), 1);
	play_end(&p);
}

/* ---- one kernel at a time ---- */

struct span {
	uint64_t start;
	uint64_t end;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Counts the pairs of kernels that ran at the same time. */
static uint64_t overlaps(const struct rows *rows)
{
	struct span *spans = calloc(rows->dispatch_count, sizeof(*spans));
	uint64_t count = 0;

	assert_non_null(spans);
	for (size_t i = 0; i < rows->dispatch_count; i++)
		spans[i] = (struct span){rows->dispatches[i].done.start_tick,
					 rows->dispatches[i].done.end_tick};
	qsort(spans, rows->dispatch_count, sizeof(*spans), compare_spans);
	for (size_t i = 1; i < rows->dispatch_count; i++)
		count += spans[i].start < spans[i - 1].end;
	free(spans);
	return count;
}

/* Checks that the scene can show overlap: the first kernels of its queues run at the same time,
 * because the device's clock stands still until all of them run. */
static void crowd_overlaps(void)
{
	struct play p = play("gfx906,kernel_ns=300000", "tests/hsa-scenes crowd-held");

	assert_in_range(overlaps(p.rows), 3, 99);
	play_end(&p);
}

/* With DAGTAP_HSA_SERIALIZE no two kernels run at the same time. */
static void serialised_kernels_do_not_overlap(void **state)
{
	struct play p;

	(void)state;
	crowd_overlaps();
	p = play_with(SERIALIZE, "1", "gfx906,kernel_ns=300000", "tests/hsa-scenes crowd");
	play_check_ledger(&p);
	assert_int_equal(timed(&p), 100);
	assert_int_equal(overlaps(p.rows), 0);
	assert_int_equal(rows_witness(p.folder, "hsa", "serial_overruns"), 0);
	play_end(&p);
}

static void serialised_in_other_modes(void **state)
{
	static const char *const asked[] = {"borrow", "observe", "intercept"};

	(void)state;
	setenv(MODE, "", 1);
	for (int i = 0; i < 3; i++) {
		struct play p;

		setenv(SERIALIZE, "1", 1);
		p = play_with(MODE, asked[i], "gfx906,kernel_ns=100000", "tests/hsa-scenes crowd");
		unsetenv(SERIALIZE);
		play_check_ledger(&p);
		assert_int_equal(p.rows->queues[1].r.mode,
				 i ? RECORD_QUEUE_HARVEST : RECORD_QUEUE_BORROW);
		assert_int_equal(overlaps(p.rows), 0);
		play_end(&p);
	}
	unsetenv(MODE);
}

/* ---- the end ---- */

/* Completions after the end of tracing are untimed and no record is missing. */
static void completions_arrive_after_tracing(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES; i++) {
		struct play p = play_giving_up("device_drain_most=0", modes[i].name, "gfx906",
					       "tests/hsa-scenes stop-in-flight");

		assert_true(p.rows->closed);
		assert_int_equal(p.rows->dispatch_count, 5);
		assert_int_equal(p.rows->without_done, 0);
		assert_int_equal(timed(&p), 0);
		play_end(&p);
	}
}

/* Packets that are not written when tracing ends are counted as cut. */
static void tracing_ends_before_a_packet_is_written(void **state)
{
	struct play p = play_giving_up("gate_written=0,device_drain_most=0", NULL, "gfx906",
				       "tests/hsa-scenes stop-before-written");

	(void)state;
	assert_true(p.rows->closed);
	assert_int_equal(p.rows->dispatch_count, 0);
	assert_int_equal(rows_witness(p.folder, "hsa", "packets_cut"), 2);
	play_end(&p);
}

/* Queues that are created after the end of tracing have no gate. The packets that they bring to
 * the device must still be counted. */
static void packets_after_the_end_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES; i++) {
		struct play p = play_giving_up("device_drain_most=1000000000", modes[i].name,
					       "gfx906,kernel_ns=60000000000,overlap=1",
					       "tests/hsa-scenes late-queues");
		uint64_t waiting = rows_witness(p.folder, "hsa", "packets_waiting");

		/* Each drain is a barrier packet, too. */
		assert_int_equal(p.rows->barriers, 1 + 3);
		assert_int_equal(play_device(&p, "packets_barrier_and"), 3 + 3 + 7 + 5);
		assert_int_equal(rows_witness(p.folder, "hsa", "packets_untraced"), 3 + 7 + 5);
		/* Packets that wait behind an intercept queue cannot be seen: any of the five
		 * recorded packets may be waiting. */
		assert_int_equal(waiting, modes[i].mode == RECORD_QUEUE_INTERCEPT ? 5 : 1);
		play_end(&p);
	}
}

/* Kernels that run when the runtime shuts down are untimed, with that cause. */
static void shut_down_in_flight(void **state)
{
	struct play p = play_giving_up("device_drain_most=0", NULL, "gfx906,kernel_ns=60000000000",
				       "tests/hsa-scenes shut-down-in-flight");

	(void)state;
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHUTDOWN], 3);
	play_end(&p);
}

static void set_moment(unsigned turns)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", turns);
	setenv("SCENE_MOMENT", text, 1);
}

static void exit_in_a_handler(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		set_moment(100 + 37 * i);
		/* The packet that the handler interrupts is never written, or never passed on. */
		struct play p =
			play_giving_up("gate_written=0,device_drain_most=0", modes[i % MODES].name,
				       "gfx906,kernel_ns=0", "tests/hsa-scenes exit-in-handler");

		/* The case checks that the program ended; its last records may be missing. */
		assert_non_null(p.rows);
		assert_true(p.rows->orphans <= 1 + play_drops(p.rows, RECORD_CLASS_DISPATCH));
		play_end(&p);
	}
}

/* In one of eight runs the handler interrupts the thread while it holds the lock; joining a
 * thread would then wait forever. */
static void exit_in_a_handler_during_a_join(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer delays signals until no lock is held. */
	skip();
#endif
	for (unsigned i = 0; i < 24; i++) {
		struct play p;

		set_moment(10 + i);
		p = play("gfx906", "tests/hsa-scenes exit-in-join");

		assert_true(p.rows->closed);
		assert_int_equal(p.rows->dispatch_count, 1);
		play_end(&p);
	}
}

static void queues_destroyed_with_borrowed_signals(void **state)
{
	struct play p = play_with(MODE, "borrow", "gfx906,kernel_ns=1000000",
				  "tests/hsa-scenes destroy-counted");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(timed(&p), 80);
	play_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mode_closes_its_ledger),
		cmocka_unit_test(intercepted_one_by_one_and_in_batches),
		cmocka_unit_test(unknown_mode_is_harvest),
		cmocka_unit_test(borrowed_signals_are_timed),
		cmocka_unit_test(dependencies_are_not_borrowed),
		cmocka_unit_test(dispatch_without_ticks_is_untimed),
		cmocka_unit_test(serialised_kernels_do_not_overlap),
		cmocka_unit_test(serialised_in_other_modes),
		cmocka_unit_test(completions_arrive_after_tracing),
		cmocka_unit_test(tracing_ends_before_a_packet_is_written),
		cmocka_unit_test(packets_after_the_end_are_counted),
		cmocka_unit_test(shut_down_in_flight),
		cmocka_unit_test(exit_in_a_handler),
		cmocka_unit_test(exit_in_a_handler_during_a_join),
		cmocka_unit_test(queues_destroyed_with_borrowed_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
