/* What the generated wrappers of the HIP API are made of (scripts/gen-hip-api.py).
 *
 * A function has a wrapper a door: the exported one, in the place of its symbol, and one for its slot in
 * each dispatch table that may be handed over. A wrapper finds the function behind it, takes a correlation
 * id, calls, and writes one API record with its arguments. While nothing records it costs two loads.
 * Functions that mean more than their record (graphs, captures, kernel names) have hooks: hooks.c.
 *
 * Threading: any thread, also before our constructor has run and after our destructor. */
#ifndef DAGTAP_CAPTURE_HIP_WRAP_H
#define DAGTAP_CAPTURE_HIP_WRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/frame.h"
#include "capture/hip/hip_ops.h"
#include "capture/table.h"
#include "capture/words.h"
#include "vendor/hip_types.h"

struct hip_op_info {
	const char *symbol;
	const char *text; /* of the API_NAME record */
	const char *
		plain; /* its C name, which HIP 7 exports beside the C++ name; NULL: SYMBOL is one */
};

extern const struct hip_op_info hip_ops[HIP_OP_COUNT];

/* One call under way; lives on the wrapper's stack. */
struct hip_call {
	struct frame frame;
	void *stream; /* the call's stream argument, NULL = none or the default stream */
	const void
		*last_node; /* while STREAM captures: the node that it ended in before the call */
	const void *saved;  /* from a before hook to its after hook */
	uint8_t door;	    /* by which it came in */
	bool capturing;	    /* STREAM was being captured */
	bool is_bare;	    /* of a further runtime in the process: no more than its record */
};

/* ARGS are the recorded words (ARG_call_name is the index); in "before", what the call gives back
 * through a pointer, and text, is the pointer itself. Hooks run outside of the timed interval. */
struct hip_hook {
	void (*before)(struct hip_call *call, const uint64_t *args);
	void (*after)(struct hip_call *call, int result, const uint64_t *args);
	bool is_followed; /* also between two sessions: the next one needs what it tells */
	bool is_for_all;  /* also of a further runtime in the process */
};

extern const struct hip_hook hip_hooks[HIP_OP_COUNT];

#define HIP_BEFORE(call, op, ...)                                                                  \
	do {                                                                                       \
		if (hip_hooks[op].before && !(call).is_bare)                                       \
			hip_run_before(&(call), (const uint64_t[]){__VA_ARGS__});                  \
	} while (0)

/* What is behind each door, NULL = not known. */
extern void *_Atomic hip_nexts[DOOR_COUNT][HIP_OP_COUNT];

extern const struct table_layout hip_table_layout;

/* Looks for the function behind a wrapper's symbol; NULL when no HIP library of the process has it. */
void *hip_resolve(enum hip_op op);

/* The function behind the wrapper of OP at DOOR. */
static inline void *hip_next_at(unsigned int door, enum hip_op op)
{
	/* Relaxed: a pointer into code that was there before it could be found. */
	void *next = atomic_load_explicit(&hip_nexts[door][op], memory_order_relaxed);

	return __builtin_expect(next != NULL, 1) ? next : hip_resolve(op);
}

/* What the tool itself calls: past the wrappers of whoever else may be in the table. */
static inline void *hip_next(enum hip_op op)
{
	return hip_next_at(atomic_load_explicit(&hip_nexts[DOOR_TABLE][op], memory_order_relaxed)
				   ? DOOR_TABLE
				   : DOOR_SYMBOL,
			   op);
}

/* False: pass the call through. True: hip_leave must follow. */
bool hip_enter(struct hip_call *call, enum hip_op op, unsigned int door, void *stream);
void hip_run_before(struct hip_call *call, const uint64_t *args);
void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words);

/* Between these the tool may call the runtime: such calls, and the runtime's own ones inside, are
 * nobody's and leave no record. Only calls that are sure to succeed: a failure would become the
 * program's hipGetLastError. */
void hip_mute(struct frame *frame);
void hip_unmute(struct frame *frame);

/* Of the launches that take it with other things; the two structs have it in the same place. */
static inline void *hip_config_stream(const struct hip_launch_config *config)
{
	return config ? config->stream : NULL;
}

#endif
