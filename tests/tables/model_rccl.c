/*
 * A model of librccl.so.1, with the functions that the tests call. An operation launches one kernel
 * through HIP's symbol.
 */
#include <pthread.h>

#include "model_tables.h"

static struct {
	size_t size;
	void *functions[RCCL_TABLE_BYTES / 8 - 1];
} table;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static uint32_t rank_questions;

struct model_communicator {
	int rank;
};

static int real_all_reduce(const void *from, void *to, size_t count, int type, int operation,
			   void *comm, void *stream)
{
	const struct grid one = {1, 1, 1}, many = {256, 1, 1};

	return hipLaunchKernel((const void *)real_all_reduce, one, many, NULL, 0, stream);
}

static int real_comm_destroy(void *comm)
{
	return 0;
}

static int real_comm_user_rank(const void *comm, int *ret_rank)
{
	rank_questions++;
	*ret_rank = ((const struct model_communicator *)comm)->rank;
	return 0;
}

static int real_group_start(void)
{
	return 0;
}

static const char *real_error_text(int code)
{
	return code == 3 ? "error 3 of the model" : NULL;
}

static void **slot(size_t offset)
{
	return (void **)(uintptr_t)((char *)&table + offset);
}

static void make_table(void)
{
	void *tables[] = {&table};

	table.size = sizeof(table);
	*slot(AT_ALL_REDUCE) = (void *)real_all_reduce;
	*slot(AT_COMM_DESTROY) = (void *)real_comm_destroy;
	*slot(AT_COMM_USER_RANK) = (void *)real_comm_user_rank;
	*slot(AT_GROUP_START) = (void *)real_group_start;
	*slot(AT_ERROR_STRING) = (void *)real_error_text;
	model_hand_over("rccl", 22707, 0, tables, 1);
}

static void *function_at(size_t offset)
{
	pthread_once(&table_once, make_table);
	return *slot(offset);
}

SHOWN int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
			void *comm, void *stream)
{
	return ((__typeof__(ncclAllReduce) *)function_at(AT_ALL_REDUCE))(from, to, count, type,
									 operation, comm, stream);
}

SHOWN int ncclCommDestroy(void *comm)
{
	return ((__typeof__(ncclCommDestroy) *)function_at(AT_COMM_DESTROY))(comm);
}

SHOWN int ncclCommUserRank(const void *comm, int *ret_rank)
{
	return ((__typeof__(ncclCommUserRank) *)function_at(AT_COMM_USER_RANK))(comm, ret_rank);
}

SHOWN int ncclGroupStart(void)
{
	return ((__typeof__(ncclGroupStart) *)function_at(AT_GROUP_START))();
}

SHOWN const char *ncclGetErrorString(int code)
{
	return ((__typeof__(ncclGetErrorString) *)function_at(AT_ERROR_STRING))(code);
}

SHOWN uint32_t model_rank_questions(void)
{
	return rank_questions;
}
