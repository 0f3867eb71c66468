/*
 * Calls the model libraries by their symbols and by what dlsym returns, as its argument says.
 * Prints how often the model functions were reached.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_tables.h"

static const struct grid one = {1, 1, 1};

static void *of_library(const char *soname, const char *symbol)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = library ? dlsym(library, symbol) : NULL;

	if (!found)
		exit(3);
	return found;
}

static void say(void)
{
	printf("launches %x\nmemcpys %x\nsynchronizes %x\noccupancies %x\nevents %x\nbeyond %x\n",
	       model_counts.launch_kernel, model_counts.memcpy_async,
	       model_counts.stream_synchronize, model_counts.occupancy, model_counts.event_record,
	       model_counts.beyond);
}

/* 5 copies, 3 launches, 2 synchronizations, 1 query. */
static int by_symbols(void)
{
	size_t bytes = 0;
	int error = 0;

	for (int i = 0; i < 5; i++)
		error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	for (int i = 0; i < 3; i++)
		error |= hipLaunchKernel(NULL, one, one, NULL, 0, NULL);
	for (int i = 0; i < 2; i++)
		error |= hipStreamSynchronize(NULL);
	error |= hipOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 1, 64);
	return error || bytes != 4096;
}

/*
 * Calls the library's own functions, not those that replace their symbols: 7 copies, 4
 * synchronizations.
 */
static int by_pointers(void)
{
	memcpy_async *copy = of_library("libamdhip64.so.7", "hipMemcpyAsync");
	stream_synchronize *synchronize = of_library("libamdhip64.so.7", "hipStreamSynchronize");
	int error = 0;

	for (int i = 0; i < 7; i++)
		error |= copy(NULL, NULL, 64, 1, NULL);
	for (int i = 0; i < 4; i++)
		error |= synchronize(NULL);
	return error;
}

/*
 * Calls a second runtime in the process by its dispatch table: 6 copies and 2 events. A third
 * runtime is one too many.
 */
static int second_instance(void)
{
	static struct model_table third;
	struct model_table *table;
	void *tables[] = {&third};
	int error = by_symbols();

	table = model_second_table();
	third = *table;
	*model_slot(&third, AT_EVENT_RECORD) = *model_slot(model_first_table(), AT_OCCUPANCY);
	error |= model_hand_over("hip", 70200, 2, tables, 1);
	error |= *model_slot(&third, AT_EVENT_RECORD) !=
		 *model_slot(model_first_table(), AT_OCCUPANCY);
	for (int i = 0; i < 6; i++)
		error |= ((memcpy_async *)*model_slot(table, AT_MEMCPY_ASYNC))(NULL, NULL, 64, 1,
									       NULL);
	for (int i = 0; i < 2; i++)
		error |= ((event_record *)*model_slot(table, AT_EVENT_RECORD))(NULL, NULL);
	printf("second_instance_memcpys %x\n", model_second_memcpys);
	return error;
}

/* A second runtime launches 3 kernels into a stream that it captures, and 2 into it afterwards. */
static int second_captures(void)
{
	int error = hipStreamSynchronize(NULL), stream;
	struct model_table *table = model_second_table();
	launch_kernel *launch = (launch_kernel *)*model_slot(table, AT_LAUNCH_KERNEL);
	void *graph = NULL;

	error |= ((begin_capture *)*model_slot(table, AT_BEGIN_CAPTURE))(&stream, 0);
	for (int i = 0; i < 3; i++)
		error |= launch(NULL, one, one, NULL, 0, &stream);
	error |= ((end_capture *)*model_slot(table, AT_END_CAPTURE))(&stream, &graph);
	for (int i = 0; i < 2; i++)
		error |= launch(NULL, one, one, NULL, 0, &stream);
	return error;
}

static int longer_table(void)
{
	setenv("MODEL_TABLE_BYTES", "4064", 1);
	return by_symbols() |
	       (((int (*)(void)) * model_slot(model_first_table(), HIP_TABLE_BYTES))() != 77);
}

/* Names that a later release may have. */
static int unknown_names(void)
{
	static size_t made_up[4] = {sizeof(made_up)};
	void *tables[] = {made_up};

	return by_symbols() | model_hand_over("rocsomething", 10000, 0, tables, 1) |
	       (made_up[1] != 0);
}

static int ranks(void)
{
	struct {
		int rank;
	} comms[2] = {{0}, {1}};
	int error = ncclGroupStart();

	for (int i = 0; i < 3; i++) {
		error |= ncclAllReduce(NULL, NULL, 1000, 7, 0, &comms[0], (void *)0x5000);
		error |= ncclAllReduce(NULL, NULL, 1000, 7, 0, &comms[1], (void *)0x6000);
	}
	error |= strcmp(ncclGetErrorString(3), "error 3 of the model") != 0;
	error |= ncclCommDestroy(&comms[1]);
	comms[1].rank = 3;
	error |= ((__typeof__(ncclAllReduce) *)of_library("librccl.so.1", "ncclAllReduce"))(
		NULL, NULL, 8, 0, 2, &comms[1], (void *)0x6000);
	printf("rank_questions %x\ncomm %lx\nother %lx\n", model_rank_questions(),
	       (unsigned long)&comms[0], (unsigned long)&comms[1]);
	return error;
}

/* A mark, a range by symbols, and a range by pointers, around copies. */
static int ranges(void)
{
	const char *roctx = "librocprofiler-sdk-roctx.so.1";
	__typeof__(roctxRangePushA) *push = of_library(roctx, "roctxRangePushA");
	__typeof__(roctxRangePop) *pop = of_library(roctx, "roctxRangePop");
	int error = hipMemcpyAsync(NULL, NULL, 64, 1, NULL);

	roctxMarkA("a mark");
	error |= roctxRangePushA("by symbols") != 0;
	error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	error |= push("by pointers") != 1;
	error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	error |= pop() != 1;
	error |= roctxRangePop() != 0;
	return error | (model_marks != 1) | (model_pushes != 2) | (model_pops != 2);
}

/* With DAGTAP_WAIT: copies before, in and after a capture range, which begins by symbol and ends by
 * pointer. Pausing one thread changes nothing. */
static int control(void)
{
	__typeof__(roctxProfilerPause) *pause =
		of_library("librocprofiler-sdk-roctx.so.1", "roctxProfilerPause");
	int error = hipMemcpyAsync(NULL, NULL, 64, 1, NULL);

	error |= roctxProfilerResume(0) != 1;
	error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	error |= roctxProfilerPause(7) != 1;
	error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	error |= pause(0) != 2;
	for (int i = 0; i < 5; i++)
		error |= hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	return error | (model_pauses != 2) | (model_resumes != 1);
}

/* Each function of roctx by its symbol, and one by pointer. */
static int all_of_roctx(void)
{
	const char *roctx = "librocprofiler-sdk-roctx.so.1";
	int error = hipMemcpyAsync(NULL, NULL, 64, 1, NULL);
	uint64_t tid = 0;

	roctxMarkA("a mark");
	error |= roctxRangePushA("a range") != 0;
	error |= roctxRangePop() != 0;
	error |= roctxRangeStartA("another range") != 100;
	roctxRangeStop(100);
	error |= roctxGetThreadId(&tid) | (tid != 77);
	error |= roctxProfilerPause(9) != 1;
	error |= roctxProfilerResume(9) != 1;
	error |= roctxNameOsThread("a thread") != 1;
	error |= roctxNameHsaAgent("an agent", (void *)0xa0) != 2;
	error |= roctxNameHipDevice("a device", 3) != 3;
	error |= roctxNameHipStream("a stream", (void *)0x50) != 4;
	error |= ((__typeof__(roctxNameOsThread) *)of_library(roctx, "roctxNameOsThread"))(
			 "by pointer") != 5;
	return error | (model_names != 5);
}

static void register_kernel(register_function *by, uintptr_t stub, const char *name)
{
	by((void **)0x10, (const void *)stub, NULL, name, 0, NULL, NULL, NULL, NULL, NULL);
}

/*
 * Kernels that were registered by symbol or by pointer have their names when they are
 * launched.
 */
static int kernels(void)
{
	int error = 0;

	register_kernel(__hipRegisterFunction, 0x100, "by symbol");
	register_kernel(of_library("libamdhip64.so.7", "__hipRegisterFunction"), 0x200,
			"by pointer");
	for (int i = 0; i < 2; i++) {
		error |= hipLaunchKernel((const void *)0x100, one, one, NULL, 0, NULL);
		error |= hipLaunchKernel((const void *)0x200, one, one, NULL, 0, NULL);
	}
	__hipUnregisterFatBinary((void **)0x10);
	return error | (model_counts.registered != 2) | (model_counts.unregistered != 1);
}

static int scene(const char *name)
{
	if (!strcmp(name, "both-ways"))
		return by_symbols() | by_pointers();
	if (!strcmp(name, "silent"))
		return setenv("MODEL_SILENT", "1", 1) | by_symbols() | by_pointers();
	if (!strcmp(name, "shorter")) /* up to, but without, hipStreamSynchronize */
		return setenv("MODEL_TABLE_BYTES", "2776", 1) | by_symbols() | by_pointers();
	if (!strcmp(name, "longer"))
		return longer_table();
	if (!strcmp(name, "other-major"))
		return setenv("MODEL_VERSION", "80000", 1) | by_symbols() | by_pointers();
	if (!strcmp(name, "no-table"))
		return setenv("MODEL_TABLE_BYTES", "7", 1) | by_symbols() | by_pointers();
	if (!strcmp(name, "keeps"))
		return setenv("SECOND_TOOL_KEEPS", "1", 1) | by_symbols();
	if (!strcmp(name, "again")) {
		model_hand_over_again();
		return by_symbols() | by_pointers();
	}
	if (!strcmp(name, "second-captures"))
		return second_captures();
	if (!strcmp(name, "second-instance"))
		return second_instance();
	if (!strcmp(name, "unknown-names"))
		return unknown_names();
	if (!strcmp(name, "kernels"))
		return kernels();
	if (!strcmp(name, "roctx"))
		return ranges();
	if (!strcmp(name, "all-of-roctx"))
		return all_of_roctx();
	if (!strcmp(name, "control"))
		return control();
	return strcmp(name, "rccl") ? 2 : ranks();
}

int main(int argc, char **argv)
{
	int result = argc == 2 ? scene(argv[1]) : 2;

	say();
	return result;
}
