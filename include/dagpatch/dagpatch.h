/* dagpatch: GPU graphs that stay usable when their buffers move.
 *
 * The nodes of a CUDA or HIP graph contain the addresses of their buffers. dagpatch records a
 * graph against *slots*: buffers that have a name and a size, but no address yet. It remembers
 * which bytes of which node hold a slot's address. When a slot is bound to another address,
 * dagpatch changes those bytes in the executable graph and nothing else, by the cheapest means
 * that the driver offers.
 *
 *	dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .name = "input", .bytes = n), &input);
 *	dagpatch_add_kernel(recording, &kernel, NULL, &node);
 *	dagpatch_finalize(recording);
 *	for (...) {
 *		dagpatch_bind(recording, input, address, n);
 *		dagpatch_launch(recording, stream);
 *	}
 *
 * The declarations are in these headers, which this one includes:
 *
 *	basics.h	the version, sized structs, errors
 *	contexts.h	a driver, a device, its strategies; kernels' parameters
 *	recordings.h	recordings and their slots
 *	nodes.h		kernels, copies and other nodes
 *	captured_work.h	captured work and adopted graphs
 *	launches.h	bind, apply, launch; change nodes; verify
 *	inspection.h	statistics, relocations, dumps
 *	caches.h	caches of captured work, votes
 *
 * States
 *
 * A recording is created in the state CREATED, in which it takes slots and nodes.
 * dagpatch_finalize makes it READY; it then takes addresses and launches. A call that needs
 * another state returns -EINVAL and changes nothing.
 *
 * The first dagpatch_launch, or a dagpatch_apply before it, needs the addresses of all slots; it
 * builds and instantiates the graph. Later launches patch the executable graph. If patching fails
 * midway, dagpatch puts the changed parameters back: the executable graph then has its old
 * addresses, all of them, and the new addresses stay pending, so that the next launch tries again.
 * dagpatch_revert discards the pending addresses. If putting back fails too, the recording becomes
 * LOST. A LOST recording refuses to launch until dagpatch_finalize has been called again; the next
 * launch then instantiates a new graph.
 *
 * A replay that was launched before a dagpatch_bind never uses what was bound after that launch.
 *
 * Relocations
 *
 * For recorded nodes, the recording calls name the bytes that hold addresses. For captured work
 * (calls of a library, graphs made by others), dagpatch compares two captures of the same work at
 * two sets of addresses. Bytes that moved with a slot are the slot's address. Bytes that are equal
 * in both captures are never changed, whatever they look like. A byte that differs and that no
 * slot explains is an error, whose message names the node and the byte.
 *
 * Handles
 *
 * Streams, functions, events and graphs are passed as the driver's own handles: CUstream,
 * CUfunction or CUkernel, CUevent, CUgraph; hipStream_t, hipFunction_t or the host address of a
 * kernel, and so on; or the types of dagpatch/model.h.
 *
 * Devices
 *
 * A context belongs to one device: the device that is current on the calling thread when the
 * context is created. On CUDA it belongs to the thread's current CUDA context, or to the primary
 * context of the first device if the thread has none; a context that is not primary stays the
 * caller's and must outlive the dagpatch context. Recordings and caches of a context belong to the
 * same device, whichever thread creates or uses them. Each call makes that device current on the
 * calling thread while it works, and restores the thread's own device before it returns, also when
 * it fails. A program with several devices creates one context for each. dagpatch_launch refuses a
 * stream of another device with -EINVAL: the message names both devices, and nothing is changed.
 * The streams without a handle of their own (NULL, the legacy and the per-thread default stream)
 * are taken as streams of the recording's device.
 *
 * Threading
 *
 * - A context may be used by any thread at any time, also to create recordings and caches and to
 *   describe kernels.
 * - A recording is used by one thread at a time. Any thread may take its turn, if the caller makes
 *   sure (by a lock, a queue) that the calls of one thread have returned before the calls of the
 *   next begin. This holds for every call that has the recording as an argument, also for calls
 *   that only read it, and for the struct that dagpatch_recording_error returns. Different
 *   recordings are independent, also if they share a context, captured work, a nested recording, a
 *   cache or a stream.
 * - A finalized nested recording is only read by dagpatch_add_child and dagpatch_add_conditional:
 *   any number of threads may add it to their recordings at once.
 * - A cache may be used by any number of threads, through the recordings that share it and through
 *   dagpatch_cache_stats. If the cache votes, several recordings may vote at once, each on its own
 *   thread. Ranks tell votes apart by their order alone, so launches that vote must come in the
 *   same order on each rank: from one thread at a time.
 * - An adopted executable graph (dagpatch_adoption.exec) must not be launched or updated by others
 *   during a call on its recording.
 * - An object may be destroyed when no other thread is in a call on it or makes one later. A
 *   context lives until its last recording and cache are destroyed, a cache until the last
 *   recording that uses it.
 * - Callbacks run on the thread that makes the call, with the recording's device current; if
 *   several threads make calls, several callbacks run at once. Capture callbacks and votes may
 *   leave another device current. In a callback, calls that change its own recording return -EBUSY
 *   and do nothing. Calls that only read that recording work, and other recordings may be used.
 *
 * Calls do not wait for each other outside of the driver, except on HIP before version 6, which is
 * not thread-safe: there, a call on HIP waits until the calls of other threads have ended. Votes
 * do not hold other threads up there; any other callback must not wait for another thread's call.
 *
 * Cost
 *
 * Bind and launch with unchanged addresses cost some ns (measure with dagtap-bench patch) plus the
 * driver's launch. Changed addresses cost what the strategy costs. Bookkeeping takes less than 64
 * bytes a node, 16 bytes a relocation, and a copy of the node's parameters.
 *
 * Waiting
 *
 * The calls of a recording wait for the GPU in these cases only.
 *
 * CUDA:
 * - dagpatch_apply and dagpatch_launch, when they build a graph with a table, wait for a short
 *   copy on a stream of dagpatch's own;
 * - dagpatch_launch, when all versions of the table are used by replays in flight, waits for the
 *   oldest replay;
 * - an executable graph with a table that is no longer needed is treated as on HIP, because
 *   destroying it waits for its replays (driver 580).
 *
 * HIP:
 * - when 65 executable graphs are no longer needed and it is unknown whether their replays have
 *   ended, the device is synchronised (see dagpatch_recording_destroy);
 * - dagpatch_context_create waits for a graph of its own.
 *
 * Both:
 * - dagpatch_context_destroy, or the destroy call that removes the last object of a destroyed
 *   context, waits for replays that use memory or graphs of dagpatch;
 * - when there is no memory to build a graph, dagpatch waits for the device (see dagpatch_evict);
 * - the driver's own calls that allocate and free memory may wait for the device: for scratch
 *   memory of captures without addresses, for shadows, and for the table.
 *
 * Where ranks vote, dagpatch_apply and dagpatch_launch wait on the host for the other ranks, at
 * most vote_timeout_ns at each of two votes.
 *
 * Errors
 *
 * 0 or more is success; a negative errno is a failure, and struct dagpatch_error says what went
 * wrong. A NULL argument is -EINVAL unless its contract allows NULL. -EINVAL: wrong argument or
 * state. -EBUSY: the call was made in a callback of the same recording. -ENOTSUP: this driver
 * cannot do it. -ENOMEM: no memory. -EIO: the driver failed; its code is in driver_code. Errors
 * that callbacks return are passed on unchanged. The library prints nothing and reads no
 * environment variable.
 *
 * Compatibility
 *
 * Structs that may grow begin with their size, which the caller sets (DAGPATCH_SIZED does). Fields
 * are only added at the end. A smaller struct, from a program that was built with an older header,
 * is read as if its missing fields were 0. In a larger struct, the fields that this library does
 * not know must be 0; otherwise the call returns -E2BIG. A size of 0 means that the size was not
 * set: -EINVAL. Structs without a size never grow, except struct dagpatch_change, which only the
 * library makes: fields may be added at its end. The numbers of enum values and flags never
 * change. */
#ifndef DAGPATCH_DAGPATCH_H
#define DAGPATCH_DAGPATCH_H

#include <dagpatch/basics.h>
#include <dagpatch/caches.h>
#include <dagpatch/captured_work.h>
#include <dagpatch/contexts.h>
#include <dagpatch/inspection.h>
#include <dagpatch/launches.h>
#include <dagpatch/nodes.h>
#include <dagpatch/recordings.h>

#endif
