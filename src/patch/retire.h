/* Keeps what replays in flight may still use until they are done (retire.c), and evicts executable
 * graphs (evict.c). */
#ifndef DAGPATCH_PATCH_RETIRE_H
#define DAGPATCH_PATCH_RETIRE_H

#include "patch/recording.h"

struct dagpatch_context;

/* ---- retire.c ---- */

/* Destroys what is built. No replay of it may be in flight, unless PATCH_KEEPS_EXECS. */
void built_release(struct patch_device *device, struct built *built);

/* NULL: no memory. */
struct retired *retired_create(void);

/* Retires BUILT, which was launched as recording->launches says, and empties it. Cannot fail.
 * Waits for replays only where it is unknown whether they are done (HIP, until their streams are
 * launched into again), and then at every 65th graph. */
void retire_built(struct dagpatch_recording *recording, struct built *built);

/* Retires what is built, and the slots with their shadows, of a recording that is being
 * destroyed. */
void retire_all(struct dagpatch_recording *recording);

/* Puts marks after earlier launches in STREAM for the retired graphs that need one. STREAM exists
 * and is not being captured. Costs one load when there are none. Takes the context's lock. */
void retired_mark(struct dagpatch_context *context, struct driver_stream *stream);

/* Frees what no replay uses any more. Does not wait. Any thread; enters the device itself. */
void reap(struct dagpatch_context *context);

/* Frees everything that is retired; waits for the replays. Any thread; enters the device itself. */
void reap_all(struct dagpatch_context *context);

/* ---- evict.c ---- */

/* Frees memory for NEEDY: evicts the least recently launched executable graph of another recording
 * of the context and frees everything that is retired. Waits for the device. False: there is
 * nothing to free. */
bool evict_for_memory(struct dagpatch_recording *needy);

#endif
