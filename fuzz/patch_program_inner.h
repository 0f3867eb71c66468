/* What the files of the interpreter share (patch_program.h): its state, the numbers that it draws
 * from the bytes, and what calls are given. */
#ifndef FUZZ_PATCH_PROGRAM_INNER_H
#define FUZZ_PATCH_PROGRAM_INNER_H

#include <stdbool.h>

#include <dagpatch/model.h>

#include "patch_program.h"

enum {
	CONTEXTS = 2,
	RECORDINGS = 4,
	CACHES = 2,
	STREAMS = 2,
	EVENTS = 2,
	GRAPHS = 4,
	FEW = 4, /* limit of most arrays */
	SLOTS_MOST = 32,
	SLOT_BYTES = 1024,
	BUFFERS = 4,
	HABITS = 8,
	BUFFER_BYTES = 4096,
	FIXED_BYTES = 1 << 19, /* memory for ends of copies that have no slot */
	DEPTH = 2,	       /* depth of calls inside callbacks */
};

struct program {
	const uint8_t *at, *end;
	struct patch_program_result result;
	uint32_t depth;
	uint32_t slots_added; /* in all recordings */
	struct dagpatch_context *contexts[CONTEXTS];
	struct dagpatch_cache *caches[CACHES];
	struct dagpatch_recording *recordings[RECORDINGS];
	bool is_in_call[RECORDINGS];
	struct dagpatch_model_stream *streams[STREAMS];
	struct dagpatch_model_event *events[EVENTS];
	struct dagpatch_model_kernel *kernel;
	struct dagpatch_model_graph *graphs[GRAPHS];
	struct dagpatch_model_exec *execs[GRAPHS];
	uint8_t *buffers[BUFFERS];
};

/* ---- numbers: from the next bytes of the program, 0 behind its end ---- */

static inline uint8_t byte(struct program *program)
{
	return program->at < program->end ? *program->at++ : 0;
}

static inline bool one_in(struct program *program, uint32_t times)
{
	return byte(program) % times == times - 1;
}

/* Returns mostly small numbers, sometimes ones that overflow. */
static inline uint64_t number(struct program *program, uint64_t small)
{
	static const uint64_t odd[] = {UINT32_MAX,	     UINT32_MAX - 1,	  UINT64_MAX,
				       UINT64_MAX - 7,	     UINT64_MAX / 2,	  (uint64_t)1 << 31,
				       (uint64_t)1 << 40,    (uint64_t)1 << 48,	  (uint64_t)1 << 60,
				       UINT64_MAX / 4 + 1,   SLOT_BYTES,	  SLOT_BYTES - 8,
				       0x7fffffffffffff00ul, 0xffffffff00000000ul};
	uint8_t drawn = byte(program);

	if (drawn < 224)
		return small ? drawn % small : 0;
	return odd[drawn % (sizeof(odd) / sizeof(*odd))];
}

static inline uint32_t number32(struct program *program, uint32_t small)
{
	return (uint32_t)number(program, small);
}

/*
 * Returns the struct's size or one that dagpatch refuses. Never a size between the two: there is no
 * memory behind the struct.
 */
static inline size_t size_of(struct program *program, size_t size)
{
	size_t drawn = one_in(program, 64) ? number(program, 200) : size;

	return drawn > size && drawn < 1 << 16 ? size : drawn;
}

/* Returns ARRAY, or sometimes NULL, which is invalid there. */
static const void *array_of(struct program *program, const void *array)
{
	return one_in(program, 64) ? NULL : array;
}

static inline uint8_t *buffer_of(struct program *program)
{
	return program->buffers[byte(program) % BUFFERS] + 256 * (byte(program) % 8);
}

/* ---- what calls are given ---- */

/* Memory for ends of copies that have no slot. */
extern uint8_t program_fixed[FIXED_BYTES];

/* What a callback does, as bytes of the program have set it: it does the same at each call. A
 * callback's user pointer is one of these, or for captures that have no addresses one of
 * program_without_addresses with the same index. */
extern uint8_t program_habits[HABITS], program_without_addresses[HABITS];

/* The callback of captures. */
int program_record(void *user, void *stream, void *const *addresses);

/* A function for host nodes, and the counter that it increments. */
void program_host_function(void *user);
extern uint32_t program_host_calls;

/* Add something to RECORDING, by one call of dagpatch, whose result they return. */
int program_add_slot(struct program *program, struct dagpatch_recording *recording);
int program_add_kernel(struct program *program, struct dagpatch_recording *recording);
int program_add_copy(struct program *program, struct dagpatch_recording *recording);
int program_add_memset(struct program *program, struct dagpatch_recording *recording);
int program_add_small(struct program *program, struct dagpatch_recording *recording);
int program_add_child(struct program *program, struct dagpatch_recording *recording);
int program_add_captured(struct program *program, struct dagpatch_recording *recording);
int program_add_graph(struct program *program, struct dagpatch_recording *recording);
int program_adopt(struct program *program, struct dagpatch_recording *recording);

#endif
