/* Turns a row of the file into a row of the model, or into a struct that becomes one later
 * (kineto_reader_load.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

#define STEP_PREFIX "ProfilerStep#"

/* ---- args ---- */

static uint32_t clamped(int64_t value)
{
	if (value < 0)
		return 0;
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint64_t correlation_of(const struct kread_load *load)
{
	int64_t cid = kread_int_or(load, &load->event, KREAD_CORRELATION, 0);

	return cid > 0 ? (uint64_t)cid : 0;
}

static uint64_t external_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t old = kread_int_or(load, event, KREAD_OLD_EXTERNAL_ID, 0);

	return (uint64_t)kread_int_or(load, event, KREAD_EXTERNAL_ID, old);
}

#define EXTERNAL_ARGS (KREAD_ARG(KREAD_EXTERNAL_ID) | KREAD_ARG(KREAD_OLD_EXTERNAL_ID))
#define ID_ARGS	      (KREAD_ARG(KREAD_CORRELATION) | EXTERNAL_ARGS)
#define PLACE_ARGS    (ID_ARGS | KREAD_ARG(KREAD_DEVICE) | KREAD_ARG(KREAD_STREAM))
#define WORK_ARGS     (PLACE_ARGS | KREAD_ARG(KREAD_GRAPH_ID) | KREAD_ARG(KREAD_GRAPH_NODE_ID))

/* ---- rows by their ids ---- */

static bool is_same(struct kread_id a, struct kread_id b)
{
	return a.value == b.value && a.is_text == b.is_text;
}

int64_t kread_process(struct kread_load *load, struct kread_id pid)
{
	uint32_t known = load->processes.count;
	struct trace_process *row;
	uint32_t number;

	if (load->last_process != TRACE_NONE && is_same(pid, load->last_pid))
		return load->last_process;
	number = numbers_get(&load->processes, pid.is_text, pid.value);
	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == known) {
		row = trace_add(load->trace, processes);
		if (!row)
			return -ENOMEM;
		row->pid = pid.is_text ? 0 : (uint32_t)pid.value;
		row->exe = pid.is_text ? (trace_string)pid.value : 0;
	}
	load->last_pid = pid;
	load->last_process = number;
	load->last_thread = TRACE_NONE;
	return number;
}

/* The first half of a thread's key: numbers and texts as tid do not collide. */
static uint64_t thread_space(uint32_t process, bool is_text)
{
	return (uint64_t)process << 1 | is_text;
}

int64_t kread_thread(struct kread_load *load, uint32_t process, struct kread_id tid)
{
	uint32_t known = load->threads.count;
	struct trace_thread *row;
	uint32_t number;

	if (load->last_thread != TRACE_NONE && is_same(tid, load->last_tid))
		return load->last_thread;
	number = numbers_get(&load->threads, thread_space(process, tid.is_text), tid.value);
	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == known) {
		row = trace_add(load->trace, threads);
		if (!row)
			return -ENOMEM;
		*row = (struct trace_thread){
			.process = process,
			.tid = tid.is_text ? 0 : (uint32_t)(tid.value ^ tid.value >> 32),
			.name = tid.is_text ? (trace_string)tid.value : 0,
		};
	}
	load->last_tid = tid;
	load->last_thread = number;
	return number;
}

static enum record_domain domain_of(const char *name)
{
	if (!strncmp(name, "nccl", 4))
		return RECORD_DOMAIN_RCCL;
	return strncmp(name, "hip", 3) ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP;
}

static int64_t find_api(struct kread_load *load, uint32_t process, trace_string name)
{
	uint32_t known = load->apis.count;
	uint32_t number = numbers_get(&load->apis, process, name);
	struct trace_api *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(load->trace, apis);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_api){
		.process = process,
		.function = number + 1,
		.name = name,
		.domain = domain_of(kread_string(load, name)),
	};
	return number;
}

/* ---- the host ---- */

/* Appends an External id; called once for each row of the table beside it. */
static int keep_external(struct kread_externals *externals, uint64_t id)
{
	uint64_t *row = table_add((void **)&externals->rows, &externals->count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = id;
	return 0;
}

static int take_call(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t process = kread_process(load, event->pid), thread = -1, api = -1, set;
	struct trace_call *row;

	if (process >= 0)
		thread = kread_thread(load, (uint32_t)process, event->tid);
	if (thread >= 0)
		api = find_api(load, (uint32_t)process, event->name);
	row = api >= 0 ? trace_add(load->trace, calls) : NULL;
	if (!row || keep_external(&load->call_externals, external_of(load)) < 0)
		return -ENOMEM;
	*row = (struct trace_call){
		.cid = correlation_of(load),
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
		.process = (uint32_t)process,
		.thread = (uint32_t)thread,
		.parent = TRACE_NONE,
		.scope = TRACE_NONE,
		.stream = TRACE_NONE,
		.launch = TRACE_NONE,
		.api = (uint32_t)api,
		.arg_first = TRACE_NONE,
	};
	if (kread_take_hip_call(load, (uint32_t)process) < 0)
		return -ENOMEM;
	set = kread_attribute_set(load, ID_ARGS);
	return set < 0 ? (int)set
		       : order_keep_set(&load->call_sets, load->trace->calls_count, (uint32_t)set);
}

static int add_scope_attribute(struct kread_load *load, struct trace_scope *scope,
			       struct trace_scope_attribute attribute)
{
	struct trace_scope_attribute *row = trace_add(load->trace, scope_attributes);

	if (!row)
		return -ENOMEM;
	*row = attribute;
	scope->attribute_count++;
	return 0;
}

/* Operators, Python functions and annotations all become scopes; the attribute "cat" tells them
 * apart. A step of PyTorch's profiler is named "ProfilerStep#N". */
static int add_scope_attributes(struct kread_load *load, struct trace_scope *scope)
{
	const char *name = kread_string(load, load->event.name);
	struct trace_scope_attribute attribute = {.key = KREAD_CAT, .kind = RECORD_ATTRIBUTE_TEXT};

	scope->attribute_first = load->trace->scope_attributes_count;
	scope->attribute_count = 0;
	attribute.value.text = load->event.category;
	if (add_scope_attribute(load, scope, attribute) < 0)
		return -ENOMEM;
	if (scope->kind == RECORD_SCOPE_STEP) {
		attribute.key = strtab_intern_z(load->strings, RECORD_STEP_KEY);
		attribute.kind = RECORD_ATTRIBUTE_INT64;
		attribute.value.int64 = strtoll(name + strlen(STEP_PREFIX), NULL, 10);
		if (add_scope_attribute(load, scope, attribute) < 0)
			return -ENOMEM;
	}
	if (kread_put_attributes(load) < 0)
		return -ENOMEM;
	scope->attribute_count += load->event.attribute_count;
	return 0;
}

static enum record_scope_kind scope_kind(const struct kread_load *load)
{
	const char *name = kread_string(load, load->event.name);

	if (load->event.phase == 'i')
		return RECORD_SCOPE_MARK;
	return strncmp(name, STEP_PREFIX, strlen(STEP_PREFIX)) ? RECORD_SCOPE_DAGTAP
							       : RECORD_SCOPE_STEP;
}

static int take_scope(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t process = kread_process(load, event->pid), thread = -1;
	struct trace_scope *row;

	if (process >= 0)
		thread = kread_thread(load, (uint32_t)process, event->tid);
	row = thread >= 0 ? trace_add(load->trace, scopes) : NULL;
	if (!row || keep_external(&load->scope_externals, external_of(load)) < 0)
		return -ENOMEM;
	*row = (struct trace_scope){
		.process = (uint32_t)process,
		.parent = TRACE_NONE,
		.kind = scope_kind(load),
		.text = event->name,
		.name = event->name,
		.thread = (uint32_t)thread,
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
	};
	return add_scope_attributes(load, row);
}

/* The kind of overhead by CUPTI's number (CUpti_ActivityOverheadKind); 0 = unknown. */
static uint32_t overhead_kind(const char *name)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {
		{"Driver Compiler", 1},
		{"Buffer Flush", 1 << 16},
		{"Instrumentation", 2 << 16},
		{"Resource", 3 << 16},
		{"Runtime Triggered Module Loading", 4 << 16},
		{"Lazy Function Loading", 5 << 16},
		{"Command Buffer Full", 6 << 16},
		{"Activity Buffer Request", 7 << 16},
		{"UVM Activity Init", 8 << 16},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	}
	return 0;
}

/* Overhead rows have pid -1: the file does not state the process, so they go to the first. */
static int take_overhead(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	struct trace_overhead *row = trace_add(load->trace, overheads);

	if (!row)
		return -ENOMEM;
	*row = (struct trace_overhead){
		.thread = TRACE_NONE,
		.kind = overhead_kind(kread_string(load, event->name)),
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
	};
	return 0;
}

/* ---- the GPU ---- */

static enum trace_activity_kind kind_of(trace_string category)
{
	if (category == KREAD_MEMCPY || category == KREAD_OLD_MEMCPY)
		return TRACE_COPY;
	if (category == KREAD_MEMSET || category == KREAD_OLD_MEMSET)
		return TRACE_MEMSET;
	return TRACE_KERNEL;
}

/* The direction in a name such as "Memcpy HtoD (Pinned -> Device)". A is an array, which is GPU
 * memory. */
static enum trace_copy_direction direction_of(const char *name)
{
	static const struct {
		const char *text;
		enum trace_copy_direction direction;
	} words[] = {
		{"HtoD", TRACE_H2D}, {"DtoH", TRACE_D2H}, {"DtoD", TRACE_D2D}, {"HtoH", TRACE_H2H},
		{"PtoP", TRACE_P2P}, {"HtoA", TRACE_H2D}, {"AtoH", TRACE_D2H}, {"AtoA", TRACE_D2D},
		{"AtoD", TRACE_D2D}, {"DtoA", TRACE_D2D},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(name, words[i].text))
			return words[i].direction;
	}
	return TRACE_COPY_UNKNOWN;
}

/* Sets direction and agents of a copy; the agents are device numbers until map_work replaces them.
 * Returns the args that it has used. */
static uint64_t take_copy(const struct kread_load *load, uint32_t device, struct trace_work *work)
{
	const struct kread_event *event = &load->event;
	int64_t from, to;

	work->direction = direction_of(kread_string(load, event->name));
	if (kread_int(load, event, KREAD_FROM_DEVICE, &from) &&
	    kread_int(load, event, KREAD_TO_DEVICE, &to) && from >= 0 && to >= 0) {
		work->src_agent = clamped(from);
		work->dst_agent = clamped(to);
		return KREAD_ARG(KREAD_FROM_DEVICE) | KREAD_ARG(KREAD_TO_DEVICE);
	}
	if (work->direction == TRACE_H2D || work->direction == TRACE_D2D)
		work->dst_agent = device;
	if (work->direction == TRACE_D2H || work->direction == TRACE_D2D)
		work->src_agent = device;
	return 0;
}

/* Sets the dimensions of a kernel; the file's grid counts blocks. Returns the args that it has
 * used. */
static uint64_t take_dimensions(const struct kread_event *event, struct trace_work *work)
{
	if ((event->args & KREAD_DIMENSION_ARGS) != KREAD_DIMENSION_ARGS)
		return 0;
	for (int i = 0; i < 3; i++) {
		work->grid[i] = (uint64_t)event->grid[i] * event->block[i];
		work->workgroup[i] = event->block[i];
	}
	return KREAD_DIMENSION_ARGS;
}

/* Interns the work kind of the row. Returns the args that it states; RET_WORK is TRACE_NONE if
 * there is no memory. */
static uint64_t take_work(struct kread_load *load, uint32_t device, uint32_t *ret_work)
{
	const struct kread_event *event = &load->event;
	enum trace_activity_kind kind = kind_of(event->category);
	struct trace_work work;
	uint64_t taken;
	int64_t bytes;

	work_blank(&work, kind);
	work.name = event->name;
	taken = take_dimensions(event, &work);
	if (kind == TRACE_COPY)
		taken |= take_copy(load, device, &work);
	else if (kind == TRACE_MEMSET)
		work.dst_agent = device;
	if (kind == TRACE_KERNEL) {
		work.registers = clamped(kread_int_or(load, event, KREAD_REGISTERS, 0));
		work.group_bytes = clamped(kread_int_or(load, event, KREAD_SHARED_MEMORY, 0));
		taken |= KREAD_ARG(KREAD_REGISTERS) | KREAD_ARG(KREAD_SHARED_MEMORY);
	} else if (kread_int(load, event, KREAD_BYTES, &bytes) && bytes >= 0) {
		work.bytes = (uint64_t)bytes;
		taken |= KREAD_ARG(KREAD_BYTES);
	}
	*ret_work = work_intern(&load->works, &work);
	return taken;
}

/* The row's device number: the arg "device", else the pid, which is the device's number on GPU
 * rows. */
static uint32_t device_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t device = -1;

	if (!kread_int(load, event, KREAD_DEVICE, &device) && !event->pid.is_text)
		device = (int64_t)event->pid.value;
	return device >= 0 && device < KREAD_NO_DEVICE ? (uint32_t)device : KREAD_NO_DEVICE;
}

static int64_t stream_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t tid = event->tid.is_text ? KREAD_NO_STREAM : (int64_t)event->tid.value;

	return kread_int_or(load, event, KREAD_STREAM, tid);
}

static int take_activity(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	struct kread_activity *raw_row =
		table_add((void **)&load->raw, &load->raw_count, sizeof(*load->raw));
	struct trace_activity *row = trace_add(load->trace, activities);
	uint64_t taken;
	int64_t set;

	if (!raw_row || !row)
		return -ENOMEM;
	raw_row->device = device_of(load);
	raw_row->stream = stream_of(load);
	raw_row->external_id = external_of(load);
	raw_row->graph = (uint64_t)kread_int_or(load, event, KREAD_GRAPH_ID, 0);
	raw_row->node = (uint64_t)kread_int_or(load, event, KREAD_GRAPH_NODE_ID, 0);
	taken = take_work(load, raw_row->device, &raw_row->work);
	if (raw_row->work == TRACE_NONE)
		return -ENOMEM;
	*row = (struct trace_activity){
		.start_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
		.cid = correlation_of(load),
		.id = load->raw_count - 1,
		.call = TRACE_NONE,
		.queue = TRACE_NONE,
		.thread = TRACE_NONE,
		.scope = TRACE_NONE,
		.launch = TRACE_NONE,
		.node = TRACE_NONE,
	};
	set = kread_attribute_set(load, taken | WORK_ARGS);
	return set < 0 ? (int)set
		       : order_keep_set(&load->activity_sets, load->trace->activities_count,
					(uint32_t)set);
}

/* ---- rows about the file ---- */

/* Keeps a label row: "thread 410 (python3)", "stream 7 ". */
static int take_label(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	const struct trace_scope_attribute *name;
	struct kread_label *row;

	if ((event->name != KREAD_PROCESS_NAME && event->name != KREAD_THREAD_NAME) ||
	    !kread_has(event, KREAD_NAME))
		return 0;
	name = kread_arg(event, KREAD_NAME);
	if (name->kind != RECORD_ATTRIBUTE_TEXT)
		return 0;
	row = table_add((void **)&load->labels, &load->labels_count, sizeof(*load->labels));
	if (!row)
		return -ENOMEM;
	*row = (struct kread_label){
		.pid = event->pid,
		.tid = event->tid,
		.is_thread = event->name == KREAD_THREAD_NAME,
		.text = name->value.text,
	};
	return 0;
}

int kread_take_device(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t id = kread_int_or(load, event, KREAD_ID, load->agents_count), set;
	uint32_t known = load->properties.count;
	uint32_t number = numbers_get(&load->properties, 0, clamped(id));
	struct trace_agent *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : 0;
	row = table_add((void **)&load->agents, &load->agents_count, sizeof(*load->agents));
	if (!row)
		return -ENOMEM;
	*row = (struct trace_agent){
		.index = clamped(id),
		.is_gpu = true,
		.gpu_ordinal = clamped(id),
		.memory_bytes = (uint64_t)kread_int_or(load, event, KREAD_TOTAL_MEMORY, 0),
		.compute_units = clamped(kread_int_or(load, event, KREAD_SM_COUNT, 0)),
		.wave_size = clamped(kread_int_or(load, event, KREAD_WARP_SIZE, 0)),
	};
	if (kread_has(event, KREAD_NAME) &&
	    kread_arg(event, KREAD_NAME)->kind == RECORD_ATTRIBUTE_TEXT)
		row->name = kread_arg(event, KREAD_NAME)->value.text;
	set = kread_attribute_set(load, 0);
	row->attributes = set > 0 ? (uint32_t)set : 0;
	return set < 0 ? (int)set : 0;
}

static int leave_out(struct kread_load *load, enum kread_left_out why)
{
	load->left_out[why]++;
	return 0;
}

/* Takes marks only. Other instants are about the profiler itself, and those of the memory
 * allocator alone can be millions. */
static int take_instant(struct kread_load *load)
{
	const struct kread_event *event = &load->event;

	if (event->category != KREAD_USER_ANNOTATION || !event->has_time || event->is_absurd)
		return leave_out(load, KREAD_LEFT_OUT_PHASE);
	load->event.duration_ns = 0;
	return take_scope(load);
}

static int take_complete(struct kread_load *load)
{
	switch (load->event.category) {
	case KREAD_KERNEL:
	case KREAD_MEMCPY:
	case KREAD_MEMSET:
	case KREAD_OLD_KERNEL:
	case KREAD_OLD_MEMCPY:
	case KREAD_OLD_MEMSET:
		return take_activity(load);
	case KREAD_CUDA_RUNTIME:
	case KREAD_CUDA_DRIVER:
	case KREAD_OLD_RUNTIME:
		return take_call(load);
	case KREAD_CPU_OP:
	case KREAD_OLD_OPERATOR:
	case KREAD_USER_ANNOTATION:
	case KREAD_PYTHON_FUNCTION:
		return take_scope(load);
	case KREAD_CUDA_SYNC:
		return kread_take_sync(load);
	case KREAD_CUDA_EVENT:
		return kread_take_event_record(load);
	case KREAD_OVERHEAD:
		return take_overhead(load);
	case KREAD_GPU_USER_ANNOTATION:
		return leave_out(load, KREAD_LEFT_OUT_DERIVED);
	default:
		return leave_out(load, KREAD_LEFT_OUT_CATEGORY);
	}
}

int kread_take_event(struct kread_load *load)
{
	const struct kread_event *event = &load->event;

	switch (event->phase) {
	case 'X':
		if (!event->has_time || event->is_absurd)
			return leave_out(load, KREAD_LEFT_OUT_TIME);
		load->backwards += event->duration_ns < 0;
		return take_complete(load);
	case 'i':
		return take_instant(load);
	case 'M':
		return take_label(load);
	case 's':
	case 't':
	case 'f': /* arrows from a call to its raw_row repeat the correlation id */
		return event->category == KREAD_AC2G ? 0 : leave_out(load, KREAD_LEFT_OUT_FLOW);
	default:
		return leave_out(load, KREAD_LEFT_OUT_PHASE);
	}
}
