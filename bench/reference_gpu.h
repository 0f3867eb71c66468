/*
 * The GPUs of the reference run: eight, with their queues, copy engines and clocks, and the records
 * that a tracer makes of them. An activity is recorded in the submitting thread's stream when it is
 * submitted. Its completion is recorded when the monitor next scans the queues, as in a traced
 * program.
 */
#ifndef DAGTAP_BENCH_REFERENCE_GPU_H
#define DAGTAP_BENCH_REFERENCE_GPU_H

#include <stdint.h>

#include "reference_kernels.h"
#include "spool_file.h"

#define REFERENCE_GPUS	     8
#define REFERENCE_QUEUES     4 /* of one GPU */
#define REFERENCE_CPU_AGENTS 2
#define REFERENCE_START_NS   3600000000000u

/* Index of a GPU's queue, and of its stream. */
enum { REFERENCE_COMPUTE, REFERENCE_UPLOAD, REFERENCE_DOWNLOAD, REFERENCE_BRANCH };

struct reference_random {
	uint64_t state;
};

static inline uint32_t reference_random(struct reference_random *random)
{
	uint64_t mixed = random->state += 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(mixed >> 32);
}

/* A call that submits work. */
struct reference_submitter {
	struct spool_stream *stream;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
	uint32_t ordinal; /* of the next activity of the call */
};

struct reference_work {
	uint32_t kernel; /* index into the kernels */
	uint32_t blocks[3];
	uint16_t block[3];
	uint32_t group_bytes;
	uint32_t duration_ns;
};

enum reference_copy { REFERENCE_H2D, REFERENCE_D2H, REFERENCE_P2P };

/* A copy. The N-th copy of a step has the same buffers in every step, as XLA allocates them. */
struct reference_transfer {
	enum reference_copy kind;
	uint32_t place;
	uint64_t bytes;
};

static inline uint64_t reference_buffer(uint32_t gpu, uint32_t place)
{
	return 0x7e0000000000 + ((uint64_t)gpu << 36) + (uint64_t)place * 0x100000;
}

/* Address of the copy's other side, in host memory or on a peer GPU, relative to the buffer. */
#define REFERENCE_FAR_SIDE 0x10000000000u

/*
 * Returns the handle of the INDEX-th object of a row of objects; no memory is at these addresses.
 */
static inline uint64_t reference_handle(uint64_t first, uint64_t index, uint64_t apart)
{
	return first + index * apart;
}

struct reference_machine;

/* Creates the machine; STREAM is the monitor's. */
int reference_machine_create(const struct reference_kernel *kernels, uint64_t seed,
			     struct spool_stream *stream, struct reference_machine **ret_machine);
void reference_machine_destroy(struct reference_machine *machine);

/* Returns a dispatch of KERNEL with its usual dimensions and duration. */
struct reference_work reference_work_of(const struct reference_machine *machine, uint32_t kernel);

/* HSA's handle of the agent in the records. */
uint64_t reference_agent_handle(uint32_t agent_index);
static inline uint32_t reference_gpu_agent(uint32_t gpu)
{
	return REFERENCE_CPU_AGENTS + gpu;
}

/* Write the records of an object's first appearance. */
void reference_put_agents(struct spool_stream *stream);
void reference_put_queue(struct spool_stream *stream, uint32_t gpu, uint32_t queue);
void reference_put_kernels(const struct reference_machine *machine, struct spool_stream *stream,
			   uint32_t gpu);

/*
 * Submit work for the call BY and record it. A barrier packet in QUEUE waits for the work so far of
 * the GPU's other compute queue. When a queue has no free slot, BY waits for its oldest activity.
 */
void reference_dispatch(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
			struct reference_submitter *by, const struct reference_work *work);
void reference_barrier(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
		       struct reference_submitter *by);
void reference_copy(struct reference_machine *machine, uint32_t gpu, struct reference_submitter *by,
		    const struct reference_transfer *transfer);

/* Returns the time at which all work that was submitted to GPU so far ends. */
uint64_t reference_gpu_idle_ns(const struct reference_machine *machine, uint32_t gpu);

/* Plays a scan of the monitor at NOW_NS: records what has ended since the last scan. */
void reference_collect(struct reference_machine *machine, uint64_t now_ns);

/* Write the clock samples and counters of the housekeeping thread. */
void reference_put_samples(struct reference_machine *machine, struct spool_stream *stream);

/* Writes a WITNESS record: SOURCE counted VALUE under KEY. */
void reference_put_witness(struct spool_stream *stream, const char *source, const char *key,
			   uint64_t value);

/* Returns the number of kernels, copies and fills submitted so far. */
uint64_t reference_activities(const struct reference_machine *machine);

#endif
