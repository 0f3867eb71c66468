/*
 * allreduce-rank NUMBER RANKS FILE COUNT: the NUMBERth process of a job, from 1. Sums floats with
 * the other processes COUNT times with RCCL, on a GPU of its own. The communicator's id goes from
 * the first one through FILE, a FIFO for each other rank: FILE.1, FILE.2, ... The communicator is
 * not destroyed: RCCL's kernel has no host version, and the threads that would send its data to
 * other processes wait for it for ever.
 */
#include "common/example.h"

#include <stdio.h>
#include <stdlib.h>

#include <rccl/rccl.h>

#define WORDS	    1024
#define CHECK(call) check((call), #call)

static void check(ncclResult_t result, const char *call)
{
	if (result != ncclSuccess)
		example_fail("%s: %s", call, ncclGetErrorString(result));
}

static FILE *open_fifo(const char *file, unsigned rank, const char *mode)
{
	char path[4096];
	FILE *fifo;

	snprintf(path, sizeof(path), "%s.%u", file, rank);
	fifo = fopen(path, mode);
	if (!fifo)
		example_fail("%s cannot be opened", path);
	return fifo;
}

/* Rank 0 makes the id, and sends it to the others. */
static ncclUniqueId share_id(unsigned rank, unsigned ranks, const char *file)
{
	ncclUniqueId id;
	FILE *fifo;

	if (rank) {
		fifo = open_fifo(file, rank, "r");
		if (fread(&id, sizeof(id), 1, fifo) != 1)
			example_fail("no id from rank 0");
		fclose(fifo);
		return id;
	}
	CHECK(ncclGetUniqueId(&id));
	for (unsigned other = 1; other < ranks; other++) {
		fifo = open_fifo(file, other, "w");
		if (fwrite(&id, sizeof(id), 1, fifo) != 1 || fclose(fifo))
			example_fail("the id cannot be sent");
	}
	return id;
}

int main(int argc, char **argv)
{
	unsigned rank = example_argument(argc, argv, 1, 1) - 1;
	unsigned ranks = example_argument(argc, argv, 2, 1);
	unsigned count = example_argument(argc, argv, 4, 3);
	ncclComm_t communicator;
	hipStream_t stream;
	ncclUniqueId id;
	float *data;

	if (argc < 4)
		example_fail("no FILE");
	id = share_id(rank, ranks, argv[3]);
	HIP_CHECK(hipSetDevice((int)rank));
	CHECK(ncclCommInitRank(&communicator, (int)ranks, id, (int)rank));
	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(float)));
	HIP_CHECK(hipMemset(data, 0, WORDS * sizeof(float)));
	HIP_CHECK(hipStreamCreate(&stream));
	for (unsigned i = 0; i < count; i++)
		CHECK(ncclAllReduce(data, data, WORDS, ncclFloat, ncclSum, communicator, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	printf("rank %u of %u: %u all-reduces\n", rank, ranks, count);
	return EXIT_SUCCESS;
}
