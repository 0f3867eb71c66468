/* Which recordings the library follows. The test stands for the injected library: it gives the path
 * of a spool that it has written itself. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/inject.h"
#include "scene.h"
#include "sdk/abi.h"
#include "sdk/functions.h"

static _Atomic int recorded; /* descriptor of the recording; the source asks on its thread */
static const struct inject_observer *observed;
static uint64_t delivered[8]; /* correlation ids of calls; read after a flush */
static struct sdk_hip_record last;
static size_t delivered_count;
static struct sdk_id context, buffer, buffers[3];

/* What the context of one's own for kernels was told of and has got; read after a flush. */
static struct sdk_id of_kernels, kernel_buffer;
static char told[4][RECORD_TEXT_MAX + 8];
static uint64_t told_ids[4], got_ids[4];
static size_t told_count, got_count;

static size_t give_path(char *ret_path, size_t room)
{
	return (size_t)snprintf(ret_path, room, "/proc/self/fd/%d", recorded);
}

static void observe(const struct inject_observer *observer)
{
	observed = observer;
}

extern const struct inject_table dagtap_inject_v1;
__attribute__((visibility("default"))) const struct inject_table dagtap_inject_v1 = {
	.bytes = sizeof(dagtap_inject_v1),
	.path = give_path,
	.observe = observe,
	.call_bytes = sizeof(struct inject_call),
	.mark_bytes = sizeof(struct inject_mark),
};

static void take_records(struct sdk_id from, struct sdk_id into, struct sdk_record_header **headers,
			 size_t count, void *data, uint64_t dropped)
{
	(void)from, (void)into, (void)data, (void)dropped;
	for (size_t i = 0; i < count && delivered_count < 8; i++) {
		last = *(const struct sdk_hip_record *)headers[i]->payload;
		delivered[delivered_count++] = last.correlation.internal;
		assert_int_equal(headers[i]->kind, last.kind);
	}
}

static void take_kernel(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_kernel_symbol *symbol = record.payload;

	(void)user, (void)data;
	assert_true(told_count < 4);
	told_ids[told_count] = symbol->kernel;
	snprintf(told[told_count++], sizeof(*told), "%s", symbol->name);
}

static void take_dispatches(struct sdk_id from, struct sdk_id into,
			    struct sdk_record_header **headers, size_t count, void *data,
			    uint64_t dropped)
{
	(void)from, (void)into, (void)data, (void)dropped;
	for (size_t i = 0; i < count && got_count < 4; i++)
		got_ids[got_count++] =
			((const struct sdk_dispatch_record *)headers[i]->payload)->info.kernel;
}

/* Records dispatches, and names of kernels. */
static int configure_kernels(struct sdk_id *ret_context, struct sdk_id *ret_buffer)
{
	static const int symbols[] = {SDK_CODE_OBJECT_KERNEL_SYMBOL};

	rocprofiler_create_context(ret_context);
	return rocprofiler_create_buffer(*ret_context, 8192, 8192, SDK_POLICY_LOSSLESS,
					 take_dispatches, NULL, ret_buffer) ||
	       rocprofiler_configure_buffer_tracing_service(
		       *ret_context, SDK_BUFFER_KERNEL_DISPATCH, NULL, 0, *ret_buffer) ||
	       rocprofiler_configure_callback_tracing_service(
		       *ret_context, SDK_CALLBACK_CODE_OBJECT, symbols, 1, take_kernel, NULL);
}

static int initialize(void (*finalize)(struct sdk_client), void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	for (int i = 0; i < 3; i++)
		rocprofiler_create_buffer(context, 8192, 8192, SDK_POLICY_LOSSLESS, take_records,
					  NULL, &buffers[i]);
	return configure_kernels(&of_kernels, &kernel_buffer) ||
	       rocprofiler_create_buffer(context, 8192, 8192, SDK_POLICY_LOSSLESS, take_records,
					 NULL, &buffer) ||
	       rocprofiler_configure_buffer_tracing_service(context, SDK_BUFFER_HIP_RUNTIME_API,
							    NULL, 0, buffer) ||
	       rocprofiler_configure_buffer_tracing_service(context, SDK_BUFFER_RCCL_API, NULL, 0,
							    buffer) ||
	       rocprofiler_configure_buffer_tracing_service(context, SDK_BUFFER_KERNEL_DISPATCH,
							    NULL, 0, buffer) ||
	       rocprofiler_configure_buffer_tracing_service(context, SDK_BUFFER_SCRATCH_MEMORY,
							    NULL, 0, buffer) ||
	       rocprofiler_start_context(context);
}

static struct sdk_configuration *configure(uint32_t version, const char *text, uint32_t priority,
					   struct sdk_client *client)
{
	static struct sdk_configuration configuration = {sizeof(configuration), initialize, NULL,
							 NULL};

	(void)version, (void)text, (void)priority, (void)client;
	return &configuration;
}

/* The spool of a process that records, with one call. */
struct recording {
	struct scene scene;
	int fd;
};

static void put_call_of(struct recording *recording, uint64_t cid, uint32_t function)
{
	struct record_api call = {
		.cid = cid, .begin_ns = clock_now_ns(), .end_ns = clock_now_ns() + 1};

	scene_put(&recording->scene, 0, RECORD_API, function, &call, sizeof(call));
	assert_int_equal(pwrite(recording->fd, recording->scene.image, SCENE_BYTES, 0),
			 SCENE_BYTES);
}

static void put_call(struct recording *recording, uint64_t cid)
{
	put_call_of(recording, cid, SCENE_LAUNCH_BY_PTR);
}

static void put_rccl_name(struct recording *recording, uint32_t function, const char *text)
{
	struct {
		struct record_api_name name;
		char text[64];
	} record = {.name = {.domain = RECORD_DOMAIN_RCCL, .text_bytes = strlen(text)}};

	memcpy(record.name.text, text, strlen(text));
	scene_put(&recording->scene, 0, RECORD_API_NAME, function, &record, sizeof(record));
}

static void begin(struct recording *recording, uint64_t cid)
{
	scene_init(&recording->scene, 1);
	recording->fd = memfd_create("recorded.spool", MFD_CLOEXEC);
	put_call(recording, cid);
	recorded = recording->fd;
}

static void end(struct recording *recording)
{
	scene_release(&recording->scene);
	close(recording->fd);
}

static void flush(void)
{
	assert_int_equal(rocprofiler_flush_buffer(buffer), SDK_SUCCESS);
}

static void a_recording_that_was_left_open_ends_with_the_next_one(void **state)
{
	struct recording first, second;

	(void)state;
	begin(&first, 101);
	assert_int_equal(rocprofiler_force_configure(configure), SDK_SUCCESS);
	put_call(&first, 102);
	flush();
	assert_int_equal(delivered_count, 1);
	assert_int_equal(delivered[0], 102);
	/* Its state stays open, and another one is begun. */
	put_call(&first, 103);
	begin(&second, 104);
	flush();
	assert_int_equal(delivered_count, 3);
	assert_int_equal(delivered[1], 103);
	assert_int_equal(delivered[2], 104);
	put_call(&second, 105);
	flush();
	assert_int_equal(delivered_count, 4);
	assert_int_equal(delivered[3], 105);
	end(&first);
	end(&second);
}

static void calls_of_rccl_are_records_of_their_own_kind(void **state)
{
	struct recording recording;
	const char *name;

	(void)state;
	delivered_count = 0;
	begin(&recording, 201);
	flush();
	put_rccl_name(&recording, 2048, "ncclAllReduce sendbuff:p");
	put_call_of(&recording, 202, 2048);
	flush();
	assert_int_equal(delivered_count, 2);
	assert_int_equal(delivered[1], 202);
	assert_int_equal(last.kind, SDK_BUFFER_RCCL_API);
	assert_int_equal(rocprofiler_query_buffer_tracing_kind_operation_name(
				 SDK_BUFFER_RCCL_API, last.operation, &name, NULL),
			 SDK_SUCCESS);
	assert_string_equal(name, "ncclAllReduce");
	assert_int_equal(last.operation, 1);
	end(&recording);
}

static void put_kernel(struct recording *recording, uint32_t id, char fill, char last_letter)
{
	static struct {
		struct record_kernel kernel;
		char name[5000];
	} record;

	record.kernel = (struct record_kernel){
		.kernel_object = id, .agent = SCENE_AGENT_GPU, .name_bytes = sizeof(record.name)};
	memset(record.name, fill, sizeof(record.name));
	record.name[sizeof(record.name) - 1] = last_letter;
	scene_put(&recording->scene, 0, RECORD_KERNEL, id, &record, sizeof(record));
}

static void run_kernel(struct recording *recording, uint32_t id)
{
	uint64_t cid = scene_reserve_cid(&recording->scene);
	struct record_api call = {.cid = cid,
				  .begin_ns = clock_now_ns(),
				  .end_ns = clock_now_ns() + 1,
				  .activities = 1};

	scene_put(&recording->scene, 0, RECORD_API, SCENE_LAUNCH_BY_PTR, &call, sizeof(call));
	scene_run(&recording->scene, cid, 0, id, 64);
	assert_int_equal(pwrite(recording->fd, recording->scene.image, SCENE_BYTES, 0),
			 SCENE_BYTES);
}

/* The first kernel is run before the context is started. */
static void each_context_is_told_of_each_kernel(void **state)
{
	struct recording recording;
	int fd = memfd_create("kernels.spool", MFD_CLOEXEC);

	(void)state;
	scene_init(&recording.scene, 1);
	/* Not the path of the last recording. */
	recording.fd = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	close(fd);
	put_kernel(&recording, 500, 'k', '1');
	put_kernel(&recording, 501, 'k', '2');
	run_kernel(&recording, 500);
	recorded = recording.fd;
	flush();
	assert_int_equal(told_count, 0);
	assert_int_equal(rocprofiler_start_context(of_kernels), SDK_SUCCESS);
	run_kernel(&recording, 501);
	run_kernel(&recording, 500);
	flush();
	end(&recording);
	assert_int_equal(told_count, 2);
	assert_string_equal(told[0] + 4998, "k1.kd");
	assert_string_equal(told[1] + 4998, "k2.kd");
	assert_int_equal(got_count, 2);
	assert_int_not_equal(got_ids[0], got_ids[1]);
	assert_int_equal(got_ids[0], told_ids[1]);
	assert_int_equal(got_ids[1], told_ids[0]);
}

static void tell_scratch(enum inject_scratch_operation operation, uint64_t cid, uint64_t end_ns)
{
	const struct inject_scratch scratch = {
		.cid = cid, .begin_ns = 1, .end_ns = end_ns, .operation = operation};

	observed->scratch(&scratch);
}

/* As ROCr does when there is too little. */
static void scratch_memory_is_reclaimed_inside_of_an_allocation(void **state)
{
	(void)state;
	flush();
	delivered_count = 0;
	for (uint64_t cid = 301; cid < 305; cid += 2) {
		tell_scratch(INJECT_SCRATCH_ALLOCATE, cid, 0);
		tell_scratch(INJECT_SCRATCH_RECLAIM, cid + 1, 0);
		tell_scratch(INJECT_SCRATCH_RECLAIM, cid + 1, 2);
		tell_scratch(INJECT_SCRATCH_ALLOCATE, cid, 3);
	}
	flush();
	assert_int_equal(delivered_count, 4);
	assert_int_equal(delivered[0], 302);
	assert_int_equal(delivered[1], 301);
	assert_int_equal(delivered[2], 304);
	assert_int_equal(delivered[3], 303);
	assert_int_equal(last.operation, SDK_SCRATCH_ALLOC);
}

static void *destroy(void *number)
{
	rocprofiler_destroy_buffer(*(struct sdk_id *)number);
	return NULL;
}

/* Each is destroyed by two threads, all at the same time. */
static void buffers_may_be_destroyed_by_several_threads(void **state)
{
	pthread_t threads[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, destroy, &buffers[i % 3]), 0);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rocprofiler_destroy_buffer(buffers[i]),
				 SDK_ERROR_BUFFER_NOT_FOUND);
	flush();
}

static void a_child_of_fork_is_not_observed(void **state)
{
	pid_t child;
	int status;

	(void)state;
	assert_non_null(observed);
	child = fork();
	if (child == 0) {
		bool is_left = !observed && !rocprofiler_stop_context(context) &&
			       !rocprofiler_start_context(context) && !observed &&
			       !rocprofiler_flush_buffer(buffer);

		_exit(is_left ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_non_null(observed);
	flush();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_that_was_left_open_ends_with_the_next_one),
		cmocka_unit_test(calls_of_rccl_are_records_of_their_own_kind),
		cmocka_unit_test(each_context_is_told_of_each_kernel),
		cmocka_unit_test(scratch_memory_is_reclaimed_inside_of_an_allocation),
		cmocka_unit_test(a_child_of_fork_is_not_observed),
		cmocka_unit_test(buffers_may_be_destroyed_by_several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
