/* Captured work that is patched (work.c). */
#ifndef DAGPATCH_PATCH_WORK_H
#define DAGPATCH_PATCH_WORK_H

#include <stdatomic.h>

#include "patch/driver.h"

/* Work that was captured, or given as a graph, and is patched. Shared by all recordings that have
 * a copy of it. */
struct work {
	_Atomic uint32_t references;
	struct patch_device *device;
	/* Captured at addresses that are no longer valid; owned. The driver
	 * reads it with device->shared_graphs locked. */
	struct driver_graph *graph;
	/* NULL: a graph given by the caller, which cannot be recaptured */
	dagpatch_capture_fn record;
	void *user;
	uint32_t slot_count;
	bool is_unstable; /* DAGPATCH_LEAVE_UNSTABLE: no two captures are equal */
};

/* One place where a work was added: which slot and offset of this recording each slot of the work
 * is. */
struct placed_work {
	struct work *work;
	uint32_t *slots;
	uint64_t *offsets;
};

/* Notes that NODE may read and write all of these slots. */
int slots_append_accesses(struct dagpatch_recording *recording, uint32_t node,
			  const uint32_t *slots, uint32_t count);

/* Makes NODE, a child, a place of a copy of WORK. Takes over work->graph, also on failure. SLOTS
 * has work->slot_count entries. */
int work_place(struct dagpatch_recording *recording, uint32_t node, const struct work *work,
	       const uint32_t *slots);

/* Releases the place's reference and arrays, and empties the entry of recording.works. */
void placed_work_release(struct placed_work *placed);

#endif
