/* Names of kernels. Each is written into the spool once, since the pointers in CUPTI's activity
 * records are valid only as long as CUPTI keeps them. A pointer that was seen before is not
 * followed again until a module is unloaded; after that the same address may hold another text.
 *
 * Threading: cuda_names_id by one thread at a time (cuda_buffers.c); cuda_names_doubt by any. */
#ifndef DAGTAP_CAPTURE_CUDA_NAMES_H
#define DAGTAP_CAPTURE_CUDA_NAMES_H

#include <stdint.h>

/* Returns the kernel id of NAME, and writes its KERNEL record if the current spool has none. An
 * id has the same meaning in all recordings of the process. 0: NAME is NULL, or memory is short. */
uint32_t cuda_names_id(const char *name);

/* A module is being unloaded: pointers that were seen so far may come to mean other names. */
void cuda_names_doubt(void);

#endif
