/*
 * Measures what a wrapper adds to a call: hipGetDevice through the injected library while it
 * records, next to the runtime's own function; first with all calls recorded, then by default,
 * where this call passes without a record, and last hipStreamSynchronize in a process that is
 * dormant. The runtime is the system's libamdhip64 on the software
 * GPU. The spool is read afterwards, because a call whose record was dropped costs less.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/inject.h"
#include "bench.h"
#include "own_tool.h"

#define BATCHES	    101
#define BATCH_CALLS 2000
#define PAUSE_US    2000 /* time for the housekeeping thread to prepare chunks */

typedef int (*get_device_function)(int *ret_device);
typedef int (*synchronize_function)(void *stream);

struct hip_call_bench {
	char folder[64];
	const struct inject_table *tool;
	get_device_function wrapped, bare;
	synchronize_function wrapped_sync, bare_sync; /* recorded by default */
};

/*
 * The order matters: the software GPU must be loaded before HIP asks for its library by name, and
 * the folder must exist before the tool is loaded.
 */
static int open_libraries(struct hip_call_bench *b)
{
	void *injected, *hip;

	if (!mkdtemp(b->folder) || setenv("DAGTAP_SPOOL", b->folder, 1))
		return -errno;
	if (!tool_open_built("dagtap/softgpu/libhsa-runtime64.so.1"))
		return -ENOENT;
	injected = tool_open_built("dagtap/libdagtap-inject.so");
	hip = dlopen("libamdhip64.so.5", RTLD_NOW);
	if (!injected || !hip)
		return -ENOENT;
	b->tool = dlsym(injected, INJECT_SYMBOL);
	b->wrapped = (get_device_function)dlsym(injected, "hipGetDevice");
	b->bare = (get_device_function)dlsym(hip, "hipGetDevice");
	b->wrapped_sync = (synchronize_function)dlsym(injected, "hipStreamSynchronize");
	b->bare_sync = (synchronize_function)dlsym(hip, "hipStreamSynchronize");
	return b->tool && b->wrapped && b->bare && b->wrapped_sync && b->bare_sync ? 0 : -ENOENT;
}

static double time_calls(get_device_function get)
{
	uint64_t since = clock_now_ns();
	int device;

	for (int i = 0; i < BATCH_CALLS; i++)
		get(&device);
	return (double)(clock_now_ns() - since) / BATCH_CALLS;
}

static double time_syncs(synchronize_function synchronize)
{
	uint64_t since = clock_now_ns();

	for (int i = 0; i < BATCH_CALLS; i++)
		synchronize(NULL);
	return (double)(clock_now_ns() - since) / BATCH_CALLS;
}

static double time_clock(void)
{
	uint64_t since = clock_now_ns();

	for (int i = 0; i < BATCH_CALLS; i++)
		clock_now_ns();
	return (double)(clock_now_ns() - since) / BATCH_CALLS;
}

static double time_over(const double bare[BATCHES], const double passed[BATCHES])
{
	double over[BATCHES];

	for (int i = 0; i < BATCHES; i++)
		over[i] = passed[i] - bare[i];
	return bench_median(over, BATCHES);
}

/* The second session, of the calls that are recorded by default. Returns what it adds to one that
 * is not. */
static int time_passed(const struct hip_call_bench *b, double *ret_ns)
{
	double passed[BATCHES], bare[BATCHES];

	b->tool->stop();
	if (setenv("DAGTAP_CALLS", "selected", 1) || b->tool->start() < 0)
		return -EIO;
	for (int i = 0; i < BATCHES; i++) {
		passed[i] = time_calls(b->wrapped);
		bare[i] = time_calls(b->bare);
	}
	*ret_ns = time_over(bare, passed);
	return 0;
}

/* No recording is on any more, and the program may start the next one: the state of a dormant
 * process (capture_switch.h). Returns what the wrapper adds to a call then. */
static double time_dormant(const struct hip_call_bench *b, double *ret_bare_ns)
{
	double dormant[BATCHES], bare[BATCHES], over_ns;

	b->tool->stop();
	for (int i = 0; i < BATCHES; i++) {
		dormant[i] = time_syncs(b->wrapped_sync);
		bare[i] = time_syncs(b->bare_sync);
	}
	over_ns = time_over(bare, dormant);
	*ret_bare_ns = bench_median(bare, BATCHES);
	return over_ns;
}

static int run(struct bench_result *ret_result)
{
	struct hip_call_bench b = {.folder = "/tmp/dagtap-bench-XXXXXX"};
	double wrapped[BATCHES], bare[BATCHES], clock[BATCHES], calls, bare_ns,
		passed_ns = 0, dormant_ns = 0, sync_ns = 0;
	int device, err = open_libraries(&b);

	/* After the library was loaded, which keeps what is set then. */
	setenv("DAGTAP_CALLS", "all", 1);
	if (!err && b.wrapped(&device))
		err = -ENODEV;
	for (int i = 0; !err && i < BATCHES; i++) {
		wrapped[i] = time_calls(b.wrapped);
		bare[i] = time_calls(b.bare);
		clock[i] = time_clock();
		usleep(PAUSE_US);
	}
	if (!err)
		err = time_passed(&b, &passed_ns);
	if (!err)
		dormant_ns = time_dormant(&b, &sync_ns);
	if (b.tool)
		b.tool->stop();
	calls = (double)tool_take_spools(b.folder, RECORD_CLASS_API);
	rmdir(b.folder);
	if (err)
		return err;
	bare_ns = bench_median(bare, BATCHES);
	bench_add(ret_result, "wrapped", "ns", bench_median(wrapped, BATCHES),
		  "hipGetDevice, recorded");
	bench_add(ret_result, "bare", "ns", bare_ns, "hipGetDevice alone");
	bench_add(ret_result, "over", "ns", bench_median(wrapped, BATCHES) - bare_ns,
		  "what recording adds; two clock reads of it");
	bench_add(ret_result, "passed", "ns", passed_ns,
		  "what the wrapper adds to it by default, without a record");
	bench_add(ret_result, "dormant", "ns", dormant_ns,
		  "what the wrapper adds to hipStreamSynchronize while the process is dormant");
	bench_add(ret_result, "idle-sync", "ns", sync_ns,
		  "hipStreamSynchronize alone, without work");
	bench_add(ret_result, "clock", "ns", bench_median(clock, BATCHES), "a clock read alone");
	bench_add(ret_result, "recorded", "pct", 100 * calls / (1 + BATCHES * BATCH_CALLS),
		  "of the wrapped calls");
	return 0;
}

const struct bench bench_hip_call = {
	.name = "hip-call",
	.help = "a HIP call, recorded or passed on, against a bare one",
	.run = run,
};
