/* The copy engines: each GPU has one for each direction of copies, and a program may name another
 * one for a copy. Each engine has a thread, which starts with its first copy. An engine runs the
 * oldest job whose dependencies are met, so a copy that waits for a later copy does not block the
 * engine. dma_copy.c has the copy functions of HSA. */
#ifndef SOFTGPU_DMA_H
#define SOFTGPU_DMA_H

#include <stdbool.h>

#define DMA_ENGINES	 4u /* engines of a GPU */
#define DMA_HOST_ENGINES 2u /* the first two: for copies from and to the host */

/* Returns what hsa_amd_profiling_async_copy_enable set last: copies that are submitted while it is
 * true write ticks to their signals. Any thread; one relaxed load. */
bool dma_profiling_enabled(void);

#endif
