/* The copy engines: per GPU one for each direction, unless the program names another, each with a thread of its
 * own that starts with its first copy. An engine runs the first job whose dependencies are met, so a copy that
 * waits for a later one cannot block it. */
#ifndef SOFTGPU_DMA_H
#define SOFTGPU_DMA_H

#include <stdbool.h>

#define DMA_ENGINES	 4u /* of a GPU */
#define DMA_HOST_ENGINES 2u /* the first of them: to the host and back */

/* What hsa_amd_profiling_async_copy_enable (dma.c) last set: copies stamp ticks only when true. */
bool dma_profiling_enabled(void);

#endif
