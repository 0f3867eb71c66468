/* The hazards H1 to H23 of docs/hsa-timing.md: ways in which interceptors are known to fail. The
 * name of each case has its number. Where that is cheap, the failing design runs first
 * (hazard_designs.c), to show that the case can tell it from dagtap. The other numbers are in
 * test_capture_hsa_programs.c and test_capture_hsa_reservations.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../launched.h"
#include "play.h"

#define HAZARD	   "hsa_hazard_tool.so"
#define DEVICE	   "gfx906,kernel_ns=1000"
#define STEADY	   "tests/hsa-scenes steady"
#define DISPATCHES 5000 /* dispatches of scene steady after its first batches */

/* The value that scene steady prints for a key: with the failing design, without a tool, and
 * with dagtap. */
struct measure {
	uint64_t hazard;
	uint64_t bare;
	uint64_t ours;
};

static uint64_t printed(struct play p, const char *key)
{
	uint64_t value = play_printed(&p, key);

	play_end(&p);
	return value;
}

static struct measure measure(const char *scene, const char *device, const char *key)
{
	return (struct measure){
		.hazard = printed(play_bare(HAZARD, device, scene), key),
		.bare = printed(play_bare(NULL, device, scene), key),
		.ours = printed(play(device, scene), key),
	};
}

/* dagtap makes no signal per dispatch. */
static void h01_signals_are_made_once(void **state)
{
	struct measure left = measure(STEADY, DEVICE, "signals_left");

	(void)state;
	assert_true(left.hazard > DISPATCHES);
	assert_int_equal(left.ours, left.bare);
}

/* dagtap's signals need no event, so the limit of events per process does not matter. */
static void h02_event_limit_is_not_touched(void **state)
{
	struct measure m = measure("tests/hsa-scenes outstanding", "gfx906,kernel_ns=0",
				   "signals_without_event");
	struct play p = play("gfx906,kernel_ns=0,event_limit=64", "tests/hsa-scenes outstanding");

	(void)state;
	assert_true(m.hazard > 0);
	assert_int_equal(m.bare, 0);
	assert_int_equal(m.ours, 0);
	assert_int_equal(play_printed(&p, "signals_without_event"), 0);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 5000);
	play_end(&p);
}

/* dagtap makes no signals while the program submits. */
static void h03_nothing_is_made_while_submitting(void **state)
{
	struct measure interrupt = measure(STEADY, DEVICE, "signals_created_interrupt");
	struct measure memory = measure(STEADY, DEVICE, "signals_created_memory");

	(void)state;
	assert_true(interrupt.hazard >= DISPATCHES);
	assert_int_equal(interrupt.ours, 0);
	assert_int_equal(memory.ours, 0);
}

#define SLOTS	      8192 /* completion slots of a queue with a small ring */
#define WITHOUT_SLOTS 20000

/* When the completion slots are used up, dagtap must neither make signals nor wait; such
 * dispatches are untimed. */
static void h04_h05_slots_are_used_up(void **state)
{
	struct play p = play_giving_up("queue_drain=0", NULL,
				       "gfx906,kernel_ns=60000000000,kernel:ticket*=200",
				       "tests/hsa-scenes no-slots");
	const struct rows *rows = p.rows;

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(play_printed(&p, "signals_created"), 0);
	assert_int_equal(rows->dispatch_count, 1 + WITHOUT_SLOTS);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_QUEUE_DESTROYED], 1);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO], SLOTS - 1);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO_SLOT], 1 + WITHOUT_SLOTS - SLOTS);
	play_end(&p);
}

#define LARGE_QUEUE   16384
#define MADE_AT_ONCE  8192
#define IN_TWO_BURSTS (LARGE_QUEUE + 8000)

/* For a large queue dagtap's own thread makes most signals when they are needed. A burst that
 * comes earlier must not wait for them. */
static void h04_signals_are_made_in_steps(void **state)
{
	struct play p = play("gfx906,kernel_ns=0", "tests/hsa-scenes large-queue");
	const struct rows *rows = p.rows;
	uint64_t untimed = rows->untimed[RECORD_UNTIMED_NO_SLOT];

	(void)state;
	play_check_ledger(&p);
	assert_int_equal(play_printed(&p, "signals_with_queue"), MADE_AT_ONCE);
	assert_int_equal(rows->dispatch_count, IN_TWO_BURSTS);
	assert_int_equal(rows->untimed[RECORD_UNTIMED_NO], IN_TWO_BURSTS - untimed);
	for (size_t i = 0; i < rows->dispatch_count; i++) {
		if (rows->dispatches[i].r.untimed)
			assert_in_range(rows->dispatches[i].r.packet_index, MADE_AT_ONCE,
					LARGE_QUEUE - 1);
	}
	play_end(&p);
}

/* Packets that are written without a call, and tracing that ends within a batch, must leave no
 * half-recorded packets. */
static void h06_h07_tracing_ends_in_a_batch(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct play p = play("gfx906,kernel_ns=1000", "tests/hsa-scenes stop-in-batch");
		uint64_t counted =
			p.rows->queues[1].count.dispatches + p.rows->queues[2].count.dispatches;

		assert_true(p.rows->closed);
		assert_true(p.rows->dispatch_count > 0);
		assert_int_equal(p.rows->dispatch_count + play_drops(p.rows, RECORD_CLASS_DISPATCH),
				 counted);
		assert_true(p.rows->without_done <= play_drops(p.rows, RECORD_CLASS_DONE));
		play_end(&p);
	}
}

/* Serialised kernels that depend on other kernels must not hang. */
static void h10_serialised_kernels_that_depend_on_others(void **state)
{
	static const char *const programs[] = {
		"tests/hsa-scenes chain",
		"examples/raw-driver --producers 8 --queues 4 --packets 500 --cross --batch 5"};

	(void)state;
	assert_int_equal(
		printed(play_hazard("hold", "gfx906,kernel_ns=20000", programs[0]), "hangs"), 1);
	for (int i = 0; i < 2; i++) {
		struct play p = play_with("DAGTAP_HSA_SERIALIZE", "1", "gfx906,kernel_ns=20000",
					  programs[i]);

		play_check_ledger(&p);
		assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], p.rows->dispatch_count);
		assert_int_equal(rows_witness(p.folder, "hsa", "serial_overruns"), 0);
		play_end(&p);
	}
}

#define OVERLAPPING 64

/* Reads the end ticks of the dispatches of scene overlap from the device's own log. */
static void read_true_ends(const char *path, uint64_t *ret_ends)
{
	unsigned long long index, end;
	FILE *truth = fopen(path, "r");
	int seen = 0;

	assert_non_null(truth);
	while (fscanf(truth, "D %*u %llu %*s %*u %*u %*u %llu\n", &index, &end) == 2) {
		assert_true(index < OVERLAPPING);
		ret_ends[index] = end;
		seen++;
	}
	fclose(truth);
	assert_int_equal(seen, OVERLAPPING);
}

static int wrong_ends_recorded(const struct play *p, const uint64_t *ends)
{
	int wrong = 0;

	assert_int_equal(p->rows->untimed[RECORD_UNTIMED_NO], OVERLAPPING);
	for (int i = 0; i < OVERLAPPING; i++)
		wrong += p->rows->dispatches[i].done.end_tick != ends[i];
	return wrong;
}

/* Compares the ends that the failing design prints. */
static int wrong_ends_printed(const struct play *p, const uint64_t *ends)
{
	unsigned long long index, end;
	char path[PATH_MAX + 16];
	int wrong = 0, seen = 0;
	FILE *out;

	snprintf(path, sizeof(path), "%s/stdout", p->folder);
	out = fopen(path, "r");
	assert_non_null(out);
	while (fscanf(out, "end %llu %llu\n", &index, &end) == 2) {
		assert_true(index < OVERLAPPING);
		wrong += end != ends[index];
		seen++;
	}
	fclose(out);
	assert_int_equal(seen, OVERLAPPING);
	return wrong;
}

/* Kernels of one batch overlap: the end of the last one is not the end of the others. */
static void h11_each_kernel_has_its_own_end(void **state)
{
	char truth[TEST_PATH_BYTES], config[2 * TEST_PATH_BYTES];
	uint64_t ends[OVERLAPPING];
	int file = mkstemp(test_path(truth, "truth"));
	struct play p;

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(config, sizeof(config),
		 "gfx906,kernel_ns=2000000,overlap=8,intercept_batch=1,truth=%s", truth);
	p = play_hazard("batch", config, "tests/hsa-scenes overlap");
	read_true_ends(truth, ends);
	assert_true(wrong_ends_printed(&p, ends) > OVERLAPPING / 2);
	play_end(&p);
	p = play(config, "tests/hsa-scenes overlap");
	play_check_ledger(&p);
	read_true_ends(truth, ends);
	assert_int_equal(wrong_ends_recorded(&p, ends), 0);
	play_end(&p);
	unlink(truth);
}

/* In every mode but intercept the device gets the same packets with the same number of doorbells
 * as without a tool. */
static void h12_device_gets_the_same_packets(void **state)
{
	static const char *const keys[] = {
		"packets_kernel_dispatch", "packets_barrier_and", "packets_vendor",
		"packets_agent_dispatch",  "barrier_bits",	  "doorbells"};
	static const char *const modes[] = {"harvest", "borrow", "observe", "intercept"};
	struct play bare = play_bare(NULL, DEVICE, STEADY);
	struct play hazard = play_bare(HAZARD, DEVICE, STEADY);

	(void)state;
	assert_true(play_printed(&hazard, "packets_barrier_and") >
		    play_printed(&bare, "packets_barrier_and"));
	assert_true(play_printed(&hazard, "doorbells") > play_printed(&bare, "doorbells"));
	for (int i = 0; i < 4; i++) {
		struct play p = play_with("DAGTAP_HSA_MODE", modes[i], DEVICE, STEADY);
		size_t count = i < 3 ? 6 : 5;

		for (size_t k = 0; k < count; k++)
			assert_int_equal(play_printed(&p, keys[k]), play_printed(&bare, keys[k]));
		assert_int_equal(play_printed(&p, "signals_created_memory"), 0);
		play_end(&p);
	}
	play_end(&bare);
	play_end(&hazard);
}

#define TOLD 50

/* Counts the dispatches that reached the device with the signal that the program gave them. */
static int signals_kept(const struct play *p, const char *packets)
{
	unsigned long long words[8], signal;
	char path[PATH_MAX + 16];
	FILE *log = fopen(packets, "r"), *out;
	int kept = 0;

	assert_non_null(log);
	snprintf(path, sizeof(path), "%s/stdout", p->folder);
	out = fopen(path, "r");
	assert_non_null(out);
	while (fscanf(log, "%*u %*u %llx %llx %llx %llx %llx %llx %llx %llx\n", &words[0],
		      &words[1], &words[2], &words[3], &words[4], &words[5], &words[6],
		      &words[7]) == 8) {
		if ((words[0] & 0xff) == 2 && fscanf(out, "signal %llx\n", &signal) == 1)
			kept += words[7] == signal;
	}
	fclose(out);
	fclose(log);
	return kept;
}

/* The device itself completes the program's signals, so no thread of the tool can delay that. */
static void h13_the_device_completes_the_programs_signals(void **state)
{
	static const char *const modes[] = {"harvest", "borrow", "observe", "intercept"};
	char packets[TEST_PATH_BYTES], config[2 * TEST_PATH_BYTES];
	int file = mkstemp(test_path(packets, "packets"));
	struct play p;

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(config, sizeof(config), "gfx906,packets=%s", packets);
	p = play_hazard("each", config, "tests/hsa-scenes told");
	assert_int_equal(signals_kept(&p, packets), 0);
	play_end(&p);
	for (int i = 0; i < 4; i++) {
		p = play_with("DAGTAP_HSA_MODE", modes[i], config, "tests/hsa-scenes told");
		assert_int_equal(signals_kept(&p, packets), TOLD);
		play_end(&p);
	}
	unlink(packets);
}

/* Only the completion of a borrowed signal waits for a thread of dagtap; the recording has the
 * length of that wait. */
static void h13_waits_are_for_the_device_alone(void **state)
{
	struct play p = play("gfx906,kernel_ns=20000", "tests/hsa-scenes counted");

	(void)state;
	assert_int_equal(rows_witness(p.folder, "hsa", "completions_passed_on"), UINT64_MAX);
	play_end(&p);
	p = play_with("DAGTAP_HSA_MODE", "borrow", "gfx906,kernel_ns=20000",
		      "tests/hsa-scenes counted");
	assert_true(rows_witness(p.folder, "hsa", "completions_passed_on") > 0);
	assert_true(rows_witness(p.folder, "hsa", "pass_on_p99_ns") > 0);
	assert_true(rows_witness(p.folder, "hsa", "pass_on_p99_ns") < UINT64_MAX);
	play_end(&p);
}

static uint64_t lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	uint64_t lines = 0;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

static uint64_t lines_logged(const char *scene)
{
	char log[TEST_PATH_BYTES];
	int file = mkstemp(test_path(log, "log"));
	struct play p;
	uint64_t lines;

	assert_true(file >= 0);
	close(file);
	p = play_with("DAGTAP_LOG", log, DEVICE, scene);
	play_end(&p);
	lines = lines_of(log);
	unlink(log);
	return lines;
}

/* dagtap writes as many log lines for 5,200 dispatches on one queue as for 5,000 or 400. */
static void h14_no_log_line_a_dispatch(void **state)
{
	(void)state;
	assert_true(lines_logged(STEADY) > 0);
	assert_true(lines_logged(STEADY) < 20);
}

/* A thread that submits must not write to any file. */
static void h14_no_write_while_submitting(void **state)
{
	char log[TEST_PATH_BYTES];
	int file = mkstemp(test_path(log, "log"));

	(void)state;
	assert_true(file >= 0);
	close(file);
	setenv("HAZARD_LOG", log, 1);
	setenv("HAZARD_LOG_LINES", "1", 1);
	assert_int_equal(printed(play_hazard("each", DEVICE, "tests/hsa-scenes quiet"), "writes"),
			 DISPATCHES);
	unsetenv("HAZARD_LOG");
	unsetenv("HAZARD_LOG_LINES");
	assert_int_equal(
		printed(play_with("DAGTAP_LOG", log, DEVICE, "tests/hsa-scenes quiet"), "writes"),
		0);
	unlink(log);
}

/* If the tool cannot record, the program must still run to its end. */
static void h15_faults_are_the_tools_own(void **state)
{
	struct play p = play_with("DAGTAP_SPOOL", "/nonexistent/folder", DEVICE, STEADY);

	(void)state;
	assert_null(p.rows);
	assert_int_equal(play_printed(&p, "packets_kernel_dispatch"), DISPATCHES);
	play_end(&p);
}

/* dagtap registers no handlers on the runtime's thread. */
static void h16_h17_no_handler_on_the_runtimes_thread(void **state)
{
	struct measure m = measure(STEADY, DEVICE, "handlers_armed");

	(void)state;
	assert_true(m.hazard >= DISPATCHES);
	assert_int_equal(m.ours, 0);
}

/* Kernels that wait for later kernels must not hang; each has times. */
static void h18_kernels_that_depend_on_each_other(void **state)
{
	struct play p = play("gfx906,kernel_ns=20000", "tests/hsa-scenes chain");

	(void)state;
	assert_int_equal(
		printed(play_hazard("follow", "gfx906,kernel_ns=20000", "tests/hsa-scenes chain"),
			"hangs"),
		1);
	play_check_ledger(&p);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], 100);
	play_end(&p);
}

/* Queues that the program destroys are destroyed in the runtime. */
static void h19_queues_are_destroyed(void **state)
{
	struct measure m = measure(STEADY, DEVICE, "queues_left");

	(void)state;
	assert_true(m.hazard > 0);
	assert_int_equal(m.ours, 0);
}

/* Ten dispatches before the fork and ten after it must be recorded once. (A child of the failing
 * design writes buffered lines again.) */
static void h20_fork_child_repeats_nothing(void **state)
{
	char log[TEST_PATH_BYTES];
	int file = mkstemp(test_path(log, "log"));
	struct play p;

	(void)state;
	assert_true(file >= 0);
	close(file);
	setenv("HAZARD_LOG", log, 1);
	p = play_hazard("each", DEVICE, "tests/hsa-scenes fork");
	unsetenv("HAZARD_LOG");
	assert_int_equal(lines_of(log), 30);
	play_end(&p);
	unlink(log);
	p = play(DEVICE, "tests/hsa-scenes fork");
	assert_int_equal(p.rows->dispatch_count, 20);
	assert_int_equal(rows_spool_count(p.folder), 1);
	play_end(&p);
}

/* What the failing design grows by at least. */
#define GROWN_KB 4096u

/* Memory must not grow over 300,000 dispatches after the first 20,000. With a profiler the thread
 * that delivers reads them in pieces of any size, so its heap has no certain size. */
static void h22_memory_does_not_grow(void **state)
{
	unsigned most_kb = play_is_through_sdk() ? GROWN_KB : 1024;
	struct play hazard, p;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	/* The sanitizers' own memory grows, and they report the leak of the failing design as an
	 * error. */
	skip();
#endif
	hazard = play_bare(HAZARD, "gfx906,kernel_ns=0", "tests/hsa-scenes long");
	p = play("gfx906,kernel_ns=0", "tests/hsa-scenes long");
	assert_true(play_printed(&hazard, "grown_kb") > GROWN_KB);
	assert_true(play_printed(&p, "grown_kb") < most_kb);
	play_end(&hazard);
	play_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h01_signals_are_made_once),
		cmocka_unit_test(h02_event_limit_is_not_touched),
		cmocka_unit_test(h03_nothing_is_made_while_submitting),
		cmocka_unit_test(h04_h05_slots_are_used_up),
		cmocka_unit_test(h04_signals_are_made_in_steps),
		cmocka_unit_test(h06_h07_tracing_ends_in_a_batch),
		cmocka_unit_test(h10_serialised_kernels_that_depend_on_others),
		cmocka_unit_test(h11_each_kernel_has_its_own_end),
		cmocka_unit_test(h12_device_gets_the_same_packets),
		cmocka_unit_test(h13_the_device_completes_the_programs_signals),
		cmocka_unit_test(h13_waits_are_for_the_device_alone),
		cmocka_unit_test(h14_no_log_line_a_dispatch),
		cmocka_unit_test(h14_no_write_while_submitting),
		cmocka_unit_test(h15_faults_are_the_tools_own),
		cmocka_unit_test(h16_h17_no_handler_on_the_runtimes_thread),
		cmocka_unit_test(h18_kernels_that_depend_on_each_other),
		cmocka_unit_test(h19_queues_are_destroyed),
		cmocka_unit_test(h20_fork_child_repeats_nothing),
		cmocka_unit_test(h22_memory_does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
