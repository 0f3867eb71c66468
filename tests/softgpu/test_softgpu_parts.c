/* The parts that need no device: the configuration string, the clock, and points at which
 * threads wait. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>

#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/device_hold.h"

static struct softgpu_config config;
static char message[256];

static void parses(const char *string)
{
	if (config_parse(string, &config, message, sizeof(message)))
		fail_msg("%s", message);
}

static void an_empty_string_gives_the_defaults(void **state)
{
	parses("");
	assert_string_equal(config.isa, "gfx90a");
	assert_int_equal(config.gpus, 1);
	assert_int_equal(config.vram_bytes, 16ull << 30);
	assert_int_equal(config.event_limit, 4096);
	assert_int_equal(config.kernel_ns, 5000);
}

static void every_key_is_read(void **state)
{
	parses("gfx90a,gpus=16,vram=3M,large_bar=1,kernel_ns=7,copy_ns=8,copy_bytes_per_us=9,"
	       "overlap=64,event_limit=0,signal_ns=44000,doorbell_ns=500,doorbell_bound=1,"
	       "intercept_batch=1,"
	       "clock_offset_ticks=-5,clock_drift_ppm=-50.5,report=/tmp/r%p,truth=-,work_log=/tmp/"
	       "w,"
	       "kernel:a*=10,kernel:b=c=0");
	assert_string_equal(config.isa, "gfx90a");
	assert_int_equal(config.gpus, 16);
	assert_int_equal(config.vram_bytes, 3 << 20);
	assert_true(config.large_bar);
	assert_int_equal(config.kernel_ns, 7);
	assert_int_equal(config.copy_ns, 8);
	assert_int_equal(config.copy_bytes_per_us, 9);
	assert_int_equal(config.overlap, 64);
	assert_int_equal(config.event_limit, 0);
	assert_int_equal(config.signal_ns, 44000);
	assert_int_equal(config.doorbell_ns, 500);
	assert_true(config.doorbell_bound);
	assert_true(config.intercept_batch);
	assert_int_equal(config.clock_offset_ticks, -5);
	assert_true(config.clock_drift_ppm == -50.5);
	assert_string_equal(config.report, "/tmp/r%p");
	assert_string_equal(config.truth, "-");
	assert_string_equal(config.work_log, "/tmp/w");
	assert_int_equal(config.kernel_pattern_count, 2);
	assert_string_equal(config.kernel_pattern[0].glob, "a*");
	assert_int_equal(config.kernel_pattern[0].ns, 10);
	assert_string_equal(config.kernel_pattern[1].glob, "b=c");
}

static void bad_strings_are_refused_with_a_word(void **state)
{
	static const char *const bad[] = {
		"gfx943",
		"gpus=0",
		"gpus=257",
		"partitions=9",
		"gpus=33,partitions=8",
		"uuid:0=GPU-longer-than-a-uuid-can-be",
		"uuid:256=GPU-1",
		"uuid:=GPU-1",
		"gpus=two",
		"gpus=",
		"gpus=1x",
		"vram=12Q",
		"vram=99999999G",
		"overlap=0",
		"kernel_ns=-1",
		"clock_drift_ppm=nan",
		"unknown=1",
		"kernel:=5",
		"kernel:a=b",
		"large_bar=2",
		"rocr7_tables=3",
	};
	char longest[1000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		message[0] = '\0';
		assert_int_not_equal(softgpu_config_check(bad[i], message, sizeof(message)), 0);
		assert_non_null(strstr(message, bad[i]));
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_not_equal(softgpu_config_check(longest, message, sizeof(message)), 0);
	memcpy(longest, "report=", 7);
	longest[300] = '\0';
	assert_int_not_equal(softgpu_config_check(longest, message, sizeof(message)), 0);
	assert_int_not_equal(softgpu_config_check(NULL, message, sizeof(message)), 0);
	assert_int_equal(softgpu_config_check("gfx1030,,gpus=2,", NULL, 0), 0);
}

static void help_names_every_key(void **state)
{
	char text[8192];
	size_t length = softgpu_config_help(text, sizeof(text));

	assert_int_equal(length, strlen(text));
	assert_int_equal(softgpu_config_help(NULL, 0), length);
	assert_non_null(strstr(text, "clock_drift_ppm"));
	assert_non_null(strstr(text, "kernel:GLOB"));
}

static char *read_guide(void)
{
	char path[4096];
	char *text;
	long size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/docs/softgpu.md", getenv("SOURCE_DIR"));
	file = fopen(path, "r");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	fclose(file);
	return text;
}

static void expect_named(const char *guide, const char *name)
{
	char quoted[128];

	snprintf(quoted, sizeof(quoted), "`%s`", name);
	if (!strstr(guide, quoted))
		fail_msg("docs/softgpu.md does not name %s", name);
}

static void the_guide_names_every_key_and_counter(void **state)
{
	char *guide = read_guide();
	char help[8192];
	const char *names[64];
	uint32_t count = softgpu_counters(NULL, names, 64);

	for (uint32_t i = 0; i < count; i++)
		expect_named(guide, names[i]);
	softgpu_config_help(help, sizeof(help));
	for (char *rest, *line = strtok_r(help, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, " ")] = '\0';
		expect_named(guide, line);
	}
	free(guide);
}

/* main() sets the environment: drift 50 ppm, offset 1000000. */
static void ticks_convert_there_and_back(void **state)
{
	uint64_t last = 0;

	for (uint64_t ns = 0; ns < 1ull << 52; ns = ns * 2 + 977) {
		uint64_t ticks = clock_host_to_ticks(ns);
		uint64_t back = clock_ticks_to_host(ticks);

		assert_true(ticks > last);
		assert_true(back <= ns && ns - back <= 11);
		last = ticks;
	}
	/* 1 s is 100 million ticks plus 5,000 by the drift. */
	assert_in_range(clock_host_to_ticks(2000000000) - clock_host_to_ticks(1000000000),
			100004999, 100005001);
	assert_int_equal(clock_host_to_ticks(0), 1000000);
}

static void sleeping_ends_after_its_time(void **state)
{
	uint64_t until = clock_host_ns() + 300000;

	clock_sleep_until(until);
	assert_true(clock_host_ns() >= until);
	until = clock_host_ns() + 20000;
	clock_spin_ns(20000);
	assert_true(clock_host_ns() >= until);
}

static _Atomic int releaser; /* thread id; -1: the thread has returned */

static void *release_at_the_point(void *unused)
{
	atomic_store(&releaser, gettid());
	softgpu_await("queues_created", 1);
	softgpu_take_release();
	atomic_store(&releaser, -1);
	return unused;
}

static bool sleeps(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'S';
}

/* A counter is incremented before the hold at its value takes effect. A thread that waits for the
 * value must not return in between, because it would release the hold too early. */
static void who_awaits_a_point_finds_it_held(void **state)
{
	pthread_t thread;
	int tid;

	parses("hold_at=queues_created:1");
	hold_configure(config.hold_at, config.hold_pipe);
	atomic_fetch_add(&softgpu_counter_values[SOFTGPU_COUNT_queues_created], 1);
	assert_int_equal(pthread_create(&thread, NULL, release_at_the_point, NULL), 0);
	while ((tid = atomic_load(&releaser)) != -1 && !(tid && sleeps(tid)))
		sched_yield();
	softgpu_counter_moved(SOFTGPU_COUNT_queues_created, 0, 1);
	pthread_join(thread, NULL);
	assert_true(hold_lets_take());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_string_gives_the_defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(bad_strings_are_refused_with_a_word),
		cmocka_unit_test(help_names_every_key),
		cmocka_unit_test(the_guide_names_every_key_and_counter),
		cmocka_unit_test(ticks_convert_there_and_back),
		cmocka_unit_test(sleeping_ends_after_its_time),
		cmocka_unit_test(who_awaits_a_point_finds_it_held),
	};

	setenv("DAGTAP_SOFTGPU", "clock_drift_ppm=50,clock_offset_ticks=1000000", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
