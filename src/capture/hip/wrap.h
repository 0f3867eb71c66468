/* What the generated wrappers of the HIP API are made of (scripts/gen-hip-api.py).
 *
 * A wrapper resolves the function behind it, takes a correlation id, calls, and writes one API
 * record with its arguments. While nothing records it costs two loads. Functions that mean more
 * than their record (graphs, captures, kernel names) have hooks: hooks.c.
 *
 * Threading: any thread, also before our constructor has run and after our destructor. */
#ifndef DAGTAP_CAPTURE_HIP_WRAP_H
#define DAGTAP_CAPTURE_HIP_WRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/frame.h"
#include "capture/hip/hip_ops.h"
#include "vendor/hip_types.h"

#define HIP_EXPORT __attribute__((visibility("default")))

struct hip_op_info {
	const char *symbol;
	const char *text; /* of the API_NAME record */
};

extern const struct hip_op_info hip_ops[HIP_OP_COUNT];

/* One call under way; lives on the wrapper's stack. */
struct hip_call {
	struct frame frame;
	void *stream; /* the call's stream argument, NULL = none or the default stream */
	const void
		*last_node; /* while STREAM captures: the node that it ended in before the call */
	const void *saved;  /* from a before hook to its after hook */
	bool capturing;	    /* STREAM was being captured */
};

/* ARGS are the recorded words (ARG_call_name is the index); in "before", what the call gives back
 * through a pointer, and text, is the pointer itself. Hooks run outside of the timed interval. */
struct hip_hook {
	void (*before)(struct hip_call *call, const uint64_t *args);
	void (*after)(struct hip_call *call, int result, const uint64_t *args);
	bool is_followed; /* also between two sessions: the next one needs what it tells */
};

extern const struct hip_hook hip_hooks[HIP_OP_COUNT];

#define HIP_BEFORE(call, op, ...)                                                                  \
	do {                                                                                       \
		if (hip_hooks[op].before)                                                          \
			hip_run_before(&(call), (const uint64_t[]){__VA_ARGS__});                  \
	} while (0)

extern void *_Atomic hip_nexts[HIP_OP_COUNT];

/* Looks for the function behind a wrapper; NULL when no HIP library of the process has it. */
void *hip_resolve(enum hip_op op);

/* The function behind the wrapper of OP: what the tool itself calls too. */
static inline void *hip_next(enum hip_op op)
{
	/* Relaxed: a pointer into code that was there before it could be found. */
	void *next = atomic_load_explicit(&hip_nexts[op], memory_order_relaxed);

	return __builtin_expect(next != NULL, 1) ? next : hip_resolve(op);
}

/* False: pass the call through. True: hip_leave must follow. */
bool hip_enter(struct hip_call *call, enum hip_op op, void *stream);
void hip_run_before(struct hip_call *call, const uint64_t *args);
void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words);

/* Between these the tool may call the runtime: such calls, and the runtime's own ones inside, are
 * nobody's and leave no record. Only calls that are sure to succeed: a failure would become the
 * program's hipGetLastError. */
void hip_mute(struct frame *frame);
void hip_unmute(struct frame *frame);

static inline uint64_t hip_out64(int result, const uint64_t *out)
{
	return result == HIP_OK && out ? *out : 0;
}

static inline uint64_t hip_out32(int result, const uint32_t *out)
{
	return result == HIP_OK && out ? *out : 0;
}

/* The first 8 bytes of a text, in the order of memory. */
static inline uint64_t hip_text(const char *text)
{
	uint64_t word = 0;

	for (unsigned int i = 0; text && i < sizeof(word) && text[i]; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	return word;
}

static inline uint64_t hip_float(float value)
{
	union {
		float value;
		uint32_t bits;
	} as = {value};

	return as.bits;
}

#endif
