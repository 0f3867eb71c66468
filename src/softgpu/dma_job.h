/* Copies as jobs of the copy engines: what the HSA functions (dma_copy.c) give to the engines
 * (dma.c). Any thread may call these functions. */
#ifndef SOFTGPU_DMA_JOB_H
#define SOFTGPU_DMA_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

enum direction {
	HOST_TO_HOST,
	HOST_TO_DEVICE,
	DEVICE_TO_HOST,
	DEVICE_TO_DEVICE,
	DIRECTION_COUNT,
};

/* The source or the destination of a copy: rows of bytes. A linear copy is one row. */
struct side {
	char *base;   /* device address of the first byte */
	size_t pitch; /* bytes from one row to the next */
	size_t slice; /* bytes from one slice to the next */
};

/* A copy. It holds a reference to each of its signals, and its engine owns it once it is
 * submitted. */
struct job {
	struct job *next;
	struct side to;
	struct side from;
	size_t row_bytes;
	size_t rows;
	size_t slices;
	enum direction direction;
	uint32_t from_agent; /* index of the agent */
	uint32_t to_agent;
	uint32_t engine;   /* number of the engine of AGENT */
	hsa_agent_t agent; /* the agent whose engine runs the copy */
	bool stamp;	   /* write ticks to the completion signal */
	hsa_signal_t completion;
	uint32_t dependency_count;
	hsa_signal_t dependencies[];
};

/* Returns the bytes that JOB copies. */
size_t dma_job_bytes(const struct job *job);

/* Frees a job that no engine owns, and its references to dependencies; not the one to its
 * completion signal. */
void dma_job_free(struct job *job);

/* Gives JOB to its engine, which owns it after success. HSA_STATUS_ERROR_OUT_OF_RESOURCES: the
 * engine's thread does not start. */
hsa_status_t dma_submit(struct job *job);

/* Returns the engines of the agent with this index that have no waiting copy, as a sum of
 * 1 << number. An engine that runs its last copy is one of them. */
uint32_t dma_idle_engines(uint32_t agent);

#endif
