/* Lists threads with XLA's numbers for them. thread_lines.h has the contracts. */
#include "jax/thread_lines.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* libstdc++'s std::hash of eight bytes: Murmur hash 64A, with this seed. Source: hash_bytes.cc and
 * functional_hash.h of libstdc++-v3. */
#define HASH_SEED  UINT64_C(0xc70f6907)
#define HASH_TIMES UINT64_C(0xc6a4a7935bd1e995)

uint64_t thread_lines_number(uint64_t handle)
{
	uint64_t hash = HASH_SEED ^ (sizeof(handle) * HASH_TIMES);

	handle *= HASH_TIMES;
	handle = (handle ^ handle >> 47) * HASH_TIMES;
	hash = (hash ^ handle) * HASH_TIMES;
	hash = (hash ^ hash >> 47) * HASH_TIMES;
	return hash ^ hash >> 47;
}

/* The address of a thread's list of robust mutexes, which the C library keeps in the thread's
 * control block, to which its pthread_t points. 0 if the thread has ended. */
static uint64_t robust_list_of(pid_t tid)
{
	void *head = NULL;
	size_t bytes;

	return syscall(SYS_get_robust_list, tid, &head, &bytes) == 0 ? (uint64_t)(uintptr_t)head
								     : 0;
}

/* Adds a thread. OFFSET: of the list in the control block. Returns whether there was memory. */
static int add(struct dagtap_export_thread **threads, size_t count, pid_t tid, uint64_t offset)
{
	struct dagtap_export_thread *grown =
		realloc(*threads, (count + 1) * sizeof(*grown)); /* some hundred threads at most */

	if (!grown)
		return 0;
	grown[count] = (struct dagtap_export_thread){
		.tid = (uint32_t)tid,
		.id = thread_lines_number(robust_list_of(tid) - offset),
	};
	*threads = grown;
	return 1;
}

size_t thread_lines_list(struct dagtap_export_thread **ret_threads)
{
	uint64_t own = robust_list_of((pid_t)syscall(SYS_gettid));
	uint64_t offset = own - (uint64_t)pthread_self();
	DIR *folder = own ? opendir("/proc/self/task") : NULL;
	struct dagtap_export_thread *threads = NULL;
	struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && robust_list_of(tid))
			count += (size_t)add(&threads, count, tid, offset);
	}
	if (folder)
		closedir(folder);
	*ret_threads = threads;
	return count;
}
