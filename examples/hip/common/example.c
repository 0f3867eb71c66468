/*
 * Compiles kernels with hiprtc and registers them with HIP as hipcc's start-up code does:
 * example.h.
 */
#include "example.h"

#include <errno.h>
#include <hip/hiprtc.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLE_MAGIC   "__CLANG_OFFLOAD_BUNDLE__"
#define BUNDLE_HOST    "host-x86_64-unknown-linux--"
#define BUNDLE_DEVICE  "hipv4-amdgcn-amd-amdhsa--"
#define BUNDLE_ALIGN   4096
#define FATBIN_MAGIC   0x48495046u /* "HIPF" */
#define FATBIN_VERSION 1

/* The struct that clang's CodeGenCUDA emits for every HIP object. */
struct fatbin_wrapper {
	uint32_t magic;
	uint32_t version;
	const void *bundle;
	const void *unused;
};

/* libamdhip64 exports these for hipcc's start-up code; no header declares them. */
void **__hipRegisterFatBinary(const void *wrapper);
void __hipRegisterFunction(void **modules, const void *host_stub, char *host_name,
			   const char *device_name, unsigned thread_limit, void *thread_id,
			   void *block_id, void *block_dim, void *grid_dim, int *warp_size);

static atomic_uint_fast64_t kernels_launched;

void example_fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void example_check(hipError_t error, const char *call, const char *file, int line)
{
	if (error != hipSuccess)
		example_fail("%s:%d: %s: %s", file, line, call, hipGetErrorString(error));
}

unsigned example_argument(int argc, char **argv, int index, unsigned fallback)
{
	unsigned long value;
	char *end;

	if (index >= argc)
		return fallback;
	errno = 0;
	value = strtoul(argv[index], &end, 10);
	if (errno || *end || end == argv[index] || value == 0 || value > 1u << 30)
		example_fail("'%s' is not a number from 1 to %u", argv[index], 1u << 30);
	return (unsigned)value;
}

static void check_rtc(hiprtcResult result, const char *what)
{
	if (result != HIPRTC_SUCCESS)
		example_fail("hiprtc: %s: %s", what, hiprtcGetErrorString(result));
}

static void device_architecture(char *ret_name, size_t size)
{
	hipDeviceProp_t properties;
	int device;

	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipGetDeviceProperties(&properties, device));
	snprintf(ret_name, size, "%s", properties.gcnArchName);
}

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		example_fail("out of memory");
	return memory;
}

void example_compile(const char *source, struct example_code *ret_code)
{
	char architecture[256], option[300], log[4096] = "";
	const char *options[] = {option};
	hiprtcProgram program;
	hiprtcResult result;
	size_t log_size = 0;

	device_architecture(architecture, sizeof(architecture));
	snprintf(option, sizeof(option), "--gpu-architecture=%s", architecture);
	check_rtc(hiprtcCreateProgram(&program, source, "example.hip", 0, NULL, NULL), "create");
	result = hiprtcCompileProgram(program, 1, options);
	if (result != HIPRTC_SUCCESS && !hiprtcGetProgramLogSize(program, &log_size) &&
	    log_size < sizeof(log))
		hiprtcGetProgramLog(program, log);
	if (result != HIPRTC_SUCCESS)
		example_fail("hiprtc for %s: %s\n%s", architecture, hiprtcGetErrorString(result),
			     log);
	check_rtc(hiprtcGetCodeSize(program, &ret_code->size), "code size");
	ret_code->bytes = allocate(ret_code->size);
	check_rtc(hiprtcGetCode(program, ret_code->bytes), "code");
	check_rtc(hiprtcDestroyProgram(&program), "destroy");
}

static char *bundle_entry(char *cursor, uint64_t offset, uint64_t size, const char *id)
{
	uint64_t fields[3] = {offset, size, strlen(id)};

	memcpy(cursor, fields, sizeof(fields));
	memcpy(cursor + sizeof(fields), id, strlen(id));
	return cursor + sizeof(fields) + strlen(id);
}

/*
 * Builds a bundle in clang-offload-bundler's format: magic, count, {offset, size, id} for each
 * entry, then the objects. The first entry is the host's and is empty. HIP keeps pointers into the
 * bundle, so it is never freed.
 */
static const void *bundle_create(const struct example_code *code)
{
	char *bundle = allocate(BUNDLE_ALIGN + code->size);
	char *cursor = bundle + strlen(BUNDLE_MAGIC);
	char architecture[256], id[300];
	uint64_t entries = 2;

	device_architecture(architecture, sizeof(architecture));
	snprintf(id, sizeof(id), BUNDLE_DEVICE "%s", architecture);
	memcpy(bundle, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC));
	memcpy(cursor, &entries, sizeof(entries));
	cursor = bundle_entry(cursor + sizeof(entries), BUNDLE_ALIGN, 0, BUNDLE_HOST);
	bundle_entry(cursor, BUNDLE_ALIGN, code->size, id);
	memcpy(bundle + BUNDLE_ALIGN, code->bytes, code->size);
	return bundle;
}

void example_register(const char *source, const struct example_kernel *kernels, size_t count)
{
	static struct fatbin_wrapper wrapper = {.magic = FATBIN_MAGIC, .version = FATBIN_VERSION};
	struct example_code code;
	void **modules;

	example_compile(source, &code);
	wrapper.bundle = bundle_create(&code);
	free(code.bytes);
	modules = __hipRegisterFatBinary(&wrapper);
	for (size_t i = 0; i < count; i++)
		__hipRegisterFunction(modules, &kernels[i], (char *)kernels[i].name,
				      kernels[i].name, ~0u, NULL, NULL, NULL, NULL, NULL);
}

void example_capture(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		     void **arguments, hipStream_t stream)
{
	dim3 grid = {blocks, 1, 1};
	dim3 block = {threads, 1, 1};

	HIP_CHECK(hipLaunchKernel(kernel, grid, block, arguments, 0, stream));
}

void example_launch(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		    void **arguments, hipStream_t stream)
{
	example_capture(kernel, blocks, threads, arguments, stream);
	example_count_kernels(1);
}

void example_count_kernels(uint64_t count)
{
	atomic_fetch_add_explicit(&kernels_launched, count, memory_order_relaxed);
}

void example_expect(const uint32_t *got, const uint32_t *want, size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++)
		if (got[i] != want[i])
			example_fail("%s: element %zu is %" PRIu32 ", not %" PRIu32, what, i,
				     got[i], want[i]);
}

int example_finish(void)
{
	printf("kernels launched: %" PRIu64 "\n", (uint64_t)atomic_load(&kernels_launched));
	return EXIT_SUCCESS;
}
