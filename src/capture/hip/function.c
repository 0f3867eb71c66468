/* The names of kernels by handle; see function.h. */
#include "capture/hip/function.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/handle_map.h"

struct function {
	/* Of the same fat binary; NULL: the last one, or from hipModuleGetFunction. */
	struct function *next_of_module;
	/* The former entry of the handle; kept, since another thread may be writing its name
	 * into the trace. */
	struct function *replaced;
	uint64_t handle;
	const char *name; /* that of a registered function is borrowed from its module's data */
	/* The value of traces for the trace that has its record; 0: none. */
	_Atomic uint32_t used_in;
};

static struct handle_map functions = HANDLE_MAP_INIT;
/* From the handle of a fat binary to the first of its functions. */
static struct handle_map modules = HANDLE_MAP_INIT;
/* Over modules and next_of_module. */
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

/* Number of the current trace, in this process and its parents together. */
static _Atomic uint32_t traces = 1;

/* Returns NULL when memory is short. NAME is borrowed. */
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

void function_register(uint64_t module, uint64_t handle, const char *name)
{
	struct function *function = add(handle, name);

	if (!function)
		return;
	pthread_mutex_lock(&modules_lock);
	function->next_of_module = (struct function *)handle_map_get(&modules, module);
	/* When memory is short, the functions that were registered before this one are not
	 * forgotten when the module is unloaded. That matters only if their addresses are used
	 * again. */
	handle_map_put(&modules, module, (uintptr_t)function);
	pthread_mutex_unlock(&modules_lock);
}

void function_unregister_module(uint64_t module)
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
