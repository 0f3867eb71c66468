/* Finds the functions of the HIP runtime, and calls it for dagtap itself; see hip_runtime.h. */
#include "capture/hip/hip_runtime.h"

#include "capture/symbol.h"
#include "vendor/hip_types.h"

void *_Atomic hip_nexts[DOOR_COUNT][HIP_FUNCTION_COUNT];

void *hip_resolve_symbol(const char *symbol)
{
	static const char *const sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					      "libamdhip64.so.5", "libamdhip64.so", NULL};

	return symbol_next(symbol, sonames);
}

void *hip_resolve(enum hip_function function)
{
	const struct hip_function_info *info = &hip_functions[function];
	void *found = info->plain ? hip_resolve_symbol(info->plain) : NULL;

	if (!found)
		found = hip_resolve_symbol(info->symbol);
	/* A failure is not remembered, since the library may be loaded later. */
	if (found)
		atomic_store_explicit(&hip_nexts[DOOR_SYMBOL][function], found,
				      memory_order_relaxed);
	return found;
}

void hip_mute(struct frame *frame)
{
	*frame = (struct frame){0};
	frame_push(frame);
}

void hip_unmute(struct frame *frame)
{
	frame_pop(frame);
}

int hip_version(void)
{
	static _Atomic int cached;
	int (*get)(int *) = hip_next(HIP_hipRuntimeGetVersion);
	struct frame frame;
	int version = atomic_load_explicit(&cached, memory_order_relaxed);

	if (version || !get)
		return version;
	hip_mute(&frame);
	if (get(&version) != HIP_OK)
		version = 0;
	hip_unmute(&frame);
	atomic_store_explicit(&cached, version, memory_order_relaxed);
	return version;
}
