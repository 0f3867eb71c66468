/* See played_nccl.h. */
#include "played_nccl.h"

#include <stdlib.h>

#include "cuda_play.h"

#define SHOWN __attribute__((visibility("default")))

enum { PENDING_MOST = 16 };

struct comm {
	int rank, ranks;
};

struct pending {
	void *comm, *stream;
};

static uint32_t last_correlation;
static int depth; /* of groups; one thread plays */
static struct pending pending[PENDING_MOST];
static int pending_count;

static void launch(void *stream)
{
	uint32_t correlation = ++last_correlation;
	struct cupti_kernel kernel;

	play_call(correlation);
	kernel = play_kernel(correlation, "ncclDevKernel_Played(ncclDevKernelArgs)");
	kernel.streamId = model_find_stream((uintptr_t)stream).number;
	PLAY_PUT(kernel);
}

static int operate(void *comm, void *stream)
{
	if (depth == 0) {
		launch(stream);
		return 0;
	}
	for (int i = 0; i < pending_count; i++)
		if (pending[i].comm == comm && pending[i].stream == stream)
			return 0;
	if (pending_count == PENDING_MOST)
		abort();
	pending[pending_count++] = (struct pending){comm, stream};
	return 0;
}

static int make(void **ret_comm, int rank, int ranks)
{
	struct comm *comm = malloc(sizeof(*comm));

	if (!comm)
		return 1;
	*comm = (struct comm){rank, ranks};
	*ret_comm = comm;
	return 0;
}

SHOWN int ncclGetUniqueId(struct played_id *id)
{
	*id = (struct played_id){"played"};
	return 0;
}

SHOWN int ncclCommInitRank(void **comm, int ranks, struct played_id id, int rank)
{
	return make(comm, rank, ranks);
}

SHOWN int ncclCommInitRankConfig(void **comm, int ranks, struct played_id id, int rank,
				 void *config)
{
	return make(comm, rank, ranks);
}

SHOWN int ncclCommInitAll(void **comms, int devices, const int *list)
{
	int result = 0;

	for (int i = 0; i < devices; i++)
		result |= make(&comms[i], i, devices);
	return result;
}

/* All ranks have one color. */
SHOWN int ncclCommSplit(void *comm, int color, int key, void **ret_comm, void *config)
{
	const struct comm *parent = comm;

	return make(ret_comm, parent->rank, parent->ranks);
}

SHOWN int ncclCommDestroy(void *comm)
{
	free(comm);
	return 0;
}

SHOWN int ncclCommAbort(void *comm)
{
	free(comm);
	return 0;
}

SHOWN int ncclCommUserRank(const void *comm, int *rank)
{
	*rank = ((const struct comm *)comm)->rank;
	return 0;
}

SHOWN int ncclCommCount(const void *comm, int *ranks)
{
	*ranks = ((const struct comm *)comm)->ranks;
	return 0;
}

SHOWN int ncclAllReduce(const void *from, void *to, size_t count, int type, int reduction,
			void *comm, void *stream)
{
	return operate(comm, stream);
}

SHOWN int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm,
			void *stream)
{
	return operate(comm, stream);
}

SHOWN int ncclAlltoAll(const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
	return operate(comm, stream);
}

SHOWN int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
	return operate(comm, stream);
}

SHOWN int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	return operate(comm, stream);
}

SHOWN int ncclGroupStart(void)
{
	depth++;
	return 0;
}

SHOWN int ncclGroupEnd(void)
{
	if (--depth)
		return 0;
	for (int i = 0; i < pending_count; i++)
		launch(pending[i].stream);
	pending_count = 0;
	return 0;
}
