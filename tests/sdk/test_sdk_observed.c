/* Records that wait for the delivering thread, and those that are lost because there is no
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../failing_memory.h"
#include "sdk/buffers.h"
#include "sdk/observed.h"

static uint64_t delivered[8], dropped;
static size_t delivered_count;

static void take_records(struct sdk_id from, struct sdk_id into, struct sdk_record_header **headers,
			 size_t count, void *data, uint64_t lost)
{
	(void)from, (void)into, (void)data;
	for (size_t i = 0; i < count; i++)
		delivered[delivered_count++] =
			((struct sdk_record_head *)headers[i]->payload)->correlation.internal;
	dropped += lost;
}

static void keep(uint64_t cid)
{
	const struct observed what = {.cid = cid,
				      .operation = SDK_SCRATCH_ALLOC,
				      .callback = SDK_CALLBACK_SCRATCH_MEMORY,
				      .buffer = SDK_BUFFER_SCRATCH_MEMORY,
				      .request = SDK_REQUEST_SCRATCH_MEMORY};
	struct sdk_scratch_record record = {.start_ns = 1};
	struct observed_state state = {0};

	observed_begin(&state, &what);
	observed_end(&state, &what, &record.head, sizeof(record));
}

static void deliver(void)
{
	observed_deliver();
	sdk_buffer_deliver(sdk_buffer_find(1));
}

static int setup(void **state)
{
	const struct sdk_buffer like = {.size = 8192, .watermark = 8192, .callback = take_records};
	struct sdk_buffer_service *service = &sdk_contexts[0].buffers[SDK_BUFFER_SCRATCH_MEMORY];

	(void)state;
	sdk_contexts[0].is_used = true;
	sdk_contexts[0].is_started = true;
	service->operations.is_on = true;
	service->operations.bits[0] = ~0ull;
	service->buffer = sdk_buffer_make(&like);
	delivered_count = dropped = 0;
	return service->buffer == 1 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	memory_fail(0);
	sdk_buffer_free(sdk_buffer_find(1));
	return 0;
}

static void a_record_that_cannot_be_kept_is_counted(void **state)
{
	(void)state;
	memory_fail(1);
	keep(1);
	keep(2);
	deliver();
	assert_int_equal(delivered_count, 1);
	assert_int_equal(delivered[0], 2);
	assert_int_equal(dropped, 1);
	deliver();
	assert_int_equal(dropped, 1);
}

static void the_records_behind_one_that_cannot_be_delivered_are(void **state)
{
	(void)state;
	keep(1);
	keep(2);
	keep(3);
	memory_fail(1);
	deliver();
	assert_int_equal(delivered_count, 2);
	assert_int_equal(delivered[0], 2);
	assert_int_equal(delivered[1], 3);
	assert_int_equal(dropped, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_that_cannot_be_kept_is_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_records_behind_one_that_cannot_be_delivered_are,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
