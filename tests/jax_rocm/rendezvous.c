/*
 * librendezvous.so, preloaded into the two ranks of a job: host functions of RCCL's kernels on the
 * software GPU (docs/softgpu.md). Without them these kernels take their modelled time and wait for
 * nobody. With them no kernel of a rank ends before the kernel with the same number of the other
 * rank has begun, as on a GPU. They compute nothing.
 *
 * RENDEZVOUS: a file of 8 bytes that both ranks share; RENDEZVOUS_RANK: 0 or 1. The kernels of a
 * rank are numbered in the order in which they begin, so a rank must use one queue for them.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dagtap/softgpu.h>

#define RANKS  2
#define EXPORT __attribute__((visibility("default")))

/* By rank, how many kernels have begun; a mapping of the file. */
static _Atomic(uint32_t) *begun;
static unsigned rank;

static void fail(const char *what)
{
	perror(what);
	abort();
}

__attribute__((constructor)) static void map_counts(void)
{
	const char *path = getenv("RENDEZVOUS"), *number = getenv("RENDEZVOUS_RANK");
	int fd;

	if (!path || !number)
		fail("RENDEZVOUS and RENDEZVOUS_RANK");
	rank = *number == '1';
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	begun = mmap(NULL, RANKS * sizeof(*begun), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (begun == MAP_FAILED)
		fail(path);
	close(fd);
}

static long futex(_Atomic(uint32_t) *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void meet(void)
{
	uint32_t number, others;

	number = atomic_fetch_add(&begun[rank], 1) + 1;
	futex(&begun[rank], FUTEX_WAKE, RANKS);
	while ((others = atomic_load(&begun[!rank])) < number)
		futex(&begun[!rank], FUTEX_WAIT, others);
}

/* RCCL chooses one of three, by the kind of GPU. */
#define RCCL_KERNEL(symbol)                                                                        \
	EXPORT void softgpu_kernel_##symbol(const void *kernarg,                                   \
					    const struct hsa_kernel_dispatch_packet_s *packet)     \
	{                                                                                          \
		(void)kernarg;                                                                     \
		(void)packet;                                                                      \
		meet();                                                                            \
	}

RCCL_KERNEL(_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE)
RCCL_KERNEL(_Z23ncclDevKernel_Generic_224ncclDevKernelArgsStorageILm4096EE)
RCCL_KERNEL(_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE)
