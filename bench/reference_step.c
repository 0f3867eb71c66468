/*
 * Plays one step of the reference run, call by call: modules and thunks as scopes, graph launches
 * and single launches between the many calls that submit nothing.
 */
#include <stdio.h>

#include "reference_run.h"

/* Calls that submit in one thunk; a graph launch is a thunk of its own. */
#define THUNK_CALLS 2

static const struct {
	const char *name;
	uint32_t id;
} modules[] = {{"jit_shuffle_batch", 7}, {"jit_train_step", 12}, {"jit_record_metrics", 15}};

/* ---- scopes ---- */

/* Most calls of a step belong to the training step's module. */
static uint32_t module_of(uint32_t submit, uint32_t submits)
{
	if (submit < submits / 50)
		return 0;
	return submit < submits - submits / 50 ? 1 : 2;
}

static void enter_module(struct reference_run *run, struct reference_worker *worker,
			 uint32_t module)
{
	char text[128];

	while (worker->depth > 1)
		reference_scope_pop(run, worker);
	snprintf(text, sizeof(text), "XlaModule:#hlo_module=%s,program_id=%u#",
		 modules[module].name, modules[module].id);
	reference_scope_push(run, worker, text);
	worker->module = module;
}

static void enter_thunk(struct reference_run *run, struct reference_worker *worker, uint32_t n,
			bool is_graph)
{
	char instruction[64], text[96];

	if (worker->depth > 2)
		reference_scope_pop(run, worker);
	if (is_graph)
		snprintf(instruction, sizeof(instruction), "command_buffer.%u", n);
	else
		reference_instruction_name(n, instruction, sizeof(instruction));
	snprintf(text, sizeof(text), "Thunk:#hlo_op=%s#", instruction);
	reference_scope_push(run, worker, text);
}

/* ---- calls that submit ---- */

static void launch_graph(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	uint32_t gpu = worker->index, graph = reference_launch_graph(n);
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipGraphLaunch);
	struct record_graph_launch *record =
		spool_stream_put(worker->stream, RECORD_GRAPH_LAUNCH, sizeof(*record), 0);

	record->exec_id = reference_exec_id(gpu, graph);
	record->replay = run->replays[gpu][graph]++;
	record->cid = frame.by.cid;
	record->stream = reference_stream_handle(gpu, REFERENCE_COMPUTE);
	reference_call_set(&frame, run->calls[frame.id].subject, reference_exec_handle(gpu, graph));
	reference_call_set(&frame, run->calls[frame.id].stream, record->stream);
	reference_launch(run->machine, &run->graphs[graph], gpu, &frame.by);
	reference_call_end(run, &frame, 12000);
}

/* The library's launch call counts work-items, the other launch call counts blocks. */
static void set_dimensions(struct reference_frame *frame, const struct reference_call *call,
			   const struct reference_work *work)
{
	bool in_items = frame->id == CALL_hipExtModuleLaunchKernel;

	for (int i = 0; call->grid >= 0 && i < 3; i++) {
		uint64_t *size = &frame->args[call->grid + i];

		size[0] = (uint64_t)work->blocks[i] * (in_items ? work->block[i] : 1);
		size[3] = work->block[i];
	}
}

static void launch_kernel(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	uint32_t kernel = (n * 5 + run->step) % REFERENCE_KERNELS_FIRST;
	bool is_library = run->kernels[kernel].is_library;
	struct reference_work work = reference_work_of(run->machine, kernel);
	struct reference_frame frame = reference_call_begin(
		run, worker,
		is_library ? CALL_hipExtModuleLaunchKernel : CALL_hipModuleLaunchKernel);
	const struct reference_call *call = &run->calls[frame.id];
	uint32_t queue = n % 11 == 10 ? REFERENCE_BRANCH : REFERENCE_COMPUTE;

	reference_call_set(&frame, call->subject, reference_function_handle(worker->index, kernel));
	reference_call_set(&frame, call->stream, reference_stream_handle(worker->index, queue));
	set_dimensions(&frame, call, &work);
	reference_dispatch(run->machine, worker->index, queue, &frame.by, &work);
	reference_call_end(run, &frame, is_library ? 3800 : 2900);
}

static void set_copy(struct reference_run *run, struct reference_frame *frame, uint32_t queue,
		     const struct reference_transfer *transfer)
{
	const struct reference_call *call = &run->calls[frame->id];
	uint32_t gpu = frame->worker->index;
	uint64_t near = reference_buffer(gpu, transfer->place), far = near + REFERENCE_FAR_SIDE;
	bool is_download = transfer->kind == REFERENCE_D2H;

	reference_call_set(frame, call->bytes, transfer->bytes);
	reference_call_set(frame, call->stream, reference_stream_handle(gpu, queue));
	reference_call_set(frame, call->dst, is_download ? far : near);
	reference_call_set(frame, call->src, is_download ? near : far);
}

static void copy_by_engine(struct reference_run *run, struct reference_worker *worker,
			   enum reference_copy kind, uint32_t n)
{
	static const struct {
		enum reference_call_id id;
		uint32_t queue;
	} ways[] = {
		[REFERENCE_H2D] = {CALL_hipMemcpyHtoDAsync, REFERENCE_UPLOAD},
		[REFERENCE_D2H] = {CALL_hipMemcpyDtoHAsync, REFERENCE_DOWNLOAD},
		[REFERENCE_P2P] = {CALL_hipMemcpyPeerAsync, REFERENCE_BRANCH},
	};
	struct reference_transfer transfer = {kind, n, (uint64_t)2048 << n % 9};
	struct reference_frame frame = reference_call_begin(run, worker, ways[kind].id);

	set_copy(run, &frame, ways[kind].queue, &transfer);
	reference_copy(run->machine, worker->index, &frame.by, &transfer);
	reference_call_end(run, &frame, 5200);
}

/* Records a copy or fill within the device, which ROCclr's kernels do. */
static void blit(struct reference_run *run, struct reference_worker *worker,
		 enum reference_call_id id, uint32_t n)
{
	bool is_fill = id == CALL_hipMemsetAsync;
	struct reference_transfer transfer = {.place = n, .bytes = 65536};
	struct reference_work work =
		reference_work_of(run->machine, is_fill ? REFERENCE_FILL : REFERENCE_COPY);
	struct reference_frame frame = reference_call_begin(run, worker, id);

	set_copy(run, &frame, REFERENCE_COMPUTE, &transfer);
	reference_dispatch(run->machine, worker->index, REFERENCE_COMPUTE, &frame.by, &work);
	reference_call_end(run, &frame, 4100);
}

/* A fill whose size is no whole number of words is submitted in two pieces. */
static void fill_in_two(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	struct reference_transfer transfer = {.place = n, .bytes = 40964};
	struct reference_work work = reference_work_of(run->machine, REFERENCE_FILL);
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipMemsetAsync);

	set_copy(run, &frame, REFERENCE_COMPUTE, &transfer);
	for (int i = 0; i < 2; i++) {
		reference_dispatch(run->machine, worker->index, REFERENCE_COMPUTE, &frame.by,
				   &work);
		work.blocks[0] = 1;
	}
	reference_call_end(run, &frame, 4900);
}

/* Plays the N-th call of a step that submits and is not a graph launch. */
static void submit_single(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	uint32_t singles = worker->share.submits - REFERENCE_LAUNCHES;

	if (reference_spread_falls(n, worker->share.doubles, singles))
		fill_in_two(run, worker, n);
	else if (n % 40 == 7)
		copy_by_engine(run, worker, REFERENCE_H2D, n);
	else if (n % 40 == 23)
		copy_by_engine(run, worker, REFERENCE_D2H, n);
	else if (n % 200 == 101)
		copy_by_engine(run, worker, REFERENCE_P2P, n);
	else if (n % 40 == 31)
		blit(run, worker, CALL_hipMemcpyDtoDAsync, n);
	else if (n % 20 == 13)
		blit(run, worker, CALL_hipMemsetAsync, n);
	else
		launch_kernel(run, worker, n);
}

static void submit(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	uint32_t submits = worker->share.submits, module = module_of(n, submits);
	uint32_t launch = reference_spread_before(n, REFERENCE_LAUNCHES, submits);
	bool is_graph = reference_spread_falls(n, REFERENCE_LAUNCHES, submits);
	bool follows_graph = n && reference_spread_falls(n - 1, REFERENCE_LAUNCHES, submits);

	if (worker->depth < 2 || module != worker->module)
		enter_module(run, worker, module);
	if (is_graph || follows_graph || n % THUNK_CALLS == 0 || worker->depth < 3)
		enter_thunk(run, worker, is_graph ? launch : n / THUNK_CALLS, is_graph);
	if (is_graph)
		launch_graph(run, worker, launch);
	else
		submit_single(run, worker, n - launch);
}

/* ---- calls that submit nothing ---- */

struct habit {
	enum reference_call_id id;
	uint32_t cost_ns;
	bool waits_on_device; /* submits a barrier packet */
};

static void follow_habit(struct reference_run *run, struct reference_worker *worker,
			 const struct habit *habit)
{
	struct reference_frame frame = reference_call_begin(run, worker, habit->id);

	reference_call_set(
		&frame, run->calls[habit->id].stream,
		reference_stream_handle(worker->index % REFERENCE_GPUS, REFERENCE_COMPUTE));
	if (habit->waits_on_device)
		reference_barrier(run->machine, worker->index, REFERENCE_COMPUTE, &frame.by);
	reference_call_end(run, &frame, habit->cost_ns);
}

static void synchronize(struct reference_run *run, struct reference_worker *worker)
{
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipStreamSynchronize);
	uint64_t idle_ns = reference_gpu_idle_ns(run->machine, worker->index) + 4000;

	if (frame.by.ns < idle_ns)
		frame.by.ns = idle_ns;
	reference_call_set(&frame, run->calls[frame.id].stream,
			   reference_stream_handle(worker->index, REFERENCE_COMPUTE));
	reference_call_end(run, &frame, 1000);
}

void reference_step_call(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	static const struct habit habits[] = {
		{CALL_hipGetDevice, 90, false},
		{CALL_hipSetDevice, 140, false},
		{CALL_hipPeekAtLastError, 60, false},
		{CALL_hipStreamIsCapturing, 110, false},
		{CALL_hipGetLastError, 60, false},
		{CALL_hipEventRecord, 1900, true},
		{CALL_hipStreamWaitEvent, 600, false},
		{CALL_hipGetDevice, 90, false},
		{CALL_hipFuncGetAttribute, 150, false},
		{CALL_hipGetLastError, 60, false},
		{CALL_hipPointerGetAttributes, 700, false},
		{CALL_hipEventCreateWithFlags, 800, false},
		{CALL_hipPeekAtLastError, 60, false},
		{CALL_hipEventQuery, 250, false},
		{CALL_hipGetDevice, 90, false},
		{CALL_hipEventDestroy, 500, false},
	};
	uint32_t calls = worker->share.calls - worker->share.preamble;
	uint32_t submits = worker->share.submits;
	uint32_t before = reference_spread_before(n, submits, calls);

	if (reference_spread_falls(n, submits, calls))
		submit(run, worker, before);
	else if (n + 1 == calls)
		synchronize(run, worker);
	else
		follow_habit(run, worker,
			     &habits[(n - before) % (sizeof(habits) / sizeof(*habits))]);
}

void reference_other_call(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	static const struct habit habits[] = {
		{CALL_hipEventQuery, 220, false},	    {CALL_hipGetDevice, 90, false},
		{CALL_hipStreamQuery, 310, false},	    {CALL_hipEventQuery, 220, false},
		{CALL_hipPointerGetAttributes, 650, false}, {CALL_hipSetDevice, 140, false},
		{CALL_hipDeviceGetAttribute, 80, false},
	};

	follow_habit(run, worker, &habits[n % (sizeof(habits) / sizeof(*habits))]);
	/* These threads call at intervals during the whole step. */
	run->next_ns[worker->index] += 200000 + reference_random(&worker->random) % 100000;
}
