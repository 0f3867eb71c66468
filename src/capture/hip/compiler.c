/* The compiler's entry points, which no header declares. Constructors and destructors of all
 * objects with device code call them, before and after our own. Only the two that tell of
 * kernels are wrapped. */
#include "capture/hip/compiler.h"

#include <stdbool.h>

#include "capture/hip/function.h"
#include "capture/hip/hip_runtime.h"
#include "capture/visible.h"

enum { REGISTER_FUNCTION, UNREGISTER_FAT_BINARY, FUNCTION_COUNT };

typedef void register_function(void **module, const void *stub, char *device_function,
			       const char *device_name, unsigned int thread_limit, void *tid,
			       void *bid, void *block_dim, void *grid_dim, int *warp_size);
typedef void unregister_fat_binary(void **module);

static void *_Atomic nexts[DOOR_COUNT][FUNCTION_COUNT];

/* The thread is in the wrapper of the symbol; the wrapper of the table's slot may be entered
 * next. */
static __thread bool is_under_way __attribute__((tls_model("initial-exec")));

/* Returns the function behind FUNCTION at the entry point DOOR; NULL: none. */
static void *next_at(unsigned int door, unsigned int function)
{
	static const char *const symbols[FUNCTION_COUNT] = {"__hipRegisterFunction",
							    "__hipUnregisterFatBinary"};
	void *next = atomic_load_explicit(&nexts[door][function], memory_order_relaxed);

	if (next || door != DOOR_SYMBOL)
		return next;
	next = hip_resolve_symbol(symbols[function]);
	atomic_store_explicit(&nexts[door][function], next, memory_order_relaxed);
	return next;
}

/* Notes that the thread enters a wrapper at DOOR. Returns false when the symbol's wrapper has
 * already handled this call. */
static bool enter(unsigned int door)
{
	bool came_by = is_under_way;

	is_under_way = door == DOOR_SYMBOL;
	return door == DOOR_SYMBOL || !came_by;
}

#define FUNCTION_PARAMETERS                                                                        \
	void **module, const void *stub, char *device_function, const char *device_name,           \
		unsigned int thread_limit, void *tid, void *bid, void *block_dim, void *grid_dim,  \
		int *warp_size
#define FUNCTION_ARGUMENTS                                                                         \
	module, stub, device_function, device_name, thread_limit, tid, bid, block_dim, grid_dim,   \
		warp_size

/* NOLINTNEXTLINE(readability-function-size): ten parameters are the compiler's own */
static void register_at(unsigned int door, FUNCTION_PARAMETERS)
{
	register_function *next = (register_function *)next_at(door, REGISTER_FUNCTION);
	bool is_first = enter(door);

	if (!next)
		return;
	next(FUNCTION_ARGUMENTS);
	is_under_way = false;
	if (is_first && stub && device_name)
		function_register((uintptr_t)module, (uintptr_t)stub, device_name);
}

static void unregister_at(unsigned int door, void **module)
{
	unregister_fat_binary *next = (unregister_fat_binary *)next_at(door, UNREGISTER_FAT_BINARY);

	/* The call may pass both wrappers; for the second one the module is no longer known. */
	function_unregister_module((uintptr_t)module);
	if (next)
		next(module);
}

CAPTURE_EXPORT register_function __hipRegisterFunction;
CAPTURE_EXPORT void __hipRegisterFunction(FUNCTION_PARAMETERS)
{
	register_at(DOOR_SYMBOL, FUNCTION_ARGUMENTS);
}

CAPTURE_EXPORT unregister_fat_binary __hipUnregisterFatBinary;
CAPTURE_EXPORT void __hipUnregisterFatBinary(void **module)
{
	unregister_at(DOOR_SYMBOL, module);
}

#define OF_TABLE(table)                                                                            \
	static void register_of_table_##table(FUNCTION_PARAMETERS)                                 \
	{                                                                                          \
		register_at(DOOR_TABLE + table, FUNCTION_ARGUMENTS);                               \
	}                                                                                          \
	static void unregister_of_table_##table(void **module)                                     \
	{                                                                                          \
		unregister_at(DOOR_TABLE + table, module);                                         \
	}
OF_TABLE(0)
OF_TABLE(1)
_Static_assert(DOOR_TABLES == 2, "one wrapper a table");

/* The table has nine functions, in alphabetical order. */
static const struct table_slot slots[9] = {
	[3] = {REGISTER_FUNCTION,
	       {(void (*)(void))register_of_table_0, (void (*)(void))register_of_table_1}},
	[8] = {UNREGISTER_FAT_BINARY,
	       {(void (*)(void))unregister_of_table_0, (void (*)(void))unregister_of_table_1}},
};

const struct table_layout hip_compiler_layout = {slots, sizeof(slots) / sizeof(*slots)};

struct table_door hip_compiler_table = {
	.name = "hip.compiler",
	.major_first = HIP_TABLE_MAJOR_FIRST,
	.major_last = HIP_TABLE_MAJOR_LAST,
	.nexts = {nexts[DOOR_TABLE], nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
