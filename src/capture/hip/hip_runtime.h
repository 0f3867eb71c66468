/* The HIP runtime behind the wrappers: the addresses of its functions, and calls of them that
 * dagtap itself makes. All other files of this folder build on this one.
 *
 * Threading: any thread, also before our constructor has run and after our destructor. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_RUNTIME_H
#define DAGTAP_CAPTURE_HIP_HIP_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/frame.h"
#include "capture/hip/hip_functions.h"

/* HIP hands out dispatch tables since 6.0. The meaning of the slots did not change in 7. */
enum { HIP_TABLE_MAJOR_FIRST = 6, HIP_TABLE_MAJOR_LAST = 7 };

struct hip_function_info {
	const char *symbol;
	const char *text; /* text of the API_NAME record */
	/* Its C name, which HIP 7 exports beside the C++ name; NULL: SYMBOL is the C name. */
	const char *plain;
	bool is_unsubscribed; /* in src/vendor/hip_unsubscribed.list */
};

/* Generated (hip_functions.c). */
extern const struct hip_function_info hip_functions[HIP_FUNCTION_COUNT];

/* The functions behind each entry point; NULL: not known yet. */
extern void *_Atomic hip_nexts[DOOR_COUNT][HIP_FUNCTION_COUNT];

/* Looks for FUNCTION's symbol and keeps it in hip_nexts. Returns NULL when no HIP
 * library of the process has it. */
void *hip_resolve(enum hip_function function);

/* Returns the vendor's function behind the wrapper of FUNCTION at the entry point DOOR. For a
 * table's slot without an entry it is the symbol's function; NULL: none was found. */
static inline void *hip_next_at(unsigned int door, enum hip_function function)
{
	/* Relaxed: it points to code, which was loaded before the pointer could be found. */
	void *next = atomic_load_explicit(&hip_nexts[door][function], memory_order_relaxed);

	return __builtin_expect(next != NULL, 1) ? next : hip_resolve(function);
}

/* Returns the address of FUNCTION that dagtap itself calls. The first table's original function is
 * preferred, so that other tools' wrappers in the table are not called. */
static inline void *hip_next(enum hip_function function)
{
	return hip_next_at(
		atomic_load_explicit(&hip_nexts[DOOR_TABLE][function], memory_order_relaxed)
			? DOOR_TABLE
			: DOOR_SYMBOL,
		function);
}

/* Between hip_mute and hip_unmute, on the same thread, dagtap may call the runtime. Such calls,
 * and the calls that the runtime makes inside them, get no record and no correlation id. FRAME
 * is the caller's, until hip_unmute. Make only calls that are sure to succeed: a failure would
 * become the program's hipGetLastError. */
void hip_mute(struct frame *frame);
void hip_unmute(struct frame *frame);

/* Returns HIP_VERSION of the runtime in the process (50221153 is 5.2.21153); 0: unknown. The
 * first call asks the runtime, so call it only after a HIP call that has succeeded. */
int hip_version(void);

/* Returns the address of SYMBOL in the HIP library behind ours (symbol_next), or NULL. */
void *hip_resolve_symbol(const char *symbol);

#endif
