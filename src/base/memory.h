/* How much memory may still be taken. */
#ifndef DAGTAP_BASE_MEMORY_H
#define DAGTAP_BASE_MEMORY_H

#include <stdint.h>

/* Bytes: what the kernel can give without swapping (MemAvailable), and no more than the limits of the calling process's
 * control groups leave (a container's; version 1 and 2), what they can give back counted as free. 0 when it cannot be
 * told. ROOT stands before /proc and /sys: "" but for tests. Reads a dozen files. */
uint64_t memory_available(const char *root);

#endif
