/* The numbers by which XLA's host tracer knows the threads of this process.
 *
 * XLA numbers the line of a thread by std::hash of its std::thread::id, in libstdc++'s
 * implementation. A line of the same number is joined with XLA's, so that a call of the GPU's
 * runtime is inside XLA's event around it, and belongs to its step. */
#ifndef DAGTAP_JAX_THREAD_LINES_H
#define DAGTAP_JAX_THREAD_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <dagtap/export.h>

/* Lists the threads that this process has now. Returns their number; 0 also if they cannot be
 * listed. *RET_THREADS is allocated, and the caller frees it; NULL if the number is 0. Cost: some
 * system calls for each thread. */
size_t thread_lines_list(struct dagtap_export_thread **ret_threads);

/* The number of the thread whose pthread_t is HANDLE. */
uint64_t thread_lines_number(uint64_t handle);

#endif
