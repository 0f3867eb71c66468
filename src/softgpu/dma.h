/* The copy engines: per GPU one engine for each direction, each with a thread of its own that
 * starts with its first copy. An engine runs the first job whose dependencies are met, so a copy
 * that waits for a later one cannot block it. */
#ifndef SOFTGPU_DMA_H
#define SOFTGPU_DMA_H

#include <stdbool.h>

/* What hsa_amd_profiling_async_copy_enable (dma.c) last set: copies stamp ticks only when true. */
bool dma_profiling_enabled(void);

#endif
