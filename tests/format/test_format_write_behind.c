/* Writing blocks behind the caller's back: their order, errors, and one thread. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/workers.h"
#include "format/write_behind.h"

#define BLOCKS	    200
#define BLOCK_BYTES 5000

/* Writes blocks from two buffers in turn, as the formats do, and returns the first error. */
static int write_blocks(FILE *file)
{
	static char buffers[2][BLOCK_BYTES];
	struct write_behind behind;
	int error = 0;

	write_behind_init(&behind, file);
	for (int i = 0; i < BLOCKS; i++) {
		memset(buffers[i % 2], i, BLOCK_BYTES);
		error = write_behind_put(&behind, buffers[i % 2], BLOCK_BYTES);
	}
	error = write_behind_wait(&behind);
	write_behind_release(&behind);
	return error;
}

static void assert_blocks_in_order(void)
{
	char *bytes;
	size_t count;
	FILE *file = open_memstream(&bytes, &count);

	assert_int_equal(write_blocks(file), 0);
	fclose(file);
	assert_int_equal(count, BLOCKS * BLOCK_BYTES);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(bytes[i], (char)(i / BLOCK_BYTES));
	free(bytes);
}

static void blocks_are_written_in_order(void **state)
{
	workers_limit(2);
	assert_blocks_in_order();
	workers_limit(1);
	assert_blocks_in_order();
	workers_limit(0);
}

/* A device that is full after some bytes. */
struct device {
	size_t left, writes_after;
};

static ssize_t write_device(void *cookie, const char *bytes, size_t count)
{
	struct device *device = cookie;

	device->writes_after += device->left == 0;
	if (device->left < count) {
		device->left = 0;
		errno = ENOSPC;
		return 0;
	}
	device->left -= count;
	return (ssize_t)count;
}

static void the_first_error_sticks(void **state)
{
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct device device = {.left = 20 * BLOCK_BYTES};
		FILE *file =
			fopencookie(&device, "w", (cookie_io_functions_t){.write = write_device});

		setvbuf(file, NULL, _IONBF, 0);
		workers_limit(threads);
		assert_int_equal(write_blocks(file), -ENOSPC);
		assert_true(device.writes_after <= 1);
		fclose(file);
	}
	workers_limit(0);
}

static void nothing_need_be_written(void **state)
{
	struct write_behind behind;

	write_behind_init(&behind, NULL);
	assert_int_equal(write_behind_put(&behind, NULL, 0), 0);
	assert_int_equal(write_behind_wait(&behind), 0);
	write_behind_release(&behind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_written_in_order),
		cmocka_unit_test(the_first_error_sticks),
		cmocka_unit_test(nothing_need_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
