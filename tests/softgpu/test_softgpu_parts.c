/* The parts that need no device: the configuration string, the clock, ROCclr's kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>

#include "softgpu/blit.h"
#include "softgpu/clock.h"
#include "softgpu/config.h"

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
	assert_string_equal(config.isa, "gfx906");
	assert_int_equal(config.gpus, 1);
	assert_int_equal(config.vram_bytes, 16ull << 30);
	assert_int_equal(config.event_limit, 4096);
	assert_int_equal(config.kernel_ns, 5000);
}

static void every_key_is_read(void **state)
{
	parses("gfx90a,gpus=16,vram=3M,large_bar=1,kernel_ns=7,copy_ns=8,copy_bytes_per_us=9,"
	       "overlap=64,event_limit=0,signal_ns=44000,doorbell_ns=500,intercept_batch=1,"
	       "clock_offset_ticks=-5,clock_drift_ppm=-50.5,report=/tmp/r%p,truth=-,"
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
	assert_true(config.intercept_batch);
	assert_int_equal(config.clock_offset_ticks, -5);
	assert_true(config.clock_drift_ppm == -50.5);
	assert_string_equal(config.report, "/tmp/r%p");
	assert_string_equal(config.truth, "-");
	assert_int_equal(config.kernel_pattern_count, 2);
	assert_string_equal(config.kernel_pattern[0].glob, "a*");
	assert_int_equal(config.kernel_pattern[0].ns, 10);
	assert_string_equal(config.kernel_pattern[1].glob, "b=c");
}

static void bad_strings_are_refused_with_a_word(void **state)
{
	static const char *const bad[] = {
		"gfx942",
		"gpus=0",
		"gpus=17",
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

/* main() set the environment: drift 50 ppm, offset 1000000. */
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
	/* 1 s is 100 million ticks and 5,000 more. */
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

static void run_blit(const char *name, const void *arguments)
{
	softgpu_kernel_fn function = blit_find(name);

	assert_non_null(function);
	function(arguments, NULL);
}

static void fills_repeat_the_pattern(void **state)
{
	uint16_t target[8] = {0}, pattern[2] = {0x1122, 0x3344};
	struct {
		void *u8, *u16, *u32, *u64;
		const void *pattern;
		uint32_t pattern_units;
		uint64_t offset, size, height, pitch;
	} arguments = {NULL, target, NULL, NULL, pattern, 2, 1, 3, 0, 0};
	const uint16_t flat[8] = {0, 0x1122, 0x3344, 0x1122, 0x3344, 0x1122, 0x3344, 0};
	const uint16_t rows[8] = {0x1122, 0x1122, 0, 0, 0x1122, 0x1122, 0, 0};

	run_blit("__amd_rocclr_fillBufferAligned", &arguments);
	assert_memory_equal(target, flat, sizeof(flat));
	memset(target, 0, sizeof(target));
	arguments.pattern_units = 1;
	arguments.offset = 0;
	arguments.size = 2;
	arguments.height = 2;
	arguments.pitch = 4;
	run_blit("__amd_rocclr_fillBufferAligned2D", &arguments);
	assert_memory_equal(target, rows, sizeof(rows));
}

struct copy_arguments {
	const void *source;
	void *target;
	uint64_t source_offset, target_offset, size;
	uint32_t unit;
};

static void copies_respect_units_and_rest(void **state)
{
	const char source[] = "0123456789abcdefghijklmnopqrstuv";
	char target[33] = "";
	struct copy_arguments words = {source, target, 1, 2, 3, 3};
	struct copy_arguments bytes = {source, target, 4, 0, 5, 8};
	struct copy_arguments aligned = {source, target, 1, 0, 1, 16};

	run_blit("__amd_rocclr_copyBuffer", &words); /* two words of 4, then 3 bytes */
	assert_memory_equal(target, "\0\000123456789ab\0", 14);
	run_blit("__amd_rocclr_copyBuffer", &bytes);
	assert_memory_equal(target, "45678", 5);
	run_blit("__amd_rocclr_copyBufferAligned", &aligned);
	assert_memory_equal(target, source + 16, 16);
}

struct rect_arguments {
	const void *source;
	void *target;
	uint64_t padding[2];
	uint64_t source_rect[4], target_rect[4], size[4];
};

static void rectangles_keep_their_pitches(void **state)
{
	const char source[] = "abcdefghijklmnopqrstuvwx";
	char target[24];
	struct rect_arguments bytes = {source, target, {0}, {6, 12, 1}, {4, 8, 0}, {2, 2, 2, 1}};
	struct rect_arguments units = {source, target, {0}, {2, 2, 1}, {1, 1, 0}, {1, 2, 1, 4}};

	memset(target, '.', sizeof(target));
	run_blit("__amd_rocclr_copyBufferRect", &bytes);
	assert_memory_equal(target, "bc..hi..no..tu..........", 24);
	memset(target, '.', sizeof(target));
	run_blit("__amd_rocclr_copyBufferRectAligned", &units);
	assert_memory_equal(target, "efghmnop................", 24);
}

static void stream_values_are_written_and_awaited(void **state)
{
	uint32_t word = 0;
	uint64_t wide = 0;
	struct {
		void *u32, *u64;
		uint64_t value, flags, mask;
	} narrow = {&word, NULL, 0x100000007, 0, UINT64_MAX},
	  full = {NULL, &wide, 0x100000007, 1, UINT64_MAX};

	run_blit("__amd_rocclr_streamOpsWrite", &narrow);
	assert_int_equal(word, 7);
	run_blit("__amd_rocclr_streamOpsWrite", &full);
	assert_true(wide == 0x100000007);
	/* Each holds, so each returns: at least, equal, any bit, nor. */
	run_blit("__amd_rocclr_streamOpsWait", &narrow);
	run_blit("__amd_rocclr_streamOpsWait", &full);
	narrow.flags = 2;
	run_blit("__amd_rocclr_streamOpsWait", &narrow);
	narrow.flags = 3;
	run_blit("__amd_rocclr_streamOpsWait", &narrow);
	assert_null(blit_find("__amd_rocclr_copyImage"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_string_gives_the_defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(bad_strings_are_refused_with_a_word),
		cmocka_unit_test(help_names_every_key),
		cmocka_unit_test(ticks_convert_there_and_back),
		cmocka_unit_test(sleeping_ends_after_its_time),
		cmocka_unit_test(fills_repeat_the_pattern),
		cmocka_unit_test(copies_respect_units_and_rest),
		cmocka_unit_test(rectangles_keep_their_pitches),
		cmocka_unit_test(stream_values_are_written_and_awaited),
	};

	setenv("DAGTAP_SOFTGPU", "clock_drift_ppm=50,clock_offset_ticks=1000000", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
