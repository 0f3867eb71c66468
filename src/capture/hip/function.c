#include "capture/hip/function.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hip/handle_map.h"
#include "capture/hip/hip.h"
#include "capture/hip/wrap.h"
#include "capture/session.h"

struct function {
	struct function *next_of_module;
	struct function *replaced; /* kept: another thread may be writing its name */
	uint64_t handle;
	const char *name;	  /* a registered one lives in its module's own data */
	_Atomic uint32_t used_in; /* the trace that has its record; see traces */
};

static struct handle_map functions = HANDLE_MAP_INIT;
/* Fat binary handle -> its functions. */
static struct handle_map modules = HANDLE_MAP_INIT;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

/* Counts this process's traces, and those of its parents. */
static _Atomic uint32_t traces = 1;

static struct function *add(uint64_t handle, const char *name)
{
	struct function *function = calloc(1, sizeof(*function));

	if (!function)
		return NULL;
	function->handle = handle;
	function->name = name;
	if (handle_map_put(&functions, handle, (uintptr_t)function)) {
		free(function);
		return NULL;
	}
	return function;
}

void function_learn(uint64_t handle, const char *name)
{
	struct function *known = (struct function *)handle_map_get(&functions, handle);
	struct function *function;
	char *copy;

	if (known && !strcmp(known->name, name))
		return;
	copy = strdup(name);
	function = copy ? add(handle, copy) : NULL;
	if (function)
		function->replaced = known;
	else
		free(copy);
}

void function_use(uint64_t handle)
{
	struct function *function = (struct function *)handle_map_get(&functions, handle);
	uint32_t trace = atomic_load_explicit(&traces, memory_order_relaxed);
	struct record_function record;
	uint32_t bytes;

	if (!function || atomic_load_explicit(&function->used_in, memory_order_relaxed) == trace ||
	    atomic_exchange_explicit(&function->used_in, trace, memory_order_relaxed) == trace)
		return;
	bytes = writer_text_bytes(strlen(function->name));
	record = (struct record_function){.ns = session_now_ns(), .handle = handle};
	writer_put_text(session_writer(), RECORD_FUNCTION, bytes, &record, sizeof(record),
			function->name, bytes);
}

void function_trace_begins(void)
{
	atomic_fetch_add_explicit(&traces, 1, memory_order_relaxed);
}

void function_reset(void)
{
	pthread_mutex_init(&functions.lock, NULL);
	pthread_mutex_init(&modules.lock, NULL);
	pthread_mutex_init(&modules_lock, NULL);
}

static void register_function(uint64_t module, uint64_t handle, const char *name)
{
	struct function *function = add(handle, name);

	if (!function)
		return;
	pthread_mutex_lock(&modules_lock);
	function->next_of_module = (struct function *)handle_map_get(&modules, module);
	/* Out of memory: this module's functions before this one are not taken back later, which
	 * matters only if their addresses are used again. */
	handle_map_put(&modules, module, (uintptr_t)function);
	pthread_mutex_unlock(&modules_lock);
}

static void unregister_functions(uint64_t module)
{
	struct function *function, *next;

	pthread_mutex_lock(&modules_lock);
	function = (struct function *)handle_map_take(&modules, module);
	pthread_mutex_unlock(&modules_lock);
	for (; function; function = next) {
		next = function->next_of_module;
		if (handle_map_get(&functions, function->handle) == (uintptr_t)function)
			handle_map_take(&functions, function->handle);
		free(function);
	}
}

/* The compiler's own entry points, declared in no header. Called by constructors and destructors
 * of whatever contains device code, before and after ours. */
HIP_EXPORT void __hipRegisterFunction(void **module, const void *stub, char *device_function,
				      const char *device_name, unsigned int thread_limit, void *tid,
				      void *bid, void *block_dim, void *grid_dim, int *warp_size);
HIP_EXPORT void __hipRegisterFunction(void **module, const void *stub, char *device_function,
				      const char *device_name, unsigned int thread_limit, void *tid,
				      void *bid, void *block_dim, void *grid_dim, int *warp_size)
{
	static void (*_Atomic cached)(void **, const void *, char *, const char *, unsigned int,
				      void *, void *, void *, void *, int *);
	void (*next)(void **, const void *, char *, const char *, unsigned int, void *, void *,
		     void *, void *, int *) = cached;

	if (!next)
		cached = next = hip_resolve_symbol("__hipRegisterFunction");
	if (!next)
		return;
	next(module, stub, device_function, device_name, thread_limit, tid, bid, block_dim,
	     grid_dim, warp_size);
	if (stub && device_name)
		register_function((uintptr_t)module, (uintptr_t)stub, device_name);
}

HIP_EXPORT void __hipUnregisterFatBinary(void **module);
HIP_EXPORT void __hipUnregisterFatBinary(void **module)
{
	void (*next)(void **) = hip_resolve_symbol("__hipUnregisterFatBinary");

	unregister_functions((uintptr_t)module);
	if (next)
		next(module);
}
