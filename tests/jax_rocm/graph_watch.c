/*
 * Writes what a program does with its graphs and communicators, as a witness that shares no code
 * with dagtap: preloaded before libdagtap-inject.so, it passes each call on to the next library
 * that has the function.
 *
 * LD_PRELOAD=libgraph-watch.so:... GRAPH_WATCH=FILE program
 *
 * FILE.PID has a line for each call that succeeded, in the order in which the calls ended, with
 * tabs between its fields:
 *
 * function FUNCTION NAME            a host stub was registered, or a module's function found
 * add GRAPH NODE KIND SHAPE...      a node was added; KIND: kernel, child, or other
 * destroy GRAPH                     written first, as the handle may then be another graph's
 * instantiate EXEC GRAPH
 * set EXEC NODE KIND SHAPE...       a node was changed in the executable graph
 * launch EXEC
 * communicator COMM RANK
 * all-reduce COMM BYTES
 *
 * SHAPE is for kernels: the function, then grid and workgroup, both in work-items as in the packet.
 * Handles are the runtime's values. Graphs that are captured from streams are not written, only
 * their launches.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

/* Sizes of RCCL's data types, in the order of their numbers. */
static const size_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct unique_id {
	char bytes[128];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static pid_t owner;

static void open_file(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%d", getenv("GRAPH_WATCH"), (int)getpid());
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	owner = getpid();
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	va_list arguments;

	if (!getenv("GRAPH_WATCH"))
		return;
	pthread_mutex_lock(&lock);
	if (owner != getpid())
		open_file();
	va_start(arguments, format);
	vdprintf(file, format, arguments);
	va_end(arguments);
	pthread_mutex_unlock(&lock);
}

static void tell_kernel(const char *what, void *of, hipGraphNode_t node,
			const hipKernelNodeParams *p)
{
	tell("%s\t%p\t%p\tkernel\t%p\t%u\t%u\t%u\t%u\t%u\t%u\n", what, of, (void *)node, p->func,
	     p->gridDim.x * p->blockDim.x, p->gridDim.y * p->blockDim.y,
	     p->gridDim.z * p->blockDim.z, p->blockDim.x, p->blockDim.y, p->blockDim.z);
}

#define EXPORT __attribute__((visibility("default")))

/* Defines NAME, which passes its arguments on and calls TELLs when the call succeeded. */
#define WATCH(name, parameters, arguments, told)                                                   \
	EXPORT hipError_t name parameters                                                          \
	{                                                                                          \
		hipError_t(*next) parameters = (hipError_t(*) parameters)dlsym(RTLD_NEXT, #name);  \
		hipError_t error = next ? next arguments : hipErrorSharedObjectSymbolNotFound;     \
                                                                                                   \
		if (!error)                                                                        \
			told;                                                                      \
		return error;                                                                      \
	}

/* libamdhip64 exports these for hipcc's start-up code; no header declares them. */
#define REGISTER_PARAMETERS                                                                        \
	(void **modules, const void *stub, char *host_name, const char *name,                      \
	 unsigned thread_limit, void *thread_id, void *block_id, void *block_dim, void *grid_dim,  \
	 int *warp_size)

void __hipRegisterFunction REGISTER_PARAMETERS;
EXPORT void __hipRegisterFunction REGISTER_PARAMETERS
{
	void(*next) REGISTER_PARAMETERS =
		(void(*) REGISTER_PARAMETERS)dlsym(RTLD_NEXT, "__hipRegisterFunction");

	if (!next)
		return;
	next(modules, stub, host_name, name, thread_limit, thread_id, block_id, block_dim, grid_dim,
	     warp_size);
	tell("function\t%p\t%s\n", stub, name);
}

WATCH(hipModuleGetFunction, (hipFunction_t * function, hipModule_t module, const char *name),
      (function, module, name), tell("function\t%p\t%s\n", (void *)*function, name))
WATCH(hipGraphAddKernelNode,
      (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
       const hipKernelNodeParams *params),
      (node, graph, after, count, params), tell_kernel("add", graph, *node, params))
WATCH(hipGraphAddMemcpyNode1D,
      (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, void *to,
       const void *from, size_t bytes, hipMemcpyKind kind),
      (node, graph, after, count, to, from, bytes, kind),
      tell("add\t%p\t%p\tother\n", (void *)graph, (void *)*node))
WATCH(hipGraphAddMemsetNode,
      (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
       const hipMemsetParams *params),
      (node, graph, after, count, params),
      tell("add\t%p\t%p\tother\n", (void *)graph, (void *)*node))
WATCH(hipGraphAddEmptyNode,
      (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *after, size_t count),
      (node, graph, after, count), tell("add\t%p\t%p\tother\n", (void *)graph, (void *)*node))
WATCH(hipGraphAddChildGraphNode,
      (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
       hipGraph_t child),
      (node, graph, after, count, child),
      tell("add\t%p\t%p\tchild\n", (void *)graph, (void *)*node))
EXPORT hipError_t hipGraphDestroy(hipGraph_t graph)
{
	hipError_t (*next)(hipGraph_t) =
		(hipError_t(*)(hipGraph_t))dlsym(RTLD_NEXT, "hipGraphDestroy");

	tell("destroy\t%p\n", (void *)graph);
	return next ? next(graph) : hipErrorSharedObjectSymbolNotFound;
}

WATCH(hipGraphInstantiate,
      (hipGraphExec_t * exec, hipGraph_t graph, hipGraphNode_t *wrong, char *text, size_t bytes),
      (exec, graph, wrong, text, bytes),
      tell("instantiate\t%p\t%p\n", (void *)*exec, (void *)graph))
WATCH(hipGraphExecKernelNodeSetParams,
      (hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *params),
      (exec, node, params), tell_kernel("set", exec, node, params))
WATCH(hipGraphExecMemcpyNodeSetParams1D,
      (hipGraphExec_t exec, hipGraphNode_t node, void *to, const void *from, size_t bytes,
       hipMemcpyKind kind),
      (exec, node, to, from, bytes, kind), tell("set\t%p\t%p\tother\n", (void *)exec, (void *)node))
WATCH(hipGraphExecMemsetNodeSetParams,
      (hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams *params),
      (exec, node, params), tell("set\t%p\t%p\tother\n", (void *)exec, (void *)node))
WATCH(hipGraphExecChildGraphNodeSetParams,
      (hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child), (exec, node, child),
      tell("set\t%p\t%p\tchild\n", (void *)exec, (void *)node))
WATCH(hipGraphLaunch, (hipGraphExec_t exec, hipStream_t stream), (exec, stream),
      tell("launch\t%p\n", (void *)exec))
WATCH(ncclCommInitRankConfig, (void **comm, int ranks, struct unique_id id, int rank, void *config),
      (comm, ranks, id, rank, config), tell("communicator\t%p\t%d\n", *comm, rank))
WATCH(ncclAllReduce,
      (const void *from, void *to, size_t count, int type, int operation, void *comm,
       hipStream_t stream),
      (from, to, count, type, operation, comm, stream),
      tell("all-reduce\t%p\t%zu\n", comm, count *type_bytes[type]))
