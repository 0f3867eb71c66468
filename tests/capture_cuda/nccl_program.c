/*
 * nccl-program-linked X, nccl-program-looked-up LIBRARY: play two ranks of a program that uses NCCL
 * on CUDA, each in a process. It calls the functions that it is linked with, as PyTorch does, or
 * those that it finds in the library that it has loaded for itself, as JAX does. Rank 1 is late for
 * the last all-reduce. Prints the ranks' process ids.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_play.h"
#include "played_nccl.h"

enum { RANKS = 2, MAIN = 0x5000, SIDE = 0x6000, EVENT_HANDLE = 0x900 };

static struct {
#define X(name, parameters) int(*name) parameters;
	PLAYED_NCCL(X)
#undef X
} nccl;

#ifdef IS_LINKED
static int find(const char *path)
{
#define X(name, parameters) nccl.name = name;
	PLAYED_NCCL(X)
#undef X
	return 0;
}
#else
static int find(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int missing = !library;

#define X(name, parameters)                                                                        \
	nccl.name = library ? (int(*) parameters)dlsym(library, #name) : NULL;                     \
	missing |= !nccl.name;
	PLAYED_NCCL(X)
#undef X
	return missing;
}
#endif

static int all_reduce(size_t count, void *comm, uintptr_t stream)
{
	return nccl.ncclAllReduce(NULL, NULL, count, PLAYED_FLOAT32, PLAYED_SUM, comm,
				  (void *)stream);
}

/* Two all-reduces that run together, then a send and a receive in a group within a group. */
static int groups(void *comm, int peer)
{
	int result = nccl.ncclGroupStart();

	result |= all_reduce(10, comm, MAIN);
	result |= all_reduce(20, comm, MAIN);
	result |= nccl.ncclGroupEnd();
	result |= nccl.ncclGroupStart();
	result |= nccl.ncclGroupStart();
	result |= nccl.ncclSend(NULL, 300, PLAYED_INT8, peer, comm, (void *)MAIN);
	result |= nccl.ncclGroupEnd();
	result |= nccl.ncclRecv(NULL, 200, PLAYED_INT8, peer, comm, (void *)MAIN);
	return result | nccl.ncclGroupEnd();
}

/* Two communicators in one group, told apart by their streams. */
static int two_streams(void *comm, void *child)
{
	int result;

	/* These calls say which streams the handles are. */
	play_call_with(CUPTI_cudaEventRecord, 900001, "cudaEventRecord", EVENT_HANDLE, MAIN);
	play_call_with(CUPTI_cudaEventRecord, 900002, "cudaEventRecord", EVENT_HANDLE, SIDE);
	result = nccl.ncclGroupStart();
	result |= all_reduce(40, comm, MAIN);
	result |= nccl.ncclAllGather(NULL, NULL, 50, PLAYED_FLOAT16, child, (void *)SIDE);
	return result | nccl.ncclGroupEnd();
}

/* A communicator whose ranks are all in this process. */
static int all_in_one(void)
{
	void *comms[2];
	int result = nccl.ncclCommInitAll(comms, 2, NULL);

	result |= nccl.ncclGroupStart();
	result |= all_reduce(64, comms[0], MAIN);
	result |= all_reduce(64, comms[1], SIDE);
	result |= nccl.ncclGroupEnd();
	result |= nccl.ncclCommDestroy(comms[0]);
	return result | nccl.ncclCommDestroy(comms[1]);
}

/* Waits until rank 0 has begun its last all-reduce, then lets the clock get there, and 10 ms more:
 * so the host is the cause, however long the calls took. */
static int be_late(int from)
{
	uint64_t then, now;

	if (read(from, &then, sizeof(then)) != sizeof(then))
		return 1;
	now = model_now();
	model_pass((now < then ? then - now : 0) + 10000000);
	return 0;
}

static int tell(int to)
{
	uint64_t now = model_now();

	return write(to, &now, sizeof(now)) != sizeof(now);
}

static int play_rank(int rank, struct played_id id, const int *pipe_ends)
{
	void *comm, *child;
	int result;

	play_load_tool();
	play_device(DEVICE, "NVIDIA H200");
	model_make_stream(MAIN);
	model_make_stream(SIDE);
	result = nccl.ncclCommInitRank(&comm, RANKS, id, rank);
	result |= all_reduce(1000, comm, MAIN);
	result |= all_reduce(1000, comm, MAIN);
	result |= nccl.ncclCommSplit(comm, 0, rank, &child, NULL);
	result |= nccl.ncclAlltoAll(NULL, NULL, 7, PLAYED_FLOAT32, child, (void *)SIDE);
	result |= groups(comm, 1 - rank);
	result |= two_streams(comm, child);
	result |= nccl.ncclCommAbort(child);
	if (rank == 1)
		result |= be_late(pipe_ends[0]);
	result |= all_reduce(5000, comm, MAIN);
	if (rank == 0)
		result |= tell(pipe_ends[1]) | all_in_one();
	return result | nccl.ncclCommDestroy(comm);
}

int main(int argc, char **argv)
{
	struct played_id id = {"one job"};
	int pipe_ends[2], result = argc < 2 || find(argv[1]) || pipe(pipe_ends);

	for (int rank = 0; rank < RANKS && !result; rank++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(play_rank(rank, id, pipe_ends));
		printf("rank %d: %d\n", rank, (int)pid);
	}
	for (int status; !result && wait(&status) > 0;)
		result |= status;
	return result != 0;
}
