/*
 * Another tool next to ours: wraps three functions of HIP's dispatch table and prints at the end
 * how many calls it has seen. It passes tables on to the next tool, unless SECOND_TOOL_KEEPS=1.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_tables.h"

typedef int set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			  uint64_t count);
SHOWN set_api_table rocprofiler_set_api_table;
SHOWN void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
				  void *client);

static launch_kernel *next_launch_kernel;
static memcpy_async *next_memcpy_async;
static stream_synchronize *next_stream_synchronize;
static uint32_t launch_kernels, memcpys, synchronizes, tables_seen;

static int see_launch_kernel(const void *function, struct grid blocks, struct grid threads,
			     void **arguments, size_t shared_bytes, void *stream)
{
	launch_kernels++;
	return next_launch_kernel(function, blocks, threads, arguments, shared_bytes, stream);
}

static int see_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	memcpys++;
	return next_memcpy_async(dst, src, bytes, kind, stream);
}

static int see_stream_synchronize(void *stream)
{
	synchronizes++;
	return next_stream_synchronize(stream);
}

static void say(void)
{
	printf("second_tables %x\nsecond_launches %x\nsecond_memcpys %x\nsecond_synchronizes %x\n",
	       tables_seen, launch_kernels, memcpys, synchronizes);
}

static void *swap(struct model_table *table, size_t offset, void *wrapper)
{
	void *next = *model_slot(table, offset);

	*model_slot(table, offset) = wrapper;
	return next;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count)
{
	set_api_table *next = (set_api_table *)dlsym(RTLD_NEXT, "rocprofiler_set_api_table");

	if (!tables_seen++)
		atexit(say);
	if (!strcmp(name, "hip") && instance == 0) {
		next_launch_kernel = swap(tables[0], AT_LAUNCH_KERNEL, (void *)see_launch_kernel);
		next_memcpy_async = swap(tables[0], AT_MEMCPY_ASYNC, (void *)see_memcpy_async);
		next_stream_synchronize =
			swap(tables[0], AT_STREAM_SYNCHRONIZE, (void *)see_stream_synchronize);
	}
	if (next && !getenv("SECOND_TOOL_KEEPS"))
		return next(name, version, instance, tables, count);
	return 0;
}

void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority, void *client)
{
	return NULL;
}
