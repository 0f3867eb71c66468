/* How much memory the calling process may still use. */
#ifndef DAGTAP_BASE_MEMORY_H
#define DAGTAP_BASE_MEMORY_H

#include <stdint.h>

/* Returns the number of bytes that the kernel can give without swapping (MemAvailable), limited
 * by the process's control groups (a container's; versions 1 and 2). Memory that a group can
 * reclaim counts as free. Returns 0 if MemAvailable cannot be read. ROOT is put before /proc and
 * /sys: "" except in tests. Any thread. Reads about a dozen files. */
uint64_t memory_available(const char *root);

#endif
