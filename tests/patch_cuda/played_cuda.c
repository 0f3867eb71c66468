/* The played driver except for graphs, which are in played_graphs.c. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "played_cuda.h"

#define DRIVER_VERSION 13000

enum { DEVICES = 2, DEEPEST = 4 };
_Static_assert((int)DEVICES <= (int)DAGPATCH_MODEL_DEVICES, "contexts are the model's devices");

static int contexts[DEVICES];
static _Thread_local cuda_context stack[DEEPEST]; /* of contexts; a thread has none at first */
static _Thread_local uint32_t depth;

int played_result(int rc)
{
	switch (rc) {
	case 0:
		return CUDA_OK;
	case -ENOMEM:
		return CUDA_OUT_OF_MEMORY;
	case -ENOTSUP:
		return CUDA_NOT_SUPPORTED;
	case -EXDEV:
		return CUDA_INVALID_CONTEXT;
	default:
		return CUDA_INVALID_VALUE;
	}
}

/* All stream handles that mean a default stream are one stream here. */
struct dagpatch_model_stream *played_stream(cuda_stream stream)
{
	return (uintptr_t)stream > CUDA_STREAM_PER_THREAD ? (struct dagpatch_model_stream *)stream
							  : NULL;
}

static struct dagpatch_model_event *event_of(cuda_event event)
{
	return (struct dagpatch_model_event *)event;
}

int cuInit(unsigned int flags)
{
	return CUDA_OK;
}

int cuDriverGetVersion(int *version)
{
	*version = DRIVER_VERSION;
	return CUDA_OK;
}

int cuGetErrorName(int error, const char **name)
{
	*name = "CUDA_ERROR_PLAYED";
	return CUDA_OK;
}

int cuDeviceGetCount(int *count)
{
	*count = DEVICES;
	return CUDA_OK;
}

int cuDeviceGet(cuda_device *device, int ordinal)
{
	if (ordinal < 0 || ordinal >= DEVICES)
		return CUDA_INVALID_VALUE;
	*device = ordinal;
	return CUDA_OK;
}

/* ---- contexts ---- */

bool played_is_current(cuda_exec exec)
{
	return depth > 0 &&
	       (!exec || ((struct dagpatch_model_exec *)exec)->device == dagpatch_model_device());
}

static cuda_context context_of(uint32_t device)
{
	return (cuda_context)&contexts[device];
}

int cuDevicePrimaryCtxRetain(cuda_context *ret_context, cuda_device device)
{
	*ret_context = context_of((uint32_t)device);
	return CUDA_OK;
}

int cuDevicePrimaryCtxGetState(cuda_device device, unsigned int *flags, int *is_active)
{
	*flags = 0;
	*is_active = 1;
	return CUDA_OK;
}

int cuDevicePrimaryCtxRelease_v2(cuda_device device)
{
	return CUDA_OK;
}

int cuCtxGetCurrent(cuda_context *ret_context)
{
	*ret_context = depth > 0 ? stack[depth - 1] : NULL;
	return CUDA_OK;
}

/* NULL pops the top context, others replace it. */
int cuCtxSetCurrent(cuda_context context)
{
	if (!context)
		depth -= depth > 0;
	else if (depth == 0)
		stack[depth++] = context;
	else
		stack[depth - 1] = context;
	for (uint32_t i = 0; i < DEVICES; i++)
		if (depth > 0 && stack[depth - 1] == context_of(i))
			dagpatch_model_device_set(i);
	return CUDA_OK;
}

int cuCtxGetDevice(cuda_device *device)
{
	if (depth == 0)
		return CUDA_INVALID_CONTEXT;
	*device = (cuda_device)dagpatch_model_device();
	return CUDA_OK;
}

/* ---- memory ---- */

static int allocate(void **ret_address, size_t bytes)
{
	int result = played_may_disturb();

	if (result != CUDA_OK)
		return result;
	if (depth == 0)
		return CUDA_INVALID_CONTEXT;
	*ret_address = dagpatch_model_alloc(bytes);
	return *ret_address ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

/* What cuMemAlloc_v2 has given, in a list. */
static struct allocation {
	struct allocation *next;
	cuda_address start;
	size_t bytes;
	unsigned long long id; /* no other one has it, also not after this one is freed */
} * allocations;
static pthread_mutex_t allocations_lock = PTHREAD_MUTEX_INITIALIZER;

int cuMemAlloc_v2(cuda_address *address, size_t bytes)
{
	static unsigned long long last;
	struct allocation *made = malloc(sizeof(*made));
	int result = made ? allocate((void **)address, bytes) : CUDA_OUT_OF_MEMORY;

	if (result != CUDA_OK) {
		free(made);
		return result;
	}
	pthread_mutex_lock(&allocations_lock);
	*made = (struct allocation){allocations, *address, bytes, ++last};
	allocations = made;
	pthread_mutex_unlock(&allocations_lock);
	return CUDA_OK;
}

static void forget_allocation(cuda_address address)
{
	struct allocation **at = &allocations, *gone;

	pthread_mutex_lock(&allocations_lock);
	while (*at && (*at)->start != address)
		at = &(*at)->next;
	gone = *at;
	if (gone)
		*at = gone->next;
	pthread_mutex_unlock(&allocations_lock);
	free(gone);
}

int cuMemFree_v2(cuda_address address)
{
	int result = played_may_disturb();

	if (result != CUDA_OK)
		return result;
	forget_allocation(address);
	dagpatch_model_free((void *)address);
	return CUDA_OK;
}

/* The attributes of an allocation that the preload library asks: its number, start and size, and
 * that it is of no pool. */
int cuPointerGetAttribute(void *value, int attribute, cuda_address address)
{
	const struct allocation *at;
	uint64_t answer = 0;
	bool is_found;

	played_note_spent("cuPointerGetAttribute");
	pthread_mutex_lock(&allocations_lock);
	at = allocations;
	while (at && address - at->start >= at->bytes)
		at = at->next;
	is_found = at && (attribute == 17 || attribute == 7 || attribute == 11 || attribute == 12);
	if (is_found)
		answer = attribute == 7	   ? at->id
			 : attribute == 11 ? at->start
			 : attribute == 12 ? at->bytes
					   : 0;
	pthread_mutex_unlock(&allocations_lock);
	if (!is_found)
		return CUDA_INVALID_VALUE;
	memcpy(value, &answer, sizeof(answer));
	return CUDA_OK;
}

cuda_address played_last_allocation(void)
{
	cuda_address last;

	pthread_mutex_lock(&allocations_lock);
	last = allocations ? allocations->start : 0;
	pthread_mutex_unlock(&allocations_lock);
	return last;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	return allocate(address, bytes);
}

int cuMemFreeHost(void *address)
{
	int result = played_may_disturb();

	if (result == CUDA_OK)
		dagpatch_model_free(address);
	return result;
}

int cuMemcpyAsync(cuda_address dst, cuda_address src, size_t bytes, cuda_stream stream)
{
	struct dagpatch_model_copy copy = {
		.dst = (void *)dst,
		.src = (void *)src,
		.width_bytes = bytes,
		.height = 1,
		.depth = 1,
	};

	return played_result(dagpatch_model_copy_async(played_stream(stream), &copy));
}

int cuMemcpy3DAsync_v2(const struct cuda_memcpy3d *params, cuda_stream stream)
{
	struct dagpatch_model_copy copy = {
		.dst = (void *)params->dstDevice,
		.src = (void *)params->srcDevice,
		.dst_pitch = params->dstPitch,
		.dst_rows = params->dstHeight,
		.src_pitch = params->srcPitch,
		.src_rows = params->srcHeight,
		.width_bytes = params->WidthInBytes,
		.height = params->Height,
		.depth = params->Depth,
	};

	if (params->srcHeight < params->Height || params->dstHeight < params->Height)
		return CUDA_INVALID_VALUE;
	return played_result(dagpatch_model_copy_async(played_stream(stream), &copy));
}

static int set_memory(cuda_address dst, uint32_t value, uint32_t element_bytes, size_t count,
		      cuda_stream stream)
{
	return played_result(dagpatch_model_memset_async(played_stream(stream), (void *)dst, value,
							 element_bytes, count));
}

int cuMemsetD8Async(cuda_address dst, unsigned char value, size_t bytes, cuda_stream stream)
{
	return set_memory(dst, value, 1, bytes, stream);
}

int cuMemsetD16Async(cuda_address dst, unsigned short value, size_t count, cuda_stream stream)
{
	return set_memory(dst, value, 2, count, stream);
}

int cuMemsetD32Async(cuda_address dst, unsigned int value, size_t count, cuda_stream stream)
{
	return set_memory(dst, value, 4, count, stream);
}

/* ---- streams and events ---- */

int cuStreamCreate(cuda_stream *stream, unsigned int flags)
{
	if (depth == 0)
		return CUDA_INVALID_CONTEXT;
	return played_result(dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED,
							  (struct dagpatch_model_stream **)stream));
}

int cuStreamDestroy_v2(cuda_stream stream)
{
	dagpatch_model_stream_destroy(played_stream(stream));
	return CUDA_OK;
}

int cuStreamSynchronize(cuda_stream stream)
{
	int result = played_may_disturb();

	return result != CUDA_OK
		       ? result
		       : played_result(dagpatch_model_stream_synchronize(played_stream(stream)));
}

int cuStreamGetCtx(cuda_stream stream, cuda_context *ret_context)
{
	int device;

	model_stream_device(NULL, (struct driver_stream *)stream, &device);
	*ret_context = context_of((uint32_t)device);
	return CUDA_OK;
}

int cuStreamGetId(cuda_stream stream, unsigned long long *id)
{
	*id = (uintptr_t)stream;
	return CUDA_OK;
}

/* Called only to learn whether the device has failed. */
int cuStreamQuery(cuda_stream stream)
{
	int result = played_may_disturb();

	return result != CUDA_OK ? result : CUDA_NOT_READY;
}

int cuLaunchHostFunc(cuda_stream stream, cuda_host_function *function, void *data)
{
	return played_result(dagpatch_model_host_async(played_stream(stream), function, data));
}

int cuEventCreate(cuda_event *event, unsigned int flags)
{
	if (depth == 0)
		return CUDA_INVALID_CONTEXT;
	return played_result(dagpatch_model_event_create((struct dagpatch_model_event **)event));
}

int cuEventDestroy_v2(cuda_event event)
{
	dagpatch_model_event_destroy(event_of(event));
	return CUDA_OK;
}

int cuEventRecord(cuda_event event, cuda_stream stream)
{
	return played_result(
		dagpatch_model_event_record(played_stream(stream), event_of(event), 0));
}

int cuStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned int flags)
{
	return played_result(dagpatch_model_event_wait(played_stream(stream), event_of(event), 0));
}

int cuEventQuery(cuda_event event)
{
	int result = played_may_disturb();

	if (result != CUDA_OK)
		return result;
	return model_event_is_done(event_of(event)) ? CUDA_OK : CUDA_NOT_READY;
}

int cuEventSynchronize(cuda_event event)
{
	int result = played_may_disturb();

	if (result == CUDA_OK)
		model_event_await(event_of(event));
	return result;
}

int cuCtxSynchronize(void)
{
	int result = played_may_disturb();

	if (result == CUDA_OK)
		model_streams_drain();
	return result;
}

/* ---- kernels ---- */

int cuModuleGetFunction(cuda_function *function, void *module, const char *name)
{
	*function = (cuda_function)played_kernel(name);
	return *function ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuLibraryLoadData(cuda_library *library, const void *code, void *jit_options, void **jit_values,
		      unsigned int jit_count, void *options, void **values, unsigned int count)
{
	*library = (cuda_library)&contexts[0];
	return CUDA_OK;
}

int cuLibraryUnload(cuda_library library)
{
	return CUDA_OK;
}

int cuLibraryGetKernel(cuda_kernel *kernel, cuda_library library, const char *name)
{
	*kernel = (cuda_kernel)played_kernel(name);
	return *kernel ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuKernelGetFunction(cuda_function *function, cuda_kernel kernel)
{
	if (depth == 0)
		return CUDA_INVALID_CONTEXT;
	*function = (cuda_function)kernel;
	return CUDA_OK;
}

int cuFuncGetName(const char **name, cuda_function function)
{
	*name = ((struct dagpatch_model_kernel *)function)->name;
	return *name ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuKernelGetName(const char **name, cuda_kernel kernel)
{
	return cuFuncGetName(name, (cuda_function)kernel);
}

int cuFuncGetParamInfo(cuda_function function, size_t index, size_t *offset, size_t *bytes)
{
	const struct dagpatch_model_kernel *kernel = (struct dagpatch_model_kernel *)function;

	if (index >= kernel->count)
		return CUDA_INVALID_VALUE;
	*offset = kernel->parameters[index].offset;
	*bytes = kernel->parameters[index].bytes;
	return CUDA_OK;
}

int cuLaunchKernel(cuda_function function, unsigned int gx, unsigned int gy, unsigned int gz,
		   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		   cuda_stream stream, void **parameters, void **extra)
{
	struct dagpatch_model_kernel *kernel = (struct dagpatch_model_kernel *)function;
	uint32_t grid[] = {gx, gy, gz};
	uint32_t block[] = {bx, by, bz};
	int rc = parameters
			 ? dagpatch_model_launch(played_stream(stream), kernel, grid, block,
						 parameters)
			 : dagpatch_model_launch_block(played_stream(stream), kernel, grid, block,
						       extra[1], (uint32_t) * (size_t *)extra[3]);

	return played_result(rc);
}

/* ---- finding functions ---- */

#define PLAYED_ROW(name, parameters) {#name, (void *)(name)},

static const struct {
	const char *name;
	void *function;
} functions[] = {CUDA_FUNCTIONS(PLAYED_ROW) BED_CUDA_FUNCTIONS(PLAYED_ROW)};

/*
 * Returns the newest version of a function that CUDA 13.0 has, and one that is newer for a program
 * that is built with a later CUDA.
 */
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
			int *ret_found)
{
	static const char *const newest[] = {"%s_v3", "%s_v2", "%sWithFlags", "%s"};
	char symbol[128];

	*function = played_newer(name, version);
	if (*function)
		return CUDA_OK;
	for (size_t i = 0; i < sizeof(newest) / sizeof(*newest); i++)
		for (size_t j = 0; j < sizeof(functions) / sizeof(*functions); j++) {
			snprintf(symbol, sizeof(symbol), newest[i], name);
			if (strcmp(functions[j].name, symbol) != 0)
				continue;
			*function = functions[j].function;
			return CUDA_OK;
		}
	*function = NULL;
	return CUDA_INVALID_VALUE;
}
