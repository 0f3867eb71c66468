/* The machine of the reference run: eight GPUs with their queues, copy engines and clocks, and what a
 * tracer records of them. Work is recorded where it is submitted, in the submitting thread's stream; its
 * completion waits until the monitor looks, which goes from queue to queue, as in a traced program. */
#ifndef DAGTAP_BENCH_REFERENCE_GPU_H
#define DAGTAP_BENCH_REFERENCE_GPU_H

#include <stdint.h>

#include "reference_kernels.h"
#include "spool_file.h"

#define REFERENCE_GPUS	     8
#define REFERENCE_QUEUES     4 /* a GPU */
#define REFERENCE_CPU_AGENTS 2
#define REFERENCE_START_NS   3600000000000u

/* Which of a GPU's queues, and which of its streams. */
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

/* A call that submits. */
struct reference_submitter {
	struct spool_stream *stream;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
	uint32_t ordinal; /* of the next activity */
};

struct reference_work {
	uint32_t kernel; /* index into the kernels */
	uint32_t blocks[3];
	uint16_t block[3];
	uint32_t group_bytes;
	uint32_t duration_ns;
};

enum reference_copy { REFERENCE_H2D, REFERENCE_D2H, REFERENCE_P2P };

/* The N-th copy of a step has the same buffers in every step, as XLA places them. */
struct reference_transfer {
	enum reference_copy kind;
	uint32_t place;
	uint64_t bytes;
};

static inline uint64_t reference_buffer(uint32_t gpu, uint32_t place)
{
	return 0x7e0000000000 + ((uint64_t)gpu << 36) + (uint64_t)place * 0x100000;
}

/* What is in a host's memory, or in a peer's, and goes to or comes from that buffer. */
#define REFERENCE_FAR_SIDE 0x10000000000u

/* The INDEX-th of things that lie in a row: nothing is at these addresses. */
static inline uint64_t reference_handle(uint64_t first, uint64_t index, uint64_t apart)
{
	return first + index * apart;
}

struct reference_machine;

/* STREAM is the monitor's. */
int reference_machine_create(const struct reference_kernel *kernels, uint64_t seed,
			     struct spool_stream *stream, struct reference_machine **ret_machine);
void reference_machine_destroy(struct reference_machine *machine);

struct reference_work reference_work_of(const struct reference_machine *machine, uint32_t kernel);

uint64_t reference_agent_handle(uint32_t agent_index);
static inline uint32_t reference_gpu_agent(uint32_t gpu)
{
	return REFERENCE_CPU_AGENTS + gpu;
}

/* What is recorded when things are met first. */
void reference_put_agents(struct spool_stream *stream);
void reference_put_queue(struct spool_stream *stream, uint32_t gpu, uint32_t queue);
void reference_put_kernels(const struct reference_machine *machine, struct spool_stream *stream,
			   uint32_t gpu);

void reference_dispatch(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
			struct reference_submitter *by, const struct reference_work *work);
void reference_barrier(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
		       struct reference_submitter *by);
void reference_copy(struct reference_machine *machine, uint32_t gpu, struct reference_submitter *by,
		    const struct reference_transfer *transfer);

/* When what was submitted to GPU so far will have ended. */
uint64_t reference_gpu_idle_ns(const struct reference_machine *machine, uint32_t gpu);

/* The monitor's look at NOW_NS: what has ended since is recorded. */
void reference_collect(struct reference_machine *machine, uint64_t now_ns);

/* The housekeeping thread's: clocks and counts. */
void reference_put_samples(struct reference_machine *machine, struct spool_stream *stream);

void reference_put_witness(struct spool_stream *stream, const char *source, const char *key,
			   uint64_t value);

/* Kernels, copies and fills submitted so far. */
uint64_t reference_activities(const struct reference_machine *machine);

#endif
