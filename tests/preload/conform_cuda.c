/*
 * conform-cuda BETWEEN: makes each call of calls_cuda.list on an executable graph with a set that
 * is not in it yet, and checks that the preload library does with it what the list says. Between
 * the library and the played driver (tests/patch_cuda), the library BETWEEN counts what reaches the
 * driver, and swallows the call that is checked where the driver would need more. Without the
 * preload library, or if that is off, it says so and checks nothing.
 */
#include "conform_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/cuda_graph_doors.h"

enum { VERSION = 13000 };

static const struct {
	const char *name;
	enum call_class class;
} calls[] = {
#define CALL(name, class) {#name, class},
#include "calls_cuda.list"
#undef CALL
};

/* What the wrappers of NOTED calls on graphs do. */
enum graph_kind { NO_GRAPH, MAKING, CHANGING, NODE, CAPTURING, CAPTURED, CONTEXT };

static const struct {
	const char *name;
	enum graph_kind kind;
} graph_calls[] = {
#define MAKING_ROW(name, ...)	 {#name, MAKING},
#define CHANGING_ROW(name, ...)	 {#name, CHANGING},
#define NODE_ROW(name, ...)	 {#name, NODE},
#define CAPTURING_ROW(name, ...) {#name, CAPTURING},
#define CAPTURED_ROW(name, ...)	 {#name, CAPTURED},
#define CONTEXT_ROW(name, ...)	 {#name, CONTEXT},
	CUDA_MAKING_DOORS(MAKING_ROW) CUDA_CHANGING_DOORS(CHANGING_ROW)
		CUDA_MOVING_DOORS(CHANGING_ROW) CUDA_NODE_DOORS(NODE_ROW)
			CUDA_CAPTURING_DOORS(CAPTURING_ROW) CUDA_CAPTURED_DOORS(CAPTURED_ROW)
				CUDA_CONTEXT_DOORS(CONTEXT_ROW)};

typedef int any_call(void *, void *, void *, void *, void *, void *);

struct between *between;
static void *between_library;
static const char *checked; /* the call */

void expect(const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	fprintf(stderr, "%s: %s: %llu, expected %llu\n", checked ? checked : "set-up", what,
		(unsigned long long)got, (unsigned long long)want);
	exit(1);
}

static bool is_wrapped(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "dagpatch-preload");
}

/* The function behind the preload library. */
static any_call *raw(const char *name)
{
	void *found = dlsym(between_library, name);
	any_call *call;

	memcpy(&call, &found, sizeof(call));
	return call;
}

static any_call *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	any_call *call;

	memcpy(&call, &found, sizeof(call));
	return call;
}

/* ---- what is checked ---- */

/* The first executable was given what was wanted, by one call. */
static void expect_settled(const struct program *program)
{
	expect("calls that gave the executable what was wanted", sets_now() - program->sets, 1);
}

/* Sets that the driver has accepted before reach it only if the executable passes through. */
static void expect_passing(struct program *program, bool is_passing)
{
	uint64_t before = sets_now();

	set_kernel(program, 1);
	set_kernel(program, 0);
	expect("sets that reach the driver", sets_now() - before, is_passing ? 2 : 0);
}

/* Makes the checked call, which ends in libbetween. */
static void make_swallowed(any_call *call, void *first, void *second, void *third, void *fourth,
			   void *fifth, void *sixth)
{
	uint64_t before = between->count(checked);
	/* The library destroys its clone of the graph, too. */
	uint64_t reached = strcmp(checked, "cuGraphDestroy") == 0 ? 2 : 1;

	between->swallowed = checked;
	between->first = first;
	expect("the result", (uint64_t)call(first, second, third, fourth, fifth, sixth), 0);
	between->swallowed = NULL;
	between->first = NULL;
	expect("calls that reach the driver", between->count(checked) - before, reached);
}

static void check_passes(any_call *call, struct program *program)
{
	uint64_t place[64] = {0};
	void *first = strcmp(checked, "cuGraphDestroy") == 0	   ? (void *)program->graph
		      : strcmp(checked, "cuGraphDestroyNode") == 0 ? (void *)program->kernel
								   : (void *)program->exec;

	make_swallowed(call, first, program->kernel, place, place, NULL, NULL);
	expect_settled(program);
	expect_passing(program, true);
}

static void check_passed_on(any_call *call, struct program *program)
{
	uint64_t place;

	make_swallowed(call, program->exec, program->kernel, &place, NULL, NULL, NULL);
	expect_settled(program);
	expect_passing(program, false);
}

/* ---- graphs ---- */

static void set_child(const struct program *program, cuda_graph child)
{
	CHECK(cuGraphExecChildGraphNodeSetParams, program->exec, program->nested, child);
}

/* How often the child graph is read when it is set twice. */
static uint64_t reads_of(const struct program *program, cuda_graph child)
{
	uint64_t before = between->count("cuGraphGetEdges_v2");

	set_child(program, child);
	set_child(program, child);
	return between->count("cuGraphGetEdges_v2") - before;
}

static void check_graph_call(any_call *call, enum graph_kind kind, struct program *program)
{
	uint64_t place[64] = {0};
	void *unseen = NULL, *made;
	struct kernel kernel;
	cuda_node node;

	raw("cuGraphCreate")(&unseen, NULL, NULL, NULL, NULL, NULL);
	raw("cuGraphAddKernelNode_v2")(&node, unseen, NULL, NULL, fill(&kernel, program, 9), NULL);
	expect("reads of a graph that was seen", reads_of(program, program->child), 1);
	expect("reads again", reads_of(program, program->child), 0);
	expect("reads of a graph that was not seen", reads_of(program, unseen), 2);
	made = unseen;
	switch (kind) {
	case MAKING:
		make_swallowed(call, &made, program->child, NULL, NULL, NULL, NULL);
		expect("reads of the graph that was made", reads_of(program, unseen), 1);
		break;
	case CHANGING:
		make_swallowed(call,
			       strstr(checked, "Dependencies") ? (void *)program->child : place,
			       strstr(checked, "Dependencies") ? NULL : (void *)program->child,
			       NULL, NULL, place, place);
		expect("reads of the changed graph", reads_of(program, program->child), 1);
		break;
	case NODE:
		make_swallowed(call, program->in_child, place, place, NULL, NULL, NULL);
		expect("reads of the changed graph", reads_of(program, program->child), 1);
		break;
	case CAPTURING:
		/* The graph is the second argument, or the third one. */
		make_swallowed(call, program->stream, program->child, program->child, NULL, NULL,
			       NULL);
		expect("reads of the captured graph", reads_of(program, program->child), 2);
		break;
	case CAPTURED:
		make_swallowed(call, program->stream, &made, NULL, NULL, NULL, NULL);
		expect("reads of the graph that was captured", reads_of(program, unseen), 1);
		break;
	default:
		make_swallowed(call, NULL, NULL, NULL, NULL, NULL, NULL);
		expect("reads after the context ended", reads_of(program, program->child), 2);
	}
	between->swallowed = NULL;
	cu.cuGraphDestroy(unseen);
}

/* ---- functions, streams ---- */

/* A function may have the handle of an old one, so the driver is asked once. */
static void check_functions_end(any_call *call, struct program *program)
{
	uint64_t before;

	make_swallowed(call, NULL, NULL, NULL, NULL, NULL, NULL);
	before = sets_now();
	set_kernel(program, 1);
	set_kernel(program, 1);
	expect("sets of functions that may be others", sets_now() - before, 1);
}

/* The executable stays virtual; lifetimes_cuda.c checks that the last launch is marked. */
static void check_stream_destroyed(any_call *call, struct program *program)
{
	make_swallowed(call, program->stream, NULL, NULL, NULL, NULL, NULL);
	expect("sets that reached the driver", sets_now() - program->sets, 0);
	expect_passing(program, false);
}

/* The executable stays virtual; memory_cuda.c checks that the driver is asked for memory again. */
static void check_memory_ends(any_call *call, struct program *program)
{
	/* fits the parameters that have 32 bits */
	make_swallowed(call, (void *)16, NULL, NULL, NULL, NULL, NULL);
	expect_passing(program, false);
}

static void check_get_proc(any_call *call, struct program *program)
{
	/* What a driver that has the call would fill. */
	void *found = between->next("cuGraphLaunch");

	expect("a wrapper", is_wrapped(found), false);
	expect("the result",
	       (uint64_t)call((void *)"cuGraphLaunch", &found, (void *)(uintptr_t)VERSION, NULL,
			      NULL, NULL),
	       0);
	expect("a wrapper", is_wrapped(found), true);
}

static void check_noted(any_call *call, struct program *program)
{
	for (size_t i = 0; i < sizeof(graph_calls) / sizeof(*graph_calls); i++)
		if (strcmp(graph_calls[i].name, checked) == 0) {
			check_graph_call(call, graph_calls[i].kind, program);
			if (graph_calls[i].kind == CONTEXT)
				check_functions_end(call, program);
			return;
		}
	if (strstr(checked, "GetProcAddress"))
		check_get_proc(call, program);
	else if (strstr(checked, "Unload"))
		check_functions_end(call, program);
	else if (!strstr(checked, "Stream"))
		check_memory_ends(call, program);
	else
		check_stream_destroyed(call, program);
}

/* ---- virtual ---- */

/* Sets a node to variant 0 or 1. */
static int set_variant(any_call *call, struct program *program, uint32_t variant)
{
	struct cuda_memcpy3d copy = copy_params(program, variant + 1);
	struct cuda_memset_node_params memset = memset_params(program, variant + 1);
	struct cuda_host_node_params host = {work, &program->buffer[variant]};
	struct kernel kernel;

	fill(&kernel, program, 10 + variant);
	if (strcmp(checked, "cuGraphExecKernelNodeSetParams") == 0)
		return call(program->exec, program->kernel, &kernel.older, NULL, NULL, NULL);
	if (strcmp(checked, "cuGraphExecKernelNodeSetParams_v2") == 0)
		return call(program->exec, program->kernel, &kernel.params, NULL, NULL, NULL);
	if (strcmp(checked, "cuGraphExecMemcpyNodeSetParams") == 0)
		return call(program->exec, program->copy, &copy, context, NULL, NULL);
	if (strcmp(checked, "cuGraphExecMemsetNodeSetParams") == 0)
		return call(program->exec, program->memset, &memset, context, NULL, NULL);
	if (strcmp(checked, "cuGraphExecHostNodeSetParams") == 0)
		return call(program->exec, program->host, &host, NULL, NULL, NULL);
	if (strcmp(checked, "cuGraphExecEventRecordNodeSetEvent") == 0)
		return call(program->exec, program->record, program->events[variant], NULL, NULL,
			    NULL);
	if (strcmp(checked, "cuGraphExecEventWaitNodeSetEvent") == 0)
		return call(program->exec, program->wait, program->events[variant], NULL, NULL,
			    NULL);
	if (strcmp(checked, "cuGraphNodeSetEnabled") == 0)
		return call(program->exec, program->kernel, (void *)(uintptr_t)variant, NULL, NULL,
			    NULL);
	expect("a child graph", strcmp(checked, "cuGraphExecChildGraphNodeSetParams") == 0, true);
	CHECK(cuGraphKernelNodeSetParams_v2, program->in_child, &kernel.params);
	return call(program->exec, program->nested, program->child, NULL, NULL, NULL);
}

/* The driver is asked once for each variant, and for events each time. */
static void check_set(any_call *call, struct program *program)
{
	/* Its notes are made again by the newer function. */
	const char *reached = strcmp(checked, "cuGraphExecKernelNodeSetParams") == 0
				      ? "cuGraphExecKernelNodeSetParams_v2"
				      : checked;
	uint64_t before = between->count(reached);

	for (uint32_t i = 0; i < 6; i++)
		expect("the result", (uint64_t)set_variant(call, program, i % 2), CUDA_OK);
	expect("sets that reach the driver", between->count(reached) - before,
	       strstr(checked, "Event") ? 6 : 2);
	expect_passing(program, false);
}

/* An executable that becomes virtual has a clone of its graph. */
static void check_instantiate(any_call *call, struct program *program)
{
	struct cuda_instantiate {
		uint64_t flags;
		void *stream, *node;
		uint32_t result;
	} params = {0};
	uint64_t before = between->count("cuGraphClone");
	void *exec = &params; /* swallowed calls do not make one */

	make_swallowed(call, &exec, program->graph, strstr(checked, "Params") ? &params : NULL,
		       NULL, NULL, NULL);
	expect("clones", between->count("cuGraphClone") - before, 1);
	between->swallowed = "cuGraphExecDestroy";
	CHECK(cuGraphExecDestroy, exec);
	between->swallowed = NULL;
}

/* The thread's default stream is named by a handle, so one function is enough. */
static void check_launch(any_call *call, struct program *program)
{
	uint64_t before = between->count("cuGraphLaunch");

	expect("the result", (uint64_t)call(program->exec, program->stream, NULL, NULL, NULL, NULL),
	       CUDA_OK);
	expect("launches", between->count("cuGraphLaunch") - before, 1);
	expect_settled(program);
	expect_passing(program, false);
}

static void check_upload(any_call *call, struct program *program)
{
	make_swallowed(call, program->exec, program->stream, NULL, NULL, NULL, NULL);
	expect_settled(program);
	expect_passing(program, false);
}

static void check_destroy(any_call *call, struct program *program)
{
	uint64_t before = between->count("cuGraphDestroy");

	CHECK(cuStreamSynchronize, program->stream);
	expect("the result", (uint64_t)call(program->exec, NULL, NULL, NULL, NULL, NULL), CUDA_OK);
	expect("clones that were destroyed", between->count("cuGraphDestroy") - before, 1);
	program->exec = NULL;
}

static void check_virtual(any_call *call, struct program *program)
{
	if (strstr(checked, "Instantiate"))
		check_instantiate(call, program);
	else if (strstr(checked, "Launch"))
		check_launch(call, program);
	else if (strstr(checked, "Upload"))
		check_upload(call, program);
	else if (strstr(checked, "ExecDestroy"))
		check_destroy(call, program);
	else
		check_set(call, program);
}

/* ---- */

static void check(const char *name, enum call_class class)
{
	any_call *call = find(name);
	struct program program;

	checked = name;
	expect("a function", call != NULL, true);
	expect("whether it is wrapped", is_wrapped((void *)call), class != DRIVERS);
	if (class == DRIVERS)
		return;
	make(&program);
	if (class == PASSES)
		check_passes(call, &program);
	else if (class == PASSED_ON)
		check_passed_on(call, &program);
	else if (class == NOTED)
		check_noted(call, &program);
	else
		check_virtual(call, &program);
	destroy(&program);
}

int main(int argc, char **argv)
{
	size_t count = sizeof(calls) / sizeof(*calls);
	const char *mode = getenv("DAGPATCH_PRELOAD");

	between = dlsym(RTLD_DEFAULT, BETWEEN_SYMBOL);
	if (!is_wrapped(dlsym(RTLD_DEFAULT, "cuGraphLaunch")) || !between ||
	    (mode && strcmp(mode, "0") == 0)) {
		printf("nothing is preloaded, or it is off\n");
		return 0;
	}
	between_library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
	expect("libbetween", argc == 2 && between_library, true);
	open_cuda();
	for (size_t i = 0; i < count; i++)
		check(calls[i].name, calls[i].class);
	printf("%zu calls do what the list says\n", count);
	return 0;
}
