/* Records of launches and activities: see played_launches.h. */
#include "played_launches.h"

#include <string.h>

void launches_enter(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};

	assert_int_equal(cuda_launches_add_launch(launches, &launch), 0);
}

void launches_call(struct cuda_launches *launches, const struct record_graph_launch *launch,
		   struct returned call)
{
	const struct {
		struct record_api api;
		uint64_t args[2];
	} record = {{.header = {RECORD_API, sizeof(record) / 8,
				RECORD_CUDA_FUNCTION_FIRST + call.function},
		     .cid = call.cid,
		     .begin_ns = call.cid * 10,
		     .end_ns = call.end_ns ? call.end_ns : call.cid * 10 + 1},
		    {call.args[0], call.args[1]}};

	assert_int_equal(cuda_launches_add_call(launches, &record.api, launch, call.tid), 0);
}

void launches_leave(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
		    struct returned call)
{
	const struct record_graph_launch launch = {
		.exec_id = exec, .replay = replay, .cid = call.cid};

	call.args[0] = 1 + call.cid % STREAMS;
	call.args[1] = CONTEXT;
	launches_call(launches, &launch, call);
}

void launches_name(struct cuda_launches *launches, uint32_t function, const char *name)
{
	struct {
		struct record_api_name name;
		char text[24];
	} record = {{.header = {RECORD_API_NAME, sizeof(record) / 8,
				RECORD_CUDA_FUNCTION_FIRST + function},
		     .text_bytes = sizeof(record.text)},
		    ""};

	strncpy(record.text, name, sizeof(record.text) - 1);
	cuda_launches_add_name(launches, &record.name);
}

void launches_stream_wait(struct cuda_launches *launches, uint64_t stream, uint64_t cid)
{
	launches_name(launches, STREAM_WAIT, "cuStreamSynchronize");
	launches_call(
		launches, NULL,
		(struct returned){.function = STREAM_WAIT, .cid = cid, .args = {stream, CONTEXT}});
}

void launches_context_wait(struct cuda_launches *launches, uint64_t context, uint64_t cid)
{
	launches_name(launches, CONTEXT_WAIT, "cuCtxSynchronize");
	launches_call(launches, NULL,
		      (struct returned){.function = CONTEXT_WAIT, .cid = cid, .args = {context}});
}

void launches_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	launches_enter(launches, exec, replay, cid);
	launches_leave(launches, exec, replay, (struct returned){.cid = cid, .tid = 1});
}

void launches_kernel(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid,
		     uint64_t node)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};
	const struct record_cuda_kernel kernel = {
		.header = {RECORD_CUDA_KERNEL, sizeof(kernel) / 8, 0},
		.cid = cid,
		.graph = (uint32_t)exec,
		.node = exec << 32 | node,
	};

	assert_int_equal(cuda_launches_add_activity(launches, &kernel.header, &launch), 0);
}

static void put_copy(struct cuda_launches *launches, enum record_cuda_copy_type type,
		     const struct record_graph_launch *launch, uint64_t node)
{
	const struct record_cuda_copy copy = {
		.header = {RECORD_CUDA_COPY, sizeof(copy) / 8, type},
		.cid = launch->cid,
		.graph = (uint32_t)launch->exec_id,
		.node = launch->exec_id << 32 | node,
	};

	assert_int_equal(cuda_launches_add_activity(launches, &copy.header, launch), 0);
}

void launches_piece(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};

	put_copy(launches, RECORD_CUDA_COPY_MEMCPY, &launch, KERNELS + 1);
}

void launches_memset(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid,
		     uint64_t node)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};

	put_copy(launches, RECORD_CUDA_COPY_MEMSET, &launch, node);
}

void launches_activities(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			 uint64_t cid)
{
	for (uint64_t node = 1; node <= KERNELS; node++)
		launches_kernel(launches, exec, replay, cid, node);
	launches_piece(launches, exec, replay, cid);
	launches_piece(launches, exec, replay, cid);
}

void launches_whole_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			   uint64_t cid)
{
	launches_launch(launches, exec, replay, cid);
	launches_activities(launches, exec, replay, cid);
}

void launches_destroy(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	const struct record_cuda_graph step = {
		.header = {RECORD_CUDA_GRAPH, sizeof(step) / 8, RECORD_CUDA_EXEC_GONE},
		.cid = cid,
		.exec = (uint32_t)exec,
	};

	assert_int_equal(cuda_launches_add_step(launches, &step), 0);
}

struct deliveries launches_count(const struct cuda_launches *launches, uint64_t graph_launches)
{
	const struct cuda_launch_witnesses witnesses = {.graph_launches = graph_launches};
	struct deliveries found;

	cuda_launches_count(launches, &witnesses, &found);
	return found;
}
