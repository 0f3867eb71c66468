/* A program with an executable graph on the played driver; see conform_cuda.h. */
#include "conform_cuda.h"

#include <dlfcn.h>
#include <string.h>

struct conform_calls cu;
cuda_context context;
static cuda_function mark;

void open_cuda(void)
{
	void *found;
	int (*get_function)(cuda_function *, void *, const char *);

#define FIND(name, parameters)                                                                     \
	found = dlsym(RTLD_DEFAULT, #name);                                                        \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	found = dlsym(RTLD_DEFAULT, "cuModuleGetFunction");
	memcpy(&get_function, &found, sizeof(found));
	CHECK(cuDevicePrimaryCtxRetain, &context, 0);
	CHECK(cuCtxSetCurrent, context);
	expect("cuModuleGetFunction", (uint64_t)get_function(&mark, NULL, "bed_mark"), 0);
}

uint64_t sets_now(void)
{
	return between->count("cuGraphExecKernelNodeSetParams_v2");
}

struct cuda_kernel_node_params *fill(struct kernel *kernel, const struct program *program,
				     uint32_t value)
{
	*kernel = (struct kernel){.at = program->buffer,
				  .value = value,
				  .params = {mark, 1, 1, 1, 1, 1, 1},
				  .older = {mark, {1, 1, 1, 1, 1, 1}}};
	kernel->pointers[0] = &kernel->at;
	kernel->pointers[1] = &kernel->value;
	kernel->params.kernelParams = kernel->older.pointers = kernel->pointers;
	return &kernel->params;
}

struct cuda_memcpy3d copy_params(const struct program *program, uint32_t variant)
{
	return (struct cuda_memcpy3d){
		.srcMemoryType = CUDA_MEMORY_UNIFIED,
		.srcDevice = (uintptr_t)program->buffer,
		.dstMemoryType = CUDA_MEMORY_UNIFIED,
		.dstDevice = (uintptr_t)(program->buffer + WORDS),
		.srcPitch = BYTES / 2,
		.dstPitch = BYTES / 2,
		.srcHeight = 1,
		.dstHeight = 1,
		.WidthInBytes = 4 + 4 * variant,
		.Height = 1,
		.Depth = 1,
	};
}

struct cuda_memset_node_params memset_params(const struct program *program, uint32_t variant)
{
	return (struct cuda_memset_node_params){.dst = (uintptr_t)program->buffer,
						.value = variant,
						.elementSize = 4,
						.width = 1,
						.height = 1,
						.pitch = 4};
}

void work(void *user)
{
}

static void add_nodes(struct program *program)
{
	struct cuda_memcpy3d copy = copy_params(program, 0);
	struct cuda_memset_node_params memset = memset_params(program, 0);
	struct cuda_host_node_params host = {work, NULL};
	struct kernel kernel;
	cuda_graph graph = program->graph;

	CHECK(cuGraphAddKernelNode_v2, &program->kernel, graph, NULL, 0, fill(&kernel, program, 1));
	CHECK(cuGraphAddMemcpyNode, &program->copy, graph, &program->kernel, 1, &copy, context);
	CHECK(cuGraphAddMemsetNode, &program->memset, graph, &program->copy, 1, &memset, context);
	CHECK(cuGraphAddHostNode, &program->host, graph, &program->memset, 1, &host);
	CHECK(cuGraphAddEventRecordNode, &program->record, graph, &program->host, 1,
	      program->events[0]);
	CHECK(cuGraphAddEventWaitNode, &program->wait, graph, &program->record, 1,
	      program->events[0]);
	CHECK(cuGraphAddChildGraphNode, &program->nested, graph, &program->wait, 1, program->child);
}

void set_kernel(struct program *program, uint32_t value)
{
	struct kernel kernel;

	CHECK(cuGraphExecKernelNodeSetParams_v2, program->exec, program->kernel,
	      fill(&kernel, program, value));
}

void make(struct program *program)
{
	struct kernel kernel;

	*program = (struct program){0};
	CHECK(cuStreamCreate, &program->stream, CUDA_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc_v2, (cuda_address *)&program->buffer, BYTES);
	for (int i = 0; i < 2; i++)
		CHECK(cuEventCreate, &program->events[i], CUDA_EVENT_NO_TIMING);
	CHECK(cuGraphCreate, &program->child, 0);
	CHECK(cuGraphAddKernelNode_v2, &program->in_child, program->child, NULL, 0,
	      fill(&kernel, program, 9));
	CHECK(cuGraphCreate, &program->graph, 0);
	add_nodes(program);
	CHECK(cuGraphInstantiateWithFlags, &program->exec, program->graph, 0);
	for (uint32_t i = 0; i < 2; i++) {
		set_kernel(program, i);
		CHECK(cuGraphLaunch, program->exec, program->stream);
	}
	set_kernel(program, 0);
	program->sets = sets_now();
}

void destroy(struct program *program)
{
	CHECK(cuStreamSynchronize, program->stream);
	if (program->exec)
		CHECK(cuGraphExecDestroy, program->exec);
	CHECK(cuGraphDestroy, program->graph);
	CHECK(cuGraphDestroy, program->child);
	for (int i = 0; i < 2; i++)
		CHECK(cuEventDestroy_v2, program->events[i]);
	CHECK(cuMemFree_v2, (uintptr_t)program->buffer);
	CHECK(cuStreamDestroy_v2, program->stream);
}
