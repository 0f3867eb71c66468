/* What tests see and control of the model device: calls that fail, features that it lacks, the
 * limit of its memory, and counts of living objects. */
#include <errno.h>
#include <string.h>

#include "patch/model/model_parts.h"

struct model_live model_live;

/* ---- failures ---- */

enum { INJECTED = 999 };

static _Atomic uint64_t calls;
static _Atomic uint64_t fail_from, fail_to; /* numbers of calls; equal: none fails */
static _Atomic uint32_t missing;	    /* DAGPATCH_MODEL_NO_... */

uint64_t dagpatch_model_calls(void)
{
	return calls;
}

void dagpatch_model_fail(uint64_t first, uint64_t count)
{
	uint64_t now = calls;

	fail_from = count ? now + first : 0;
	fail_to = count ? now + first + count : 0;
}

void dagpatch_model_without(uint32_t features)
{
	missing = features;
}

uint32_t model_missing(void)
{
	return missing;
}

int model_call(const char *call)
{
	uint64_t number = ++calls;

	if (number >= fail_from && number < fail_to)
		return patch_fault(-EIO, call, INJECTED, "injected failure");
	return 0;
}

int model_end(const char *call, int err)
{
	return err < 0 ? patch_fault(err, call, MODEL_REFUSED, strerror(-err)) : err;
}

/* ---- device memory ---- */

static _Atomic uint64_t memory_held, memory_limit, stale_replays;

void dagpatch_model_limit(uint64_t bytes)
{
	memory_limit = bytes;
}

uint64_t dagpatch_model_held(void)
{
	return memory_held;
}

uint64_t dagpatch_model_stale_replays(void)
{
	return stale_replays;
}

int model_memory_take(uint64_t bytes)
{
	uint64_t held = memory_held, limit = memory_limit;

	do {
		if (limit && (bytes > limit || held > limit - bytes))
			return -ENOMEM;
	} while (!atomic_compare_exchange_weak(&memory_held, &held, held + bytes));
	return 0;
}

void model_memory_give(uint64_t bytes)
{
	memory_held -= bytes;
}

void model_note_stale(void)
{
	stale_replays++;
}

void dagpatch_model_live(struct dagpatch_model_live *ret_live)
{
	if (!ret_live)
		return;
	*ret_live = (struct dagpatch_model_live){
		.allocations = model_live.allocations,
		.streams = model_live.streams,
		.events = model_live.events,
		.graphs = model_live.graphs,
		.nodes = model_live.nodes,
		.execs = model_live.execs,
		.tables = model_live.tables,
		.kernels = model_live.kernels,
	};
}
