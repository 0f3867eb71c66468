/* Queues that other calls than hsa_queue_create make, and signals that processes share: what is
 * recorded of them, and what is counted if nothing can be recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "play.h"

#define MODE   "DAGTAP_HSA_MODE"
/* the runtime's table has the calls, so tools see them */
#define TOLD   "gfx906,kernel_ns=20000,rocr7_tables=2"
#define UNTOLD "gfx906,kernel_ns=20000,rocr7_tables=1"

static uint64_t timed(const struct play *p)
{
	return p->rows->untimed[RECORD_UNTIMED_NO];
}

static void expect_unknown(const struct play *p, uint64_t packets, uint64_t submissions)
{
	assert_int_equal(rows_witness(p->folder, "hsa", "packets_unknown"), packets);
	assert_int_equal(rows_witness(p->folder, "hsa", "submissions_unknown"), submissions);
}

/* These queues cannot be replaced by intercept queues; harvest is used instead. */
static void described_queues_are_recorded(void **state)
{
	static const struct {
		const char *asked_for;
		enum record_queue_mode mode;
		uint64_t timed;
	} modes[] = {
		{"harvest", RECORD_QUEUE_HARVEST, 80},
		{"borrow", RECORD_QUEUE_BORROW, 80},
		{"observe", RECORD_QUEUE_OBSERVE, 20},
		{"intercept", RECORD_QUEUE_HARVEST, 80},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct play p = play_with(MODE, modes[i].asked_for, TOLD,
					  "tests/hsa-scenes described-queues");

		play_check_ledger(&p);
		assert_int_equal(p.rows->dispatch_count, 80);
		assert_int_equal(p.rows->barriers, 2);
		assert_int_equal(timed(&p), modes[i].timed);
		assert_int_equal(p.rows->queues[2].r.mode, modes[i].mode);
		expect_unknown(&p, 0, 0);
		play_end(&p);
	}
}

/* One of the two hardware queues has two handles; the packets of both handles are rows of one
 * queue. */
static void counted_queues_are_recorded(void **state)
{
	struct play p = play(TOLD, "tests/hsa-scenes counted-queues");

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->dispatch_count, 7 * 40);
	assert_int_equal(p.rows->barriers, 7);
	assert_int_equal(timed(&p), 7 * 40);
	assert_true(p.rows->queues[2].exists && !p.rows->queues[3].exists);
	assert_int_equal(p.rows->queues[1].dispatches + p.rows->queues[2].dispatches, 7 * 40);
	expect_unknown(&p, 0, 0);
	play_end(&p);
}

/* The queues are made by a call that the runtime's table does not contain. */
static void packets_of_unknown_queues_are_counted(void **state)
{
	struct play described = play(UNTOLD, "tests/hsa-scenes described-queues");
	struct play counted = play(UNTOLD, "tests/hsa-scenes counted-queues");

	(void)state;
	assert_int_equal(described.rows->dispatch_count, 0);
	expect_unknown(&described, 2 * 41, 0);
	assert_int_equal(counted.rows->dispatch_count, 0);
	expect_unknown(&counted, 7 * 41, 0);
	play_end(&described);
	play_end(&counted);
}

/* Packets for a copy engine have their own format, so only the doorbells are counted. */
static void submissions_to_engines_are_counted(void **state)
{
	struct play told = play(TOLD, "tests/hsa-scenes engine-queue");
	struct play untold = play(UNTOLD, "tests/hsa-scenes engine-queue");

	(void)state;
	expect_unknown(&told, 0, 2);
	expect_unknown(&untold, 0, 2);
	play_end(&told);
	play_end(&untold);
}

/* Another process may complete a shared signal with its own times, and dagtap cannot tell the
 * two apart. The dispatch is then untimed. */
static void shared_signals_are_not_timed(void **state)
{
	static const char *const modes[] = {"harvest", "borrow"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct play p = play_with(MODE, modes[i], TOLD, "tests/hsa-scenes attached-signal");

		play_check_ledger(&p);
		assert_int_equal(p.rows->dispatch_count, 3);
		assert_int_equal(timed(&p), 1);
		assert_int_equal(p.rows->untimed[RECORD_UNTIMED_SHARED_SIGNAL], 2);
		play_end(&p);
	}
}

/* The last GPU of a large node has a name, a clock, and kernels with names and times. */
static void every_gpu_of_a_large_node_is_recorded(void **state)
{
	struct play p = play("gfx906,gpus=30,partitions=8,vram=64M,kernel_ns=20000",
			     "tests/hsa-scenes crowd 239");
	uint64_t anchors = 0;

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(p.rows->agents, 241);
	assert_int_equal(timed(&p), 100);
	for (size_t i = 0; i < p.rows->dispatch_count; i++)
		assert_int_not_equal(p.rows->dispatches[i].r.kernel, 0);
	for (size_t i = 0; i < p.rows->anchor_count; i++)
		anchors += p.rows->anchors[i].header.tag == 240;
	assert_true(anchors >= 2);
	play_end(&p);
	/* There are no agent ids for more GPUs than this. */
	p = play("gfx906,gpus=32,partitions=8,vram=64M", "tests/hsa-scenes crowd");
	assert_int_equal(p.rows->agents, 255);
	assert_int_equal(timed(&p), 100);
	play_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(described_queues_are_recorded),
		cmocka_unit_test(counted_queues_are_recorded),
		cmocka_unit_test(packets_of_unknown_queues_are_counted),
		cmocka_unit_test(submissions_to_engines_are_counted),
		cmocka_unit_test(shared_signals_are_not_timed),
		cmocka_unit_test(every_gpu_of_a_large_node_is_recorded),
	};

	return cmocka_run_group_tests_name("hsa_queues", tests, NULL, NULL);
}
