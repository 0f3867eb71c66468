/* The counters for doorbells of queues that no gate knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/doorbell.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/unknown_queues.h"

static bool is_tracing;

/* The values of the last witnesses, and the number of witnesses. */
static uint64_t packets_told, submissions_told;
static _Atomic unsigned witnesses;

void session_witness(enum witness witness, uint64_t value)
{
	if (witness == WITNESS_HSA_PACKETS_UNKNOWN)
		packets_told = value;
	else if (witness == WITNESS_HSA_SUBMISSIONS_UNKNOWN)
		submissions_told = value;
	else
		fail_msg("witness %d", (int)witness);
	witnesses++;
}

bool gates_are_tracing(void)
{
	return is_tracing;
}

struct model {
	amd_queue_t queue;
	amd_signal_t doorbell;
};

static hsa_signal_t doorbell_of(const struct model *model)
{
	return (hsa_signal_t){(uint64_t)(uintptr_t)&model->doorbell};
}

/* Fills in the queue and the doorbell as the runtime does. */
static void make(struct model *model)
{
	memset(model, 0, sizeof(*model));
	model->queue.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	model->queue.hsa_queue.doorbell_signal = doorbell_of(model);
	model->doorbell.kind = AMD_SIGNAL_KIND_DOORBELL;
	model->doorbell.queue_ptr = &model->queue;
}

static void put_and_ring(struct model *model, uint64_t packets)
{
	__atomic_fetch_add(&model->queue.write_dispatch_id, packets, __ATOMIC_RELAXED);
	unknown_queue_ring(doorbell_of(model));
}

static void expect_new(uint64_t packets, uint64_t submissions)
{
	unknown_queues_witness();
	assert_int_equal(packets_told, packets);
	assert_int_equal(submissions_told, submissions);
}

static int begin(void **state)
{
	(void)state;
	is_tracing = true;
	unknown_queues_begin();
	witnesses = 0;
	return 0;
}

/* Each packet is counted once, however many doorbells cover it. */
static void packets_count_once(void **state)
{
	static struct model model;

	(void)state;
	make(&model);
	put_and_ring(&model, 3);
	put_and_ring(&model, 0);
	put_and_ring(&model, 40000);
	expect_new(40003, 0);
}

/* The first packet is reported at once, so a process that is killed later has reported
 * something. */
static void the_first_is_told_at_once(void **state)
{
	static struct model model, engine;

	(void)state;
	make(&model);
	make(&engine);
	engine.queue.hsa_queue.features = 0;
	put_and_ring(&model, 3);
	assert_int_equal(witnesses, 2);
	assert_int_equal(packets_told, 3);
	put_and_ring(&model, 3);
	assert_int_equal(witnesses, 2);
	put_and_ring(&engine, 28);
	assert_int_equal(witnesses, 4);
	assert_int_equal(submissions_told, 1);
	unknown_queues_begin();
	put_and_ring(&model, 5);
	assert_int_equal(witnesses, 6);
	assert_int_equal(packets_told, 5);
}

/* A signal that is not a doorbell does not count. */
static void other_signals_do_not_count(void **state)
{
	static struct model model;

	(void)state;
	make(&model);
	model.doorbell.kind = AMD_SIGNAL_KIND_USER;
	put_and_ring(&model, 3);
	unknown_queue_ring((hsa_signal_t){0});
	expect_new(0, 0);
}

/* A copy engine's queue; a doorbell without a queue; a doorbell whose queue has another
 * doorbell. */
static void what_has_no_index_counts_by_doorbells(void **state)
{
	static struct model models[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		make(&models[i]);
	models[0].queue.hsa_queue.features = 0;
	models[1].doorbell.queue_ptr = NULL;
	models[2].queue.hsa_queue.doorbell_signal = doorbell_of(&models[1]);
	for (int i = 0; i < 3; i++)
		put_and_ring(&models[i], 100);
	expect_new(0, 3);
}

/* A new queue may have the doorbell of an old one; its index starts at 0. */
static void a_later_queue_may_have_the_doorbell(void **state)
{
	static struct model model;

	(void)state;
	make(&model);
	put_and_ring(&model, 10);
	make(&model);
	put_and_ring(&model, 4);
	expect_new(14, 0);
}

/* Packets between two recordings do not count. */
static void between_recordings_nothing_counts(void **state)
{
	static struct model model;

	(void)state;
	make(&model);
	put_and_ring(&model, 10);
	is_tracing = false;
	put_and_ring(&model, 100);
	is_tracing = true;
	put_and_ring(&model, 1);
	expect_new(11, 0);
}

#define PRODUCERS 4
#define RINGS	  20000

static void *produce(void *model)
{
	for (int i = 0; i < RINGS; i++)
		put_and_ring(model, 2);
	return NULL;
}

/* Producers that ring at the same time count each packet once. */
static void producers_together_count_once(void **state)
{
	static struct model model;
	pthread_t threads[PRODUCERS];

	(void)state;
	make(&model);
	for (int i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &model), 0);
	for (int i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	expect_new(2 * PRODUCERS * RINGS, 0);
}

/* This case is the last one, because the table stays full. */
static void more_queues_than_there_is_room_for(void **state)
{
	static struct model models[300];

	(void)state;
	for (int i = 0; i < 300; i++) {
		make(&models[i]);
		put_and_ring(&models[i], 1);
	}
	expect_new(300, 0);
	put_and_ring(&models[299], 5);
	expect_new(301, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(packets_count_once, begin),
		cmocka_unit_test_setup(the_first_is_told_at_once, begin),
		cmocka_unit_test_setup(other_signals_do_not_count, begin),
		cmocka_unit_test_setup(what_has_no_index_counts_by_doorbells, begin),
		cmocka_unit_test_setup(a_later_queue_may_have_the_doorbell, begin),
		cmocka_unit_test_setup(between_recordings_nothing_counts, begin),
		cmocka_unit_test_setup(producers_together_count_once, begin),
		cmocka_unit_test_setup(more_queues_than_there_is_room_for, begin),
	};

	return cmocka_run_group_tests_name("unknown_queues", tests, NULL, NULL);
}
