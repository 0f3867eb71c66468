/* A finalized recording: bind addresses, change nodes, apply, launch, verify.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_LAUNCHES_H
#define DAGPATCH_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/nodes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CREATED: ends the recording of slots and nodes, sorts the relocations and allocates what binding
 * needs, including the shadows; the state becomes READY. LOST: releases the old graph; the next
 * launch makes a new one, and the state becomes READY. -ENOTSUP: a LOST adopted executable graph
 * stays LOST. -EINVAL: captures use two caches that vote. */
int dagpatch_finalize(struct dagpatch_recording *recording);

/* Sets the address that SLOT has from the next launch on. BYTES is the size of the memory at
 * ADDRESS and must be at least the slot's size. Only notes the address; it does not reach the
 * driver. -EINVAL: no such slot, too small, badly aligned, NULL, or the recording is not finalized
 * or is nested.
 *
 * The old buffer may be freed when (1) an apply or launch after this call has succeeded, because
 * until then the graph holds the old address and dagpatch_revert returns to it, and (2) the
 * replays that were launched before have ended. The caller learns (2) from an event or by
 * synchronising their stream; dagpatch does not wait for them. For memory that is freed in stream
 * order after those replays (cudaFreeAsync, PyTorch's allocator on that stream), (1) is enough. An
 * adopted executable graph that other code launches has the address, too. */
int dagpatch_bind(struct dagpatch_recording *recording, uint32_t slot, const void *address,
		  uint64_t bytes);

/* Sets the addresses of all slots, in their order. COUNT is the number of slots. The sizes are not
 * checked: the caller guarantees them. On failure no address has changed. */
int dagpatch_bind_all(struct dagpatch_recording *recording, const void *const *addresses,
		      uint32_t count);

/* Brings the executable graph to the bound addresses and set parameters, if it differs from them.
 * dagpatch_launch begins with it. Use it to do that work before the launch. -ENXIO: a slot has no
 * address yet. -ECANCELED and errors of votes: see caches.h. -EINVAL: the recording is
 * nested. */
int dagpatch_apply(struct dagpatch_recording *recording);

/* Applies pending changes (errors as of dagpatch_apply), copies shadows, and launches the
 * executable graph in STREAM, which belongs to the recording's device. Returns when the launch has
 * been submitted.
 *
 * If STREAM is being captured, the recording becomes part of the captured graph, in the stream's
 * order, with the pending addresses and values. dagpatch adds its nodes there itself, because
 * drivers refuse the launch of an executable graph in a capture and end the capture, or lose the
 * launch silently (HIP). What is bound later changes the recording, never that captured graph: if
 * a buffer moves, capture again, or make the outer work a recording (dagpatch_add_child). Nothing
 * runs, and the recording's own graph is neither built nor changed. The captured graph uses the
 * recording's shadows, callbacks' data and events, which must outlive it. Ranks that vote agree on
 * it as on any change. After an error some of the nodes may be in the capture, which must then be
 * discarded.
 *
 * Captures of other streams continue, in any mode: calls that drivers refuse during a capture are
 * made in relaxed mode. (On HIP, a lack of memory is the exception: "Waiting" in dagpatch.h.) */
int dagpatch_launch(struct dagpatch_recording *recording, void *stream);

/* Releases the executable graph and the driver's graph, with the table: their memory returns to
 * the driver. Addresses, values and captured work stay; the next launch builds the graph again,
 * with what is then pending. Replays in flight continue (see dagpatch_recording_destroy). Returns
 * 0 also when nothing was built. -ENOTSUP: an adopted executable graph. Where ranks vote, they
 * vote on the rebuild as on a change: with ranks_change_together, all of them must evict.
 *
 * When there is no memory to build a graph, dagpatch does the same itself. It takes the least
 * recently launched executable graph of the context that no other thread is using, whose handles
 * were not asked for and whose ranks do not vote; it waits for the device and tries once more
 * (dagpatch_stats.memory_retries, evictions). */
int dagpatch_evict(struct dagpatch_recording *recording);

/* Discards pending addresses and parameters: the slots have the addresses again that were applied
 * last. For a LOST recording these are the addresses that the graph had; before the first apply of
 * an adopted graph, those that it was adopted with. */
int dagpatch_revert(struct dagpatch_recording *recording);

/* Other parameters for a node, from the next apply or launch on, as if they had been given to
 * dagpatch_add_...: any function, grid, block, shared memory, arguments and slots; the ends and
 * the shape of a copy; a child of the same shape. The recording is READY and not nested. Replays
 * in flight never see the new parameters. If an apply fails, the old parameters are put back
 * together with the addresses; dagpatch_revert discards the new ones; a later call for the same
 * node replaces an earlier one.
 *
 * Dependencies stay as they are: a node that now touches other slots waits for the same nodes as
 * before. NODE is the number in the recording. The nodes of a child follow it: those of a nested
 * recording in its order, those of captured work and adopted graphs in the order in which the
 * driver lists them. Nodes of work with DAGPATCH_RECAPTURE, and kernels that set conditions,
 * cannot be set.
 *
 * Given launch attributes are added to those of the node. A new executable graph is made for
 * changed attributes, and for what the driver cannot change in an existing one (HIP: another
 * function, unless the context has seen it take effect; a copy with another number of dimensions
 * or between other kinds of memory). If the executable graph is the caller's (struct
 * dagpatch_adoption), this is -ENOTSUP.
 *
 * Errors about the parameters are those of dagpatch_add_.... Memory: a node that was set keeps two
 * images; once any node was set, 24 bytes a relocation and 4 bytes a node. Cost: a copy of the
 * parameters now, and one more node to set at the next apply; if slots or offsets have changed,
 * that apply reads all relocations once. */
int dagpatch_set_kernel(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_kernel *kernel);
int dagpatch_set_copy(struct dagpatch_recording *recording, uint32_t node,
		      const struct dagpatch_copy *copy);
int dagpatch_set_memset(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_memset *memset);

/* NODE is a node that dagpatch_add_child added. The new child has the same kinds of nodes with the
 * same dependencies, including everything nested in it (-EINVAL), and no work with
 * DAGPATCH_RECAPTURE (-ENOTSUP). */
int dagpatch_set_child(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_child *child);

/* The same for single values: all bytes of argument number INDEX of a kernel except its addresses,
 * where SIZE is the argument's size; the value of a memset. */
int dagpatch_set_argument(struct dagpatch_recording *recording, uint32_t node, uint32_t index,
			  const void *bytes, uint32_t size);
int dagpatch_set_memset_value(struct dagpatch_recording *recording, uint32_t node, uint32_t value);

/* A result of dagpatch_verify. */
#define DAGPATCH_CANNOT_TELL 1
/* Checks that the graph has the addresses and values that were applied last. Captured work is
 * compared with a fresh capture (except work with DAGPATCH_LEAVE_UNSTABLE, and nodes with values
 * of dagpatch_set_...), and the executable graph is read, node by node. dagpatch's own bookkeeping
 * is not used as evidence.
 *
 * 0: every node that holds addresses was read and has the right ones. -EILSEQ: a node has others;
 * the error names it. DAGPATCH_CANNOT_TELL, which is no error: nothing wrong was found, but this
 * driver does not let some nodes be read (dagpatch_stats.unread_nodes). CUDA and HIP let none be
 * read, and nodes that the table sets can never be read. options.verify treats it as success.
 * -EINVAL: nothing is built yet. */
int dagpatch_verify(struct dagpatch_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
