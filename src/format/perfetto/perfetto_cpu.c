/* Writes the tracks of a process: its threads with their API calls, scopes, ranges and marks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/perfetto_parts.h"

#define ANNOTATIONS(X)                                                                             \
	X(ACTIVITIES, "activities")                                                                \
	X(ARGS, "args")                                                                            \
	X(CID, "cid")                                                                              \
	X(EXEC, "exec")                                                                            \
	X(EXPECTED, "activities_expected")                                                         \
	X(GRAPH, "graph")                                                                          \
	X(OPEN, "open")                                                                            \
	X(PARENT_CID, "parent_cid")                                                                \
	X(REPLAY, "replay")                                                                        \
	X(RESULT, "result")                                                                        \
	X(SCOPE, "scope")                                                                          \
	X(SCOPE_ID, "scope_id")                                                                    \
	X(STREAM, "stream")

enum annotation {
	ANNOTATION_NONE,
#define X(name, text) ANNOTATION_##name,
	ANNOTATIONS(X)
#undef X
		ANNOTATION_COUNT
};

#define CATEGORIES(X)                                                                              \
	X(HIP, "hip")                                                                              \
	X(HSA, "hsa")                                                                              \
	X(CUDA, "cuda")                                                                            \
	X(RCCL, "rccl")                                                                            \
	X(SCOPE, "scope")

enum category {
	CATEGORY_NONE,
#define X(name, text) CATEGORY_##name,
	CATEGORIES(X)
#undef X
};
_Static_assert(CATEGORY_HIP == (int)RECORD_DOMAIN_HIP && CATEGORY_RCCL == (int)RECORD_DOMAIN_RCCL,
	       "a call's category is its domain");

struct cpu {
	struct sequence *sequence;
	struct proto *packet;
	const struct trace *trace;
	const struct perfetto *perfetto;
	const struct timeline *timeline;
	uint32_t process;
	enum perfetto_form form;
	/* The slices that are being written: */
	uint32_t first_list; /* that of the first thread (timeline_thread) */
	/* kind of a thread's first track; overflow_track: of its further tracks */
	enum perfetto_track track;
	enum perfetto_track overflow_track;
	const char *track_name;
	void (*put_slice)(struct cpu *cpu, uint32_t row);
};

static void intern_fixed_names(struct sequence *sequence)
{
	static const char *const annotations[] = {"",
#define X(name, text) text,
						  ANNOTATIONS(X)
#undef X
	};
	static const char *const categories[] = {"",
#define X(name, text) text,
						 CATEGORIES(X)
#undef X
	};

	for (uint32_t i = 1; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, i, annotations[i]);
	for (uint32_t i = 1; i < sizeof(categories) / sizeof(categories[0]); i++)
		sequence_intern_text(sequence, INTERNED_CATEGORIES, i, categories[i]);
	sequence_reserve(sequence, SEQUENCE_ANNOTATION_NAMES, ANNOTATION_COUNT - 1);
}

static void put_process(struct cpu *cpu)
{
	const struct trace_process *process = &cpu->trace->processes[cpu->process];
	size_t mark, inner;

	sequence_packet_begin(cpu->sequence);
	intern_fixed_names(cpu->sequence);
	mark = proto_begin(cpu->packet, PACKET_TRACK_DESCRIPTOR);
	proto_put_u64(cpu->packet, TRACK_UUID,
		      perfetto_track_id(PERFETTO_TRACK_PROCESS, cpu->process, 0));
	inner = proto_begin(cpu->packet, TRACK_PROCESS);
	proto_put_u64(cpu->packet, PROCESS_PID, process->pid);
	proto_put_text(cpu->packet, PROCESS_CMDLINE, trace_text(cpu->trace, process->command));
	proto_put_text(cpu->packet, PROCESS_NAME, trace_text(cpu->trace, process->exe));
	proto_end(cpu->packet, inner);
	proto_end(cpu->packet, mark);
	sequence_packet_end(cpu->sequence);
}

static void put_thread(struct cpu *cpu, uint32_t thread)
{
	const struct trace_thread *row = &cpu->trace->threads[thread];
	size_t mark, inner;

	sequence_packet_begin(cpu->sequence);
	mark = proto_begin(cpu->packet, PACKET_TRACK_DESCRIPTOR);
	proto_put_u64(cpu->packet, TRACK_UUID, perfetto_track_id(PERFETTO_TRACK_THREAD, thread, 0));
	proto_put_u64(cpu->packet, TRACK_PARENT,
		      perfetto_track_id(PERFETTO_TRACK_PROCESS, cpu->process, 0));
	inner = proto_begin(cpu->packet, TRACK_THREAD);
	proto_put_u64(cpu->packet, THREAD_PID, cpu->trace->processes[cpu->process].pid);
	proto_put_u64(cpu->packet, THREAD_TID, row->tid);
	if (row->name)
		proto_put_text(cpu->packet, THREAD_NAME, trace_text(cpu->trace, row->name));
	proto_end(cpu->packet, inner);
	proto_end(cpu->packet, mark);
	sequence_packet_end(cpu->sequence);
}

/* THREAD is a list of threads (timeline_thread): slices whose thread is not known go to tracks of
 * the process. */
static uint64_t subtrack_id(const struct cpu *cpu, uint32_t thread, uint32_t subtrack)
{
	return perfetto_track_id(subtrack == 0 ? cpu->track : cpu->overflow_track, thread,
				 subtrack);
}

static void put_track(struct cpu *cpu, uint32_t thread, uint32_t subtrack)
{
	uint64_t parent = thread < cpu->trace->threads_count
				  ? perfetto_track_id(PERFETTO_TRACK_THREAD, thread, 0)
				  : perfetto_track_id(PERFETTO_TRACK_PROCESS, cpu->process, 0);

	sequence_packet_begin(cpu->sequence);
	sequence_track_end(cpu->sequence, subtrack_id(cpu, thread, subtrack), parent,
			   cpu->track_name);
}

/* The track of a thread's calls is the thread's own, which put_thread has described. */
static void begin_track(void *context, const struct slice *first)
{
	struct cpu *cpu = context;
	uint32_t thread = first->list - cpu->first_list;

	if (first->subtrack > 0 || cpu->track != PERFETTO_TRACK_THREAD ||
	    thread >= cpu->trace->threads_count)
		put_track(cpu, thread, first->subtrack);
}

static void begin_slice(void *context, const struct slice *slice)
{
	struct cpu *cpu = context;
	uint32_t thread = slice->list - cpu->first_list;
	size_t mark = sequence_event_begin(cpu->sequence, EVENT_BEGIN,
					   subtrack_id(cpu, thread, slice->subtrack),
					   slice->time.begin_ns);

	cpu->put_slice(cpu, slice->row);
	sequence_event_end(cpu->sequence, mark);
}

static void end_slice(void *context, uint32_t list, uint32_t subtrack, int64_t ns)
{
	struct cpu *cpu = context;
	uint64_t track = subtrack_id(cpu, list - cpu->first_list, subtrack);

	sequence_event_end(cpu->sequence,
			   sequence_event_begin(cpu->sequence, EVENT_END, track, ns));
}

static int put_slices(struct cpu *cpu, const struct rows *rows)
{
	const struct slices_output output = {false, begin_track, begin_slice, end_slice, cpu};
	int err = 0;

	for (uint32_t thread = 0; thread < cpu->timeline->threads && !err; thread++)
		if (timeline_thread_process(cpu->timeline, thread) == cpu->process)
			err = slices_put(rows, (size_t)cpu->first_list + thread, &output);
	return err;
}

static void put_uint(struct cpu *cpu, enum annotation name, uint64_t value)
{
	sequence_put_uint(cpu->sequence, name, value);
}

static void put_int(struct cpu *cpu, enum annotation name, int64_t value)
{
	size_t mark = proto_begin(cpu->packet, EVENT_ANNOTATIONS);

	proto_put_u64(cpu->packet, ANNOTATION_NAME_IID, name);
	proto_put_i64(cpu->packet, ANNOTATION_INT, value);
	proto_end(cpu->packet, mark);
}

static void put_name(struct cpu *cpu, trace_string name, enum category category)
{
	proto_put_u64(cpu->packet, EVENT_CATEGORY_IIDS, category);
	proto_put_u64(cpu->packet, EVENT_NAME_IID,
		      sequence_intern(cpu->sequence, SEQUENCE_EVENT_NAMES, name));
}

/* Writes the innermost scope's text and id. The whole path is on the kernels, and on the thread's
 * scope track around the call. */
static void put_scope(struct cpu *cpu, uint32_t scope)
{
	const struct trace_scope *row = &cpu->trace->scopes[scope];
	size_t mark = proto_begin(cpu->packet, EVENT_ANNOTATIONS);

	proto_put_u64(cpu->packet, ANNOTATION_NAME_IID, ANNOTATION_SCOPE);
	proto_put_u64(cpu->packet, ANNOTATION_STRING_IID,
		      sequence_intern(cpu->sequence, SEQUENCE_ANNOTATION_STRINGS, row->text));
	proto_end(cpu->packet, mark);
	put_uint(cpu, ANNOTATION_SCOPE_ID, row->id);
}

static void put_arg(struct cpu *cpu, trace_string name, const struct words_arg *arg)
{
	size_t mark = proto_begin(cpu->packet, ANNOTATION_DICT_ENTRIES);
	char text[WORDS_ARG_CHARS];

	proto_put_u64(cpu->packet, ANNOTATION_NAME_IID,
		      sequence_intern(cpu->sequence, SEQUENCE_ANNOTATION_NAMES, name));
	switch (arg->kind) {
	case 'u':
	case 's':
		proto_put_u64(cpu->packet, ANNOTATION_UINT, arg->words[0]);
		break;
	case 'i':
	case 'e':
		proto_put_i64(cpu->packet, ANNOTATION_INT, (int64_t)arg->words[0]);
		break;
	case 'p':
	case 'h':
	case 'o':
		proto_put_u64(cpu->packet, ANNOTATION_POINTER, arg->words[0]);
		break;
	default:
		proto_put_text(cpu->packet, ANNOTATION_STRING, words_arg_text(arg, text));
	}
	proto_end(cpu->packet, mark);
}

static void put_args(struct cpu *cpu, const struct trace_call *call)
{
	const struct trace_api *api = &cpu->trace->apis[call->api];
	struct words_arg arg;
	size_t mark;

	if (!words_call_arg(cpu->trace, call, 0, &arg))
		return;
	mark = proto_begin(cpu->packet, EVENT_ANNOTATIONS);
	proto_put_u64(cpu->packet, ANNOTATION_NAME_IID, ANNOTATION_ARGS);
	for (uint32_t i = 0; words_call_arg(cpu->trace, call, i, &arg); i++)
		put_arg(cpu, cpu->trace->api_args[api->arg_first + i].name, &arg);
	proto_end(cpu->packet, mark);
}

static void put_launch(struct cpu *cpu, const struct trace_launch *launch)
{
	const struct trace_exec *exec = &cpu->trace->execs[launch->exec];

	if (exec->graph != TRACE_NONE)
		put_uint(cpu, ANNOTATION_GRAPH, cpu->trace->graphs[exec->graph].id);
	put_uint(cpu, ANNOTATION_EXEC, exec->id);
	put_uint(cpu, ANNOTATION_REPLAY, launch->replay);
}

/* Writes the arrows to the projections of WHAT (struct projected). */
static void put_projection_arrows(struct cpu *cpu, uint32_t what)
{
	const struct perfetto_projection *projection = cpu->perfetto->projection;

	for (uint32_t i = projection->first[what]; i < projection->first[what + 1]; i++)
		proto_put_fixed64(cpu->packet, EVENT_FLOW_IDS,
				  perfetto_projected_flow(cpu->trace, cpu->perfetto->arrows->count,
							  projection->rows[i]));
}

/* Writes the arrows from the call to each of its activities. */
static void put_arrows(struct cpu *cpu, uint32_t row)
{
	const struct trace_call *call = &cpu->trace->calls[row];
	size_t mark;

	if (call->activity_count == 0)
		return;
	if (cpu->form == PERFETTO_STAGES) {
		mark = proto_begin(cpu->packet, EVENT_GPU_CORRELATION);
		for (uint32_t i = 0; i < call->activity_count; i++)
			proto_put_u64(cpu->packet, CORRELATION_SUBMISSIONS,
				      perfetto_event(call->activity_first + i));
		proto_end(cpu->packet, mark);
		return;
	}
	for (uint32_t i = 0; i < call->activity_count; i++)
		proto_put_fixed64(cpu->packet, EVENT_FLOW_IDS,
				  perfetto_event(call->activity_first + i));
}

static void put_call(struct cpu *cpu, uint32_t row)
{
	const struct trace *trace = cpu->trace;
	const struct trace_call *call = &trace->calls[row];
	const struct trace_api *api = &trace->apis[call->api];

	put_name(cpu, api->name, (enum category)api->domain);
	put_uint(cpu, ANNOTATION_CID, call->cid);
	put_int(cpu, ANNOTATION_RESULT, call->result);
	if (call->parent != TRACE_NONE)
		put_uint(cpu, ANNOTATION_PARENT_CID, trace->calls[call->parent].cid);
	if (call->stream != TRACE_NONE)
		put_uint(cpu, ANNOTATION_STREAM, trace->streams[call->stream].ordinal);
	if (call->scope != TRACE_NONE)
		put_scope(cpu, call->scope);
	if (call->launch != TRACE_NONE)
		put_launch(cpu, &trace->launches[call->launch]);
	if (call->activities_expected == TRACE_NONE) {
		if (call->activity_count)
			put_uint(cpu, ANNOTATION_ACTIVITIES, call->activity_count);
	} else if (call->activities_expected || call->activity_count) {
		put_uint(cpu, ANNOTATION_ACTIVITIES, call->activity_count);
		put_uint(cpu, ANNOTATION_EXPECTED, call->activities_expected);
	}
	put_args(cpu, call);
	put_arrows(cpu, row);
	if (call->launch != TRACE_NONE)
		put_projection_arrows(cpu, trace->scopes_count + call->launch);
}

static void put_scope_slice(struct cpu *cpu, uint32_t row)
{
	const struct trace_scope *scope = &cpu->trace->scopes[row];
	size_t mark;

	put_name(cpu, scope->text, CATEGORY_SCOPE);
	put_uint(cpu, ANNOTATION_SCOPE_ID, scope->id);
	put_projection_arrows(cpu, row);
	if (!scope->open)
		return;
	mark = proto_begin(cpu->packet, EVENT_ANNOTATIONS);
	proto_put_u64(cpu->packet, ANNOTATION_NAME_IID, ANNOTATION_OPEN);
	proto_put_u64(cpu->packet, ANNOTATION_BOOL, 1);
	proto_end(cpu->packet, mark);
}

static int put_calls(struct cpu *cpu)
{
	cpu->first_list = 0;
	cpu->track = PERFETTO_TRACK_THREAD;
	cpu->overflow_track = PERFETTO_TRACK_CALLS;
	cpu->track_name = "API calls";
	cpu->put_slice = put_call;
	return put_slices(cpu, &cpu->timeline->calls);
}

/* Writes the nested scopes, or with RANGES the ranges, which need not nest and get tracks of their
 * own. */
static int put_scopes(struct cpu *cpu, bool ranges)
{
	cpu->first_list = ranges ? cpu->timeline->threads : 0;
	cpu->track = ranges ? PERFETTO_TRACK_RANGES : PERFETTO_TRACK_SCOPES;
	cpu->overflow_track = cpu->track;
	cpu->track_name = ranges ? "ranges" : "scopes";
	cpu->put_slice = put_scope_slice;
	return put_slices(cpu, &cpu->timeline->scopes);
}

static int put_marks(struct cpu *cpu)
{
	const struct trace *trace = cpu->trace;
	uint8_t *described = calloc((size_t)cpu->timeline->threads + 1, 1);

	if (!described)
		return -ENOMEM;
	cpu->track = PERFETTO_TRACK_MARKS;
	cpu->overflow_track = PERFETTO_TRACK_MARKS;
	cpu->track_name = "marks";
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		const struct trace_scope *scope = &trace->scopes[i];
		uint32_t thread = timeline_thread(cpu->timeline, scope->thread, scope->process);
		size_t mark;

		if (scope->process != cpu->process || scope->kind != RECORD_SCOPE_MARK ||
		    scope->untimed)
			continue;
		if (!described[thread])
			put_track(cpu, thread, 0);
		described[thread] = 1;
		mark = sequence_event_begin(cpu->sequence, EVENT_INSTANT,
					    subtrack_id(cpu, thread, 0), scope->begin_ns);
		put_scope_slice(cpu, i);
		sequence_event_end(cpu->sequence, mark);
	}
	free(described);
	return 0;
}

int perfetto_put_process(const struct perfetto *perfetto, uint32_t process)
{
	struct sequence *sequence = perfetto->sequence;
	struct cpu cpu = {
		.sequence = sequence,
		.packet = &sequence->packet,
		.trace = sequence->trace,
		.perfetto = perfetto,
		.timeline = perfetto->timeline,
		.process = process,
		.form = perfetto->form,
	};
	int err;

	sequence_start(sequence);
	put_process(&cpu);
	for (uint32_t thread = 0; thread < cpu.trace->threads_count; thread++) {
		if (cpu.trace->threads[thread].process == process)
			put_thread(&cpu, thread);
	}
	err = put_calls(&cpu);
	if (!err)
		err = put_scopes(&cpu, false);
	if (!err)
		err = put_scopes(&cpu, true);
	if (!err)
		err = put_marks(&cpu);
	return err ? err : sequence_error(sequence);
}
