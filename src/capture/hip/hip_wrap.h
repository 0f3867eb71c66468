/* The parts of which the generated wrappers of the HIP interface are made
 * (scripts/gen-hip-api.py).
 *
 * A function has one wrapper for each entry point: the exported one, which replaces its symbol,
 * and one for its slot in each dispatch table that may be handed over. A wrapper finds the
 * function behind it, takes a correlation id, calls the function, and writes one API record with
 * its arguments. While nothing is recorded it costs two loads. Functions whose calls have
 * further effects on the trace (graphs, captures, kernel names) have hooks: hooks.c.
 *
 * Threading: any thread, also before our constructor has run and after our destructor. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_WRAP_H
#define DAGTAP_CAPTURE_HIP_HIP_WRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/arg_words.h"
#include "capture/dispatch_table.h"
#include "capture/frame.h"
#include "capture/hip/hip_functions.h"
#include "vendor/hip_types.h"

struct hip_function_info {
	const char *symbol;
	const char *text; /* text of the API_NAME record */
	/* Its C name, which HIP 7 exports beside the C++ name; NULL: SYMBOL is the C name. */
	const char *plain;
};

extern const struct hip_function_info hip_functions[HIP_FUNCTION_COUNT];

/* One call that is under way; lives on the wrapper's stack. */
struct hip_call {
	struct frame frame;
	void *stream; /* the call's stream argument; NULL: none, or the default stream */
	/* While STREAM is being captured: one of its last nodes before the call; NULL: none. */
	const void *last_node;
	const void *saved; /* passed from a before hook to its after hook */
	uint8_t door;	   /* the entry point, DOOR_SYMBOL or DOOR_TABLE + n */
	/* STREAM was being captured at entry; or some stream was, and the call does not name its
	 * stream. */
	bool capturing;
	/* A call of a second runtime in the process: besides its API record, only hooks with
	 * is_for_all take note of it. */
	bool is_bare;
};

/* The hooks of one function. ARGS are the recorded words (ARG_call_name is the index). For
 * BEFORE, the word of a value that the call returns through a pointer, and of a text, is the
 * pointer itself. Hooks run on the thread of the call and outside of its timed interval; a NULL
 * hook is not called. */
struct hip_hook {
	void (*before)(struct hip_call *call, const uint64_t *args);
	void (*after)(struct hip_call *call, int result, const uint64_t *args);
	bool is_followed; /* also called between two sessions: the next one needs it */
	bool is_for_all;  /* also called for a second runtime in the process */
};

/* In hooks.c; without an entry both hooks are NULL. */
extern const struct hip_hook hip_hooks[HIP_FUNCTION_COUNT];

#define HIP_BEFORE(call, function, ...)                                                            \
	do {                                                                                       \
		if (hip_hooks[function].before && !(call).is_bare)                                 \
			hip_run_before(&(call), (const uint64_t[]){__VA_ARGS__});                  \
	} while (0)

/* The functions behind each entry point; NULL: not known yet. */
extern void *_Atomic hip_nexts[DOOR_COUNT][HIP_FUNCTION_COUNT];

/* Generated. */
extern const struct table_layout hip_table_layout;

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

/* Enters a call of FUNCTION at the entry point DOOR with the stream argument STREAM (NULL: none).
 * Starts the session if it is the first use of HIP. Returns false when the wrapper has to pass
 * the call without a record; true when CALL's frame is the thread's innermost one, and hip_leave
 * must follow. */
bool hip_enter(struct hip_call *call, enum hip_function function, unsigned int door, void *stream);
/* Calls FUNCTION's before hook and sets the call's begin after it. For HIP_BEFORE. */
void hip_run_before(struct hip_call *call, const uint64_t *args);
/* Ends the call: RESULT is the hipError_t, WORDS the recorded arguments. Writes the API record
 * and calls the after hook. On the same thread as hip_enter. */
void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words);

/* Between hip_mute and hip_unmute, on the same thread, dagtap may call the runtime. Such calls,
 * and the calls that the runtime makes inside them, get no record and no correlation id. FRAME
 * is the caller's, until hip_unmute. Make only calls that are sure to succeed: a failure would
 * become the program's hipGetLastError. */
void hip_mute(struct frame *frame);
void hip_unmute(struct frame *frame);

/* The stream of launches that pass it in a struct. hipLaunchConfig_t and HIP_LAUNCH_CONFIG have
 * it at the same place. NULL when there is no struct. */
static inline void *hip_config_stream(const struct hip_launch_config *config)
{
	return config ? config->stream : NULL;
}

#endif
