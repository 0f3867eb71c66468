/* Names of kernels, written into the spool once each: activity records hold pointers that live as long
 * as CUPTI keeps them. A pointer that was seen is not followed again until a module is unloaded, which
 * may give its place to another text.
 *
 * Threading: one thread at a time (cuda_buffers.c); cuda_names_doubt from any. */
#ifndef DAGTAP_CAPTURE_CUDA_NAMES_H
#define DAGTAP_CAPTURE_CUDA_NAMES_H

#include <stdint.h>

/* The kernel id of NAME, whose KERNEL record is in the present spool; 0: NULL, or out of memory. */
uint32_t cuda_names_id(const char *name);

/* Pointers seen so far may come to mean something else. */
void cuda_names_doubt(void);

#endif
