/* The parts of which the generated wrappers of the HIP interface are made
 * (scripts/gen-hip-api.py).
 *
 * A function has one wrapper for each entry point: the exported one, which replaces its symbol,
 * and one for its slot in each dispatch table that may be handed over. A wrapper finds the
 * function behind it, takes a correlation id, calls the function, and writes one API record with
 * its arguments. While nothing is recorded it costs two loads, and so does a call of
 * src/vendor/hip_unsubscribed.list unless all calls are asked for. Functions whose calls have
 * further effects on the trace (graphs, captures, kernel names) have hooks: hooks.c.
 *
 * Threading: any thread, also before our constructor has run and after our destructor. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_WRAP_H
#define DAGTAP_CAPTURE_HIP_HIP_WRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/arg_words.h"
#include "capture/call_observer.h"
#include "capture/dispatch_table.h"
#include "capture/hip/hip_runtime.h"
#include "capture/hip/hip_source.h"
#include "capture/hip/hip_wrapped_call.h"
#include "capture/hip/hooks.h"
#include "vendor/hip_types.h"

#define HIP_BEFORE(call, function, ...)                                                            \
	do {                                                                                       \
		if ((hip_hooks[function].before && !(call).is_bare) || call_is_observed())         \
			hip_run_before(&(call), (const uint64_t[]){__VA_ARGS__});                  \
	} while (0)

/* The wrappers by their places in the dispatch table. Generated (hip_wrappers.c). */
extern const struct table_layout hip_table_layout;

/* Returns whether a call of src/vendor/hip_unsubscribed.list passes without a record. */
static inline bool hip_is_unsubscribed(void)
{
	return atomic_load_explicit(&hip_unsubscribes, memory_order_relaxed);
}

/* Enters a call of FUNCTION at the entry point DOOR with the stream argument STREAM (NULL: none).
 * Starts the session if it is the first use of HIP. Returns false when the wrapper has to pass
 * the call without a record; true when CALL's frame is the thread's innermost one, and hip_leave
 * must follow. */
bool hip_enter(struct hip_call *call, enum hip_function function, unsigned int door, void *stream);

/* Tells the observer of the call, calls the before hook of its function, if it has one, and sets
 * the call's begin. ARGS: the words of its arguments, pointers as they are. For HIP_BEFORE. */
void hip_run_before(struct hip_call *call, const uint64_t *args);
/* Ends the call: RESULT is the hipError_t, WORDS the recorded arguments. Writes the API record
 * and calls the after hook. On the same thread as hip_enter. */
void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words);

/* The stream of launches that pass it in a struct. hipLaunchConfig_t and HIP_LAUNCH_CONFIG have
 * it at the same place. NULL when there is no struct. */
static inline void *hip_config_stream(const struct hip_launch_config *config)
{
	return config ? config->stream : NULL;
}

#endif
