/* The witnesses that the capture side writes (session_witness) and that the ledger asks for: each
 * with its source and its key in a WITNESS record. docs/format/spool.md says what each counts.
 *
 * The software GPU's counters are witnesses too. They are not in this list: their source is
 * WITNESS_DEVICE, and their keys are the names of src/softgpu/counters.h, as the software GPU
 * hands them over. */
#ifndef DAGTAP_RECORD_WITNESSES_H
#define DAGTAP_RECORD_WITNESSES_H

/* X(ID, source, key) */
#define WITNESSES(X)                                                                               \
	X(SESSION_PARTS_NOT_STOPPED, "session", "parts_not_stopped")                               \
	X(HIP_CALLS, "hip", "calls")                                                               \
	X(HIP_OPEN, "hip", "open")                                                                 \
	X(HIP_CALLS_SELECTED, "hip", "calls_selected")                                             \
	X(HIP_NODES_SWITCHED, "hip", "nodes_switched")                                             \
	X(RCCL_CALLS, "rccl", "calls")                                                             \
	X(RCCL_OPEN, "rccl", "open")                                                               \
	X(HSA_COPIES_STARTED, "hsa", "copies_started")                                             \
	X(HSA_COPIES_UNTRACED, "hsa", "copies_untraced")                                           \
	X(HSA_PACKETS_UNTRACED, "hsa", "packets_untraced")                                         \
	X(HSA_PACKETS_WAITING, "hsa", "packets_waiting")                                           \
	X(HSA_PACKETS_CUT, "hsa", "packets_cut")                                                   \
	X(HSA_PACKETS_UNRECORDED, "hsa", "packets_unrecorded")                                     \
	X(HSA_PACKETS_UNKNOWN, "hsa", "packets_unknown")                                           \
	X(HSA_SUBMISSIONS_UNKNOWN, "hsa", "submissions_unknown")                                   \
	X(HSA_DISPATCHES_WITHOUT_CONTEXT, "hsa", "dispatches_without_context")                     \
	X(HSA_RESERVATIONS_LOST, "hsa", "reservations_lost")                                       \
	X(HSA_COMPLETIONS_UNRECORDED, "hsa", "completions_unrecorded")                             \
	X(HSA_COMPLETIONS_PASSED_ON, "hsa", "completions_passed_on")                               \
	X(HSA_PASS_ON_P99_NS, "hsa", "pass_on_p99_ns")                                             \
	X(HSA_PASS_ON_MOST_NS, "hsa", "pass_on_most_ns")                                           \
	X(HSA_SERIAL_OVERRUNS, "hsa", "serial_overruns")                                           \
	X(CUDA_CALLS, "cuda", "calls")                                                             \
	X(CUDA_OPEN, "cuda", "open")                                                               \
	X(CUDA_CALLS_SELECTED, "cuda", "calls_selected")                                           \
	X(CUDA_WAITS_FROM_CALLS, "cuda", "waits_from_calls")                                       \
	X(CUDA_KERNELS, "cuda", "kernels")                                                         \
	X(CUDA_COPIES, "cuda", "copies")                                                           \
	X(CUDA_OTHERS, "cuda", "others")                                                           \
	X(CUDA_OF_UNKNOWN_KINDS, "cuda", "of_unknown_kinds")                                       \
	X(CUDA_DROPPED, "cuda", "dropped")                                                         \
	X(CUDA_TORN_BUFFERS, "cuda", "torn_buffers")                                               \
	X(CUDA_UNFINISHED_BUFFERS, "cuda", "unfinished_buffers")                                   \
	X(CUDA_FLUSHES_FAILED, "cuda", "flushes_failed")                                           \
	X(CUDA_LAUNCHES_FAILED, "cuda", "launches_failed")                                         \
	X(CUDA_GRAPH_LAUNCHES, "cuda", "graph_launches")                                           \
	X(CUDA_KERNEL_LAUNCHES, "cuda", "kernel_launches")

#define WITNESS_DEVICE "softgpu"

enum witness {
#define X(id, source, key) WITNESS_##id,
	WITNESSES(X)
#undef X
		WITNESS_COUNT
};

struct witness_name {
	const char *source, *key;
};

/* By enum witness. */
extern const struct witness_name witness_names[WITNESS_COUNT];

#endif
