/* The kernels of ROCclr: what they compute, and that a range outside the device's memory is
 * counted and not written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>

#include "aql.h"
#include "raw_machine.h"
#include "softgpu/blit_kernels.h"
#include "softgpu/blit_region.h"
#include "softgpu/image.h"

#define BLOCK_BYTES 4096

static struct machine machine;
static char *source; /* one page each; the memory behind them is unknown */
static char *target;

static int open_machine(void **state)
{
	machine_open("gfx906", &machine);
	source = machine_allocate(machine.vram[0], BLOCK_BYTES);
	target = machine_allocate(machine.vram[0], BLOCK_BYTES);
	return 0;
}

static int clear(void **state)
{
	memset(source, 0, BLOCK_BYTES);
	memset(target, '.', BLOCK_BYTES);
	return 0;
}

static void call_blit(const char *name, const void *arguments)
{
	const struct blit *blit = blit_find(name);

	assert_non_null(blit);
	blit->function(arguments, NULL);
}

static void runs(const char *name, const void *arguments)
{
	uint64_t bad = aql_counter("dispatches_bad_range");

	call_blit(name, arguments);
	assert_int_equal(aql_counter("dispatches_bad_range"), bad);
	assert_false(blit_take_fault());
}

/* Checks that the call writes nothing and counts one error. */
static void is_refused(const char *name, const void *arguments)
{
	char before[BLOCK_BYTES];
	uint64_t bad = aql_counter("dispatches_bad_range");

	memcpy(before, target, sizeof(before));
	call_blit(name, arguments);
	assert_int_equal(aql_counter("dispatches_bad_range"), bad + 1);
	assert_true(blit_take_fault());
	assert_memory_equal(before, target, sizeof(before));
}

struct fill_arguments {
	void *u8, *u16, *u32, *u64;
	const void *pattern;
	uint32_t pattern_units;
	uint64_t offset, size, height, pitch;
	void *target;
	uint32_t unit_bytes;
	uint64_t begin, end;
};

static void fills_repeat_the_pattern(void **state)
{
	struct fill_arguments arguments = {
		.u16 = target, .pattern = source, .pattern_units = 2, .offset = 1, .size = 3};
	const uint16_t flat[8] = {0, 0x1122, 0x3344, 0x1122, 0x3344, 0x1122, 0x3344, 0};
	const uint16_t rows[8] = {0x1122, 0x1122, 0, 0, 0x1122, 0x1122, 0, 0};

	memset(target, 0, BLOCK_BYTES);
	memcpy(source, flat + 1, 4);
	runs("__amd_rocclr_fillBufferAligned", &arguments);
	assert_memory_equal(target, flat, sizeof(flat));
	memset(target, 0, BLOCK_BYTES);
	arguments.pattern_units = 1;
	arguments.offset = 0;
	arguments.size = 2;
	arguments.height = 2;
	arguments.pitch = 4;
	runs("__amd_rocclr_fillBufferAligned2D", &arguments);
	assert_memory_equal(target, rows, sizeof(rows));
}

/* A fill that leaves its allocation, or whose pattern does, must not run. */
static void fills_outside_are_refused(void **state)
{
	/* The last word of the page and one more word. */
	struct fill_arguments over = {.u32 = target,
				      .pattern = source,
				      .pattern_units = 1,
				      .offset = BLOCK_BYTES / 4 - 1,
				      .size = 2};
	/* The arguments that HIP 5.2.3 makes for one byte at an address that is not a multiple
	 * of 8. */
	struct fill_arguments wrapped = {
		.u64 = target, .pattern = source, .pattern_units = 1, .size = UINT64_MAX >> 3};
	struct fill_arguments pattern = {
		.u32 = target, .pattern = (void *)16, .pattern_units = 1, .size = 1};
	struct fill_arguments pitch = {.u8 = target,
				       .pattern = source,
				       .pattern_units = 1,
				       .size = 1,
				       .height = 3,
				       .pitch = UINT64_MAX / 2};
	struct fill_arguments nothing = {
		.pattern = source, .pattern_units = 1, .size = 1, .height = 1, .pitch = 1};

	is_refused("__amd_rocclr_fillBufferAligned", &over);
	over.size = 1;
	runs("__amd_rocclr_fillBufferAligned", &over);
	is_refused("__amd_rocclr_fillBufferAligned", &wrapped);
	wrapped.size = 0;
	runs("__amd_rocclr_fillBufferAligned", &wrapped);
	is_refused("__amd_rocclr_fillBufferAligned", &pattern);
	is_refused("__amd_rocclr_fillBufferAligned2D", &pitch);
	is_refused("__amd_rocclr_fillBufferAligned", &nothing);
}

/* The range holds whole patterns; the last one begins before the end. */
static void fills_go_on_to_their_end(void **state)
{
	struct fill_arguments arguments = {.pattern = source,
					   .pattern_units = 3,
					   .target = target,
					   .unit_bytes = 2,
					   .begin = 0x5000,
					   .end = 0x5000 + 7};

	memcpy(source, "abcdef", 6);
	runs("__amd_rocclr_fillBufferAligned", &arguments);
	assert_memory_equal(target, "abcdefabcdef..", 14);
	arguments.end = arguments.begin + BLOCK_BYTES; /* not a whole number of patterns */
	is_refused("__amd_rocclr_fillBufferAligned", &arguments);
	arguments.end = arguments.begin - 1;
	runs("__amd_rocclr_fillBufferAligned", &arguments);
}

struct copy_arguments {
	const void *source;
	void *target;
	uint64_t source_offset, target_offset, size;
	uint32_t unit, word_bytes, rest;
	uint64_t begin, end;
};

static struct copy_arguments copy_of(uint64_t source_offset, uint64_t target_offset, uint64_t size,
				     uint32_t unit)
{
	return (struct copy_arguments){.source = source,
				       .target = target,
				       .source_offset = source_offset,
				       .target_offset = target_offset,
				       .size = size,
				       .unit = unit};
}

static void copies_respect_units_and_rest(void **state)
{
	const char text[] = "0123456789abcdefghijklmnopqrstuv";
	struct copy_arguments words = copy_of(1, 2, 3, 3);
	struct copy_arguments bytes = copy_of(4, 0, 5, 8);
	struct copy_arguments aligned = copy_of(1, 0, 1, 16);

	memcpy(source, text, sizeof(text));
	runs("__amd_rocclr_copyBuffer", &words); /* two words of 4 bytes, then 3 bytes */
	assert_memory_equal(target, "..123456789ab.", 14);
	runs("__amd_rocclr_copyBuffer", &bytes);
	assert_memory_equal(target, "45678", 5);
	runs("__amd_rocclr_copyBufferAligned", &aligned);
	assert_memory_equal(target, text + 16, 16);
}

static void copies_go_on_to_their_end(void **state)
{
	const char text[] = "0123456789abcdefghijklmnopqrstuv";
	struct copy_arguments arguments = copy_of(0, 0, 19, 0);

	arguments.word_bytes = 16;
	arguments.rest = 3;
	arguments.begin = 0x5000;
	arguments.end = 0x5000 + 16;
	memcpy(source, text, sizeof(text));
	runs("__amd_rocclr_copyBuffer", &arguments);
	assert_memory_equal(target, "0123456789abcdefghi.", 20);
	arguments.end = arguments.begin + BLOCK_BYTES + 1;
	is_refused("__amd_rocclr_copyBuffer", &arguments);
	arguments.end = arguments.begin;
	arguments.rest = 20;
	/* The rest is larger than the byte count. */
	is_refused("__amd_rocclr_copyBuffer", &arguments);
}

static void copies_outside_are_refused(void **state)
{
	struct copy_arguments over = copy_of(BLOCK_BYTES - 4, 0, 5, 8);
	struct copy_arguments before = copy_of(0, UINT64_MAX - 3, 8, 8);
	struct copy_arguments endless = copy_of(0, 0, UINT64_MAX / 2, 4);
	struct copy_arguments unknown = copy_of(0, 0, 4, 8);

	unknown.target = NULL;
	is_refused("__amd_rocclr_copyBuffer", &over);
	is_refused("__amd_rocclr_copyBuffer", &before);
	is_refused("__amd_rocclr_copyBuffer", &endless);
	is_refused("__amd_rocclr_copyBuffer", &unknown);
	is_refused("__amd_rocclr_copyBufferAligned", &endless);
	over.source_offset = BLOCK_BYTES / 16;
	over.size = 1;
	over.unit = 16;
	is_refused("__amd_rocclr_copyBufferAligned", &over);
}

static void locked_memory_is_inside(void **state)
{
	char *host = calloc(1, BLOCK_BYTES);
	struct copy_arguments out = copy_of(0, 0, 4, 8);
	struct copy_arguments in = copy_of(0, 0, 4, 8);
	void *alias;

	out.target = host;
	in.source = host;
	memcpy(source, "abcd", 4);
	is_refused("__amd_rocclr_copyBuffer", &in);
	assert_int_equal(hsa_amd_memory_lock(host, BLOCK_BYTES, NULL, 0, &alias),
			 HSA_STATUS_SUCCESS);
	/* The arguments that reach a kernel are host addresses. */
	runs("__amd_rocclr_copyBuffer", &out);
	runs("__amd_rocclr_copyBuffer", &in);
	assert_memory_equal(target, "abcd", 4);
	hsa_amd_memory_unlock(host);
	is_refused("__amd_rocclr_copyBuffer", &in);
	free(host);
}

struct rect_arguments {
	const void *source;
	void *target;
	uint64_t source_rect[4], target_rect[4], size[4];
};

static void rectangles_keep_their_pitches(void **state)
{
	const char text[] = "abcdefghijklmnopqrstuvwx";
	struct rect_arguments bytes = {source, target, {6, 12, 1}, {4, 8, 0}, {2, 2, 2, 1}};
	struct rect_arguments units = {source, target, {2, 2, 1}, {1, 1, 0}, {1, 2, 1, 4}};

	memcpy(source, text, sizeof(text));
	runs("__amd_rocclr_copyBufferRect", &bytes);
	assert_memory_equal(target, "bc..hi..no..tu..........", 24);
	clear(NULL);
	memcpy(source, text, sizeof(text));
	runs("__amd_rocclr_copyBufferRectAligned", &units);
	assert_memory_equal(target, "efghmnop................", 24);
}

static void rectangles_outside_are_refused(void **state)
{
	struct rect_arguments rows = {source, target, {256, 0, 0}, {256, 0, 1}, {256, 16, 1}};
	struct rect_arguments slices = {
		source, target, {1, 1, 0}, {1, UINT64_MAX / 2, 0}, {1, 1, 3, 4}};

	is_refused("__amd_rocclr_copyBufferRect", &rows);
	rows.target_rect[2] = 0;
	runs("__amd_rocclr_copyBufferRect", &rows);
	rows.size[1] = 0;
	rows.target_rect[2] = BLOCK_BYTES * 2;
	runs("__amd_rocclr_copyBufferRect", &rows);
	is_refused("__amd_rocclr_copyBufferRectAligned", &slices);
}

struct stream_arguments {
	void *u32, *u64;
	uint64_t value, flags, mask;
};

static void stream_values_are_written_and_awaited(void **state)
{
	uint32_t *word = (uint32_t *)target;
	uint64_t *wide = (uint64_t *)(target + 8);
	struct stream_arguments narrow = {word, NULL, 0x100000007, 0, UINT64_MAX};
	struct stream_arguments full = {NULL, wide, 0x100000007, 1, UINT64_MAX};

	runs("__amd_rocclr_streamOpsWrite", &narrow);
	assert_int_equal(*word, 7);
	runs("__amd_rocclr_streamOpsWrite", &full);
	assert_true(*wide == 0x100000007);
	/* Each condition holds, so each wait returns: at least, equal, any bit, nor. */
	runs("__amd_rocclr_streamOpsWait", &narrow);
	runs("__amd_rocclr_streamOpsWait", &full);
	narrow.flags = 2;
	runs("__amd_rocclr_streamOpsWait", &narrow);
	narrow.flags = 3;
	runs("__amd_rocclr_streamOpsWait", &narrow);
	assert_null(blit_find("__amd_rocclr_copyImage"));
}

static void stream_values_may_be_signals(void **state)
{
	volatile hsa_signal_value_t *value;
	struct stream_arguments arguments = {NULL, NULL, 7, 1, UINT64_MAX};
	hsa_signal_t signal;

	assert_int_equal(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_signal_value_pointer(signal, &value), HSA_STATUS_SUCCESS);
	arguments.u64 = (void *)value;
	runs("__amd_rocclr_streamOpsWrite", &arguments);
	runs("__amd_rocclr_streamOpsWait", &arguments);
	assert_int_equal(hsa_signal_load_relaxed(signal), 7);
	hsa_signal_destroy(signal);
	is_refused("__amd_rocclr_streamOpsWrite", &arguments);
}

static void stream_values_outside_are_refused(void **state)
{
	struct stream_arguments over = {NULL, target + BLOCK_BYTES - 4, 7, 1, UINT64_MAX};
	struct stream_arguments nothing = {NULL, NULL, 7, 1, UINT64_MAX};

	is_refused("__amd_rocclr_streamOpsWrite", &over);
	is_refused("__amd_rocclr_streamOpsWait", &over);
	is_refused("__amd_rocclr_streamOpsWrite", &nothing);
	is_refused("__amd_rocclr_streamOpsWait", &nothing);
}

static void image_buffers_outside_are_refused(void **state)
{
	const hsa_ext_image_descriptor_t descriptor = {
		.geometry = HSA_EXT_IMAGE_GEOMETRY_2D,
		.width = 20,
		.height = 6,
		.format = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32,
			   HSA_EXT_IMAGE_CHANNEL_ORDER_R},
	};
	struct image_blit_args in = {
		.buffer = source, .size = {4, 2, 1}, .format = {1, 4, 1}, .pitch = {4, 8}};
	struct image_blit_args out = {
		.buffer = target, .size = {4, 2, 1}, .format = {1, 4, 1}, .pitch = {4, 8}};
	char *data = machine_allocate(machine.vram[0], BLOCK_BYTES);
	hsa_ext_image_t image;

	assert_int_equal(hsa_ext_image_create(machine.gpu[0], &descriptor, data,
					      HSA_ACCESS_PERMISSION_RW, &image),
			 HSA_STATUS_SUCCESS);
	in.image = out.image = image.handle;
	memcpy(source, "abcdefgh", 8);
	runs("__amd_rocclr_copyBufferToImage", &in);
	runs("__amd_rocclr_copyImageToBuffer", &out);
	assert_memory_equal(target, "abcdefgh", 8);
	in.buffer_origin[0] = BLOCK_BYTES / 4 - 4;
	is_refused("__amd_rocclr_copyBufferToImage", &in);
	in.buffer_origin[0] = 0;
	in.size[0] = -1;
	is_refused("__amd_rocclr_copyBufferToImage", &in);
	in.size[0] = 21;
	is_refused("__amd_rocclr_copyBufferToImage", &in);
	out.pitch[0] = UINT64_MAX / 2;
	is_refused("__amd_rocclr_copyImageToBuffer", &out);
	out.pitch[0] = 4;
	out.image = 1;
	is_refused("__amd_rocclr_copyImageToBuffer", &out);
	hsa_ext_image_destroy(machine.gpu[0], image);
	hsa_amd_memory_pool_free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fills_repeat_the_pattern, clear),
		cmocka_unit_test_setup(fills_outside_are_refused, clear),
		cmocka_unit_test_setup(fills_go_on_to_their_end, clear),
		cmocka_unit_test_setup(copies_respect_units_and_rest, clear),
		cmocka_unit_test_setup(copies_go_on_to_their_end, clear),
		cmocka_unit_test_setup(copies_outside_are_refused, clear),
		cmocka_unit_test_setup(locked_memory_is_inside, clear),
		cmocka_unit_test_setup(rectangles_keep_their_pitches, clear),
		cmocka_unit_test_setup(rectangles_outside_are_refused, clear),
		cmocka_unit_test_setup(stream_values_are_written_and_awaited, clear),
		cmocka_unit_test_setup(stream_values_may_be_signals, clear),
		cmocka_unit_test_setup(stream_values_outside_are_refused, clear),
		cmocka_unit_test_setup(image_buffers_outside_are_refused, clear),
	};

	return cmocka_run_group_tests_name("blit", tests, open_machine, NULL);
}
