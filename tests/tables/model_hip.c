/*
 * A model of libamdhip64.so.7, with the functions that the tests call. MODEL_TABLE_BYTES and
 * MODEL_VERSION make its dispatch table that of another release; MODEL_SILENT=1 makes it a build
 * that hands over no table.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model_tables.h"

SHOWN struct model_counts model_counts;
SHOWN uint32_t model_second_memcpys;

static struct model_table table, second;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/* Does what rocprofiler-register does with a table. */
SHOWN int model_hand_over(const char *name, uint64_t version, uint64_t instance, void **tables,
			  uint64_t count)
{
	int (*set)(const char *, uint64_t, uint64_t, void **, uint64_t) =
		dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");

	if (getenv("MODEL_SILENT") || !set || !dlsym(RTLD_DEFAULT, "rocprofiler_configure"))
		return -1;
	return set(name, version, instance, tables, count);
}

static int real_event_record(void *event, void *stream)
{
	model_counts.event_record++;
	return 0;
}

static int real_launch_kernel(const void *function, struct grid blocks, struct grid threads,
			      void **arguments, size_t shared_bytes, void *stream)
{
	model_counts.launch_kernel++;
	return 0;
}

static int real_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	model_counts.memcpy_async++;
	return 0;
}

static int second_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	model_second_memcpys++;
	return 0;
}

/* Functions of the second runtime, which has one stream. */
static bool second_captures;

static int second_begin_capture(void *stream, int mode)
{
	second_captures = true;
	return 0;
}

static int second_end_capture(void *stream, void **graph)
{
	second_captures = false;
	return 0;
}

static int second_capture_info(void *stream, int *status, unsigned long long *id, void **graph,
			       const void *const **nodes, size_t *node_count)
{
	*status = second_captures;
	return 0;
}

static int real_stream_synchronize(void *stream)
{
	model_counts.stream_synchronize++;
	return 0;
}

static int real_occupancy(size_t *bytes, const void *function, int blocks, int block_size)
{
	model_counts.occupancy++;
	*bytes = 4096;
	return 0;
}

static int beyond(void)
{
	model_counts.beyond++;
	return 77;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
	const char *value = getenv(variable);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

static void fill(struct model_table *t)
{
	t->size = number("MODEL_TABLE_BYTES", HIP_TABLE_BYTES);
	*model_slot(t, AT_EVENT_RECORD) = (void *)real_event_record;
	*model_slot(t, AT_LAUNCH_KERNEL) = (void *)real_launch_kernel;
	*model_slot(t, AT_MEMCPY_ASYNC) = (void *)real_memcpy_async;
	*model_slot(t, AT_STREAM_SYNCHRONIZE) = (void *)real_stream_synchronize;
	*model_slot(t, AT_OCCUPANCY) = (void *)real_occupancy;
	*model_slot(t, HIP_TABLE_BYTES) = (void *)beyond;
}

static void hand_over(struct model_table *t, uint64_t instance)
{
	void *tables[] = {t};

	model_hand_over("hip", number("MODEL_VERSION", 70200), instance, tables, 1);
}

static void make_table(void)
{
	fill(&table);
	hand_over(&table, 0);
}

static struct model_table *get_table(void)
{
	pthread_once(&table_once, make_table);
	return &table;
}

SHOWN struct model_table *model_first_table(void)
{
	return get_table();
}

SHOWN struct model_table *model_second_table(void)
{
	fill(&second);
	*model_slot(&second, AT_MEMCPY_ASYNC) = (void *)second_memcpy_async;
	*model_slot(&second, AT_BEGIN_CAPTURE) = (void *)second_begin_capture;
	*model_slot(&second, AT_END_CAPTURE) = (void *)second_end_capture;
	*model_slot(&second, AT_CAPTURE_INFO) = (void *)second_capture_info;
	hand_over(&second, 1);
	return &second;
}

SHOWN void model_hand_over_again(void)
{
	hand_over(get_table(), 0);
}

static void real_register_function(void **module, const void *stub, char *device_function,
				   const char *device_name, unsigned int thread_limit, void *tid,
				   void *bid, void *block_dim, void *grid_dim, int *warp_size)
{
	model_counts.registered++;
}

static void real_unregister_fat_binary(void **module)
{
	model_counts.unregistered++;
}

static struct {
	size_t size;
	void *functions[COMPILER_TABLE_BYTES / 8 - 1];
} compiler_table = {COMPILER_TABLE_BYTES, {NULL}};
static pthread_once_t compiler_once = PTHREAD_ONCE_INIT;

static void **compiler_slot(size_t offset)
{
	return (void **)(uintptr_t)((char *)&compiler_table + offset);
}

static void make_compiler_table(void)
{
	void *tables[] = {&compiler_table};

	*compiler_slot(AT_REGISTER_FUNCTION) = (void *)real_register_function;
	*compiler_slot(AT_UNREGISTER_FAT_BINARY) = (void *)real_unregister_fat_binary;
	model_hand_over("hip_compiler", 70200, 0, tables, 1);
}

SHOWN void __hipRegisterFunction(void **module, const void *stub, char *device_function,
				 const char *device_name, unsigned int thread_limit, void *tid,
				 void *bid, void *block_dim, void *grid_dim, int *warp_size)
{
	pthread_once(&compiler_once, make_compiler_table);
	((register_function *)*compiler_slot(AT_REGISTER_FUNCTION))(
		module, stub, device_function, device_name, thread_limit, tid, bid, block_dim,
		grid_dim, warp_size);
}

SHOWN void __hipUnregisterFatBinary(void **module)
{
	pthread_once(&compiler_once, make_compiler_table);
	((void (*)(void **)) * compiler_slot(AT_UNREGISTER_FAT_BINARY))(module);
}

SHOWN int hipEventRecord(void *event, void *stream)
{
	return ((event_record *)*model_slot(get_table(), AT_EVENT_RECORD))(event, stream);
}

SHOWN int hipLaunchKernel(const void *function, struct grid blocks, struct grid threads,
			  void **arguments, size_t shared_bytes, void *stream)
{
	return ((launch_kernel *)*model_slot(get_table(), AT_LAUNCH_KERNEL))(
		function, blocks, threads, arguments, shared_bytes, stream);
}

SHOWN int hipMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	return ((memcpy_async *)*model_slot(get_table(), AT_MEMCPY_ASYNC))(dst, src, bytes, kind,
									   stream);
}

SHOWN int hipStreamSynchronize(void *stream)
{
	return ((stream_synchronize *)*model_slot(get_table(), AT_STREAM_SYNCHRONIZE))(stream);
}

SHOWN int hipOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
						   int block_size)
{
	return ((occupancy *)*model_slot(get_table(), AT_OCCUPANCY))(bytes, function, blocks,
								     block_size);
}
