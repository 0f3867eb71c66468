/* Finds the operations of NCCL and RCCL among a trace's calls, their communicators and kernels. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/collective_functions.h"
#include "base/numbers.h"
#include "trace/args.h"
#include "trace/outermost.h"
#include "trace/row_table.h"

/* An activity that a call of NCCL has caused. */
struct launched {
	uint32_t call; /* the outermost call of NCCL around its own call */
	uint32_t activity;
};

/* One call that is an operation. */
struct operation {
	struct collective row;
	uint32_t launch; /* the call that launches its kernels: itself, or the end of its group */
	uint32_t stream; /* TRACE_NONE: not known */
	uint64_t sent, received;
};

/* The group that a thread is in. */
struct group {
	uint32_t depth;
	uint32_t first; /* of its operations */
};

struct finding {
	const struct dependencies *deps;
	const struct trace *trace;
	const struct selection *selection;
	struct collectives *collectives;
	struct collective_function *functions; /* by API */
	struct group *groups;		       /* by thread */
	struct operation *operations;
	uint32_t operations_count;
	struct launched *launched; /* by call, then by activity */
	uint32_t launched_count;
	struct numbers lives;  /* (handle, process): index into the next table */
	uint32_t *generations; /* how often a communicator with this handle was destroyed */
	uint32_t generations_count;
	struct numbers communicators; /* index into collectives.communicators */
};

/* ---- arguments ---- */

static uint64_t word_at(const struct finding *finding, const struct trace_call *call, uint8_t word,
			uint64_t absent)
{
	if (word == ARGS_NO_WORD || call->arg_first == TRACE_NONE)
		return absent;
	return finding->trace->words[call->arg_first + word];
}

/* ncclDataType_t */
static uint64_t type_bytes(uint64_t type)
{
	static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type < sizeof(bytes) ? bytes[type] : 0;
}

/* ---- communicators ---- */

/* How often a communicator of this handle was destroyed before, or NULL: no memory. */
static uint32_t *generation_of(struct finding *finding, const struct trace_call *call,
			       uint64_t handle)
{
	void *added;
	int64_t row =
		numbers_row(&finding->lives, handle, call->process, (void **)&finding->generations,
			    &finding->generations_count, sizeof(*finding->generations), &added);

	return row < 0 ? NULL : &finding->generations[row];
}

/* Sets *RET_ROW to the row of the communicator of CALL. Returns 0 or -ENOMEM. */
static int find_communicator(struct finding *finding, const struct trace_call *call,
			     const struct collective_function *function, uint32_t *ret_row)
{
	struct collectives *collectives = finding->collectives;
	uint64_t handle = word_at(finding, call, function->comm, 0);
	uint64_t id = word_at(finding, call, function->id, 0);
	const uint32_t *generation = generation_of(finding, call, handle);
	struct collective_communicator *added;
	uint64_t ranks = word_at(finding, call, function->ranks, 0);
	int64_t row;

	if (!generation)
		return -ENOMEM;
	/* No id has this second part. */
	row = numbers_row(&finding->communicators, id ? id : handle,
			  id ? 0 : 1 + (uint64_t)call->process + ((uint64_t)*generation << 32),
			  (void **)&collectives->communicators, &collectives->communicators_count,
			  sizeof(*added), (void **)&added);
	if (row < 0)
		return -ENOMEM;
	if (added)
		*added = (struct collective_communicator){id, handle, call->process, 0};
	if (collectives->communicators[row].ranks < ranks && (int64_t)ranks > 0)
		collectives->communicators[row].ranks = (uint32_t)ranks;
	*ret_row = (uint32_t)row;
	return 0;
}

/* ---- calls ---- */

static int add_operation(struct finding *finding, uint32_t call,
			 const struct collective_function *function)
{
	const struct trace_call *row = &finding->trace->calls[call];
	struct operation *operation = trace_add(finding, operations);
	uint64_t bytes = word_at(finding, row, function->count, 0) *
			 type_bytes(word_at(finding, row, function->datatype, UINT64_MAX));
	uint32_t communicator;

	if (!operation || find_communicator(finding, row, function, &communicator) < 0)
		return -ENOMEM;
	if (function->is_part)
		bytes *= finding->collectives->communicators[communicator].ranks;
	*operation = (struct operation){
		.row =
			{
				.communicator = communicator,
				.process = row->process,
				.rank = (int32_t)word_at(finding, row, function->rank, UINT64_MAX),
				.call = call,
				.count = 1,
				.number = word_at(finding, row, function->number, 0),
				.bytes = bytes,
				.kind = function->kind,
				.activity = TRACE_NONE,
				.begin_ns = row->begin_ns,
			},
		.launch = call,
		.stream = row->stream,
		.sent = function->kind == COLLECTIVE_RECV ? 0 : bytes,
		.received = function->kind == COLLECTIVE_RECV ? bytes : 0,
	};
	return 0;
}

/* The outermost end of a group: CALL launches what THREAD has called in it. */
static void end_group(struct finding *finding, uint32_t call, uint32_t thread)
{
	struct group *group = &finding->groups[thread];

	if (group->depth == 0 || --group->depth)
		return;
	for (uint32_t i = group->first; i < finding->operations_count; i++) {
		struct operation *operation = &finding->operations[i];

		if (finding->trace->calls[operation->row.call].thread == thread)
			operation->launch = call;
	}
}

static void start_group(struct finding *finding, uint32_t thread)
{
	if (finding->groups[thread].depth++ == 0)
		finding->groups[thread].first = finding->operations_count;
}

/* Whether CALL is inside another call of NCCL, which then stands for it. */
static bool is_inner(const struct trace *trace, const struct trace_call *call)
{
	return call->parent != TRACE_NONE &&
	       trace_domain_of(trace, &trace->calls[call->parent]) == RECORD_DOMAIN_RCCL;
}

static int take_call(struct finding *finding, uint32_t at)
{
	const struct trace_call *call = &finding->trace->calls[at];
	const struct collective_function *function = &finding->functions[call->api];
	uint32_t *generation;

	if (function->role == COLLECTIVE_ROLE_NONE || is_inner(finding->trace, call) ||
	    call->thread >= finding->trace->threads_count)
		return 0;
	switch (function->role) {
	case COLLECTIVE_ROLE_OPERATION:
		return add_operation(finding, at, function);
	case COLLECTIVE_ROLE_GROUP_START:
		start_group(finding, call->thread);
		return 0;
	case COLLECTIVE_ROLE_GROUP_END:
		end_group(finding, at, call->thread);
		return 0;
	case COLLECTIVE_ROLE_DESTROY:
		generation =
			generation_of(finding, call, word_at(finding, call, function->comm, 0));
		if (!generation)
			return -ENOMEM;
		++*generation;
		return 0;
	case COLLECTIVE_ROLE_NONE:
		break;
	}
	return 0;
}

static int take_calls(struct finding *finding)
{
	const struct trace *trace = finding->trace;
	int err = 0;

	finding->functions = table_zeroed(trace->apis_count, sizeof(*finding->functions));
	finding->groups = table_zeroed(trace->threads_count, sizeof(*finding->groups));
	if (!finding->functions || !finding->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->apis_count; i++)
		finding->functions[i] = collective_function_of(trace, &trace->apis[i]);
	for (uint32_t i = 0; i < trace->calls_count && err == 0; i++)
		err = take_call(finding, i);
	return err;
}

/* ---- kernels ---- */

static int compare_launched(const void *left, const void *right)
{
	const struct launched *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->activity > b->activity) - (a->activity < b->activity);
}

static int find_launched(struct finding *finding)
{
	const struct trace *trace = finding->trace;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t call = trace_outermost_rccl_call(trace, row->call);
		struct launched *launched;

		if (call == TRACE_NONE) {
			finding->collectives->unnumbered +=
				row->launch != TRACE_NONE &&
				dependencies_is_collective(finding->deps, row);
			continue;
		}
		launched = trace_add(finding, launched);
		if (!launched)
			return -ENOMEM;
		*launched = (struct launched){call, i};
	}
	if (finding->launched_count)
		qsort(finding->launched, finding->launched_count, sizeof(*finding->launched),
		      compare_launched);
	return 0;
}

/* What an operation takes of the work that its call has launched. */
struct choice {
	bool is_named;	   /* kernels with names of collectives alone */
	bool is_on_stream; /* work of the operation's stream alone */
};

static bool is_chosen(const struct finding *finding, const struct operation *operation,
		      const struct trace_activity *row, struct choice choice)
{
	return (!choice.is_named || finding->deps->is_collective[row->work]) &&
	       (!choice.is_on_stream || row->stream == operation->stream);
}

static uint32_t first_launched(const struct finding *finding, uint32_t call)
{
	uint32_t low = 0, high = finding->launched_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (finding->launched[middle].call < call)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Sets the times of OPERATION by the work that CHOICE chooses. Returns whether there is any. */
static bool time_operation(const struct finding *finding, struct operation *operation,
			   struct choice choice)
{
	struct collective *row = &operation->row;

	row->activity = TRACE_NONE;
	for (uint32_t i = first_launched(finding, operation->launch);
	     i < finding->launched_count && finding->launched[i].call == operation->launch; i++) {
		uint32_t at = finding->launched[i].activity;
		const struct trace_activity *work = &finding->trace->activities[at];

		if (work->untimed || !is_chosen(finding, operation, work, choice))
			continue;
		if (!row->is_timed || work->start_ns < row->start_ns) {
			row->start_ns = work->start_ns;
			row->activity = at;
		}
		if (!row->is_timed || work->end_ns > row->end_ns)
			row->end_ns = work->end_ns;
		row->is_timed = true;
	}
	return row->is_timed;
}

/* NCCL also clears memory or waits in its calls, and a group may work on several streams. Where
 * nothing tells the parts of a group apart, each gets all of it. */
static void time_operations(struct finding *finding)
{
	static const struct choice choices[] = {
		{true, true}, {true, false}, {false, true}, {false, false}};

	for (uint32_t i = 0; i < finding->operations_count; i++) {
		struct operation *operation = &finding->operations[i];
		bool is_done = false;

		for (size_t k = 0; k < sizeof(choices) / sizeof(*choices) && !is_done; k++) {
			if (!choices[k].is_on_stream || operation->stream != TRACE_NONE)
				is_done = time_operation(finding, operation, choices[k]);
		}
	}
}

/* ---- groups ---- */

static enum collective_kind kind_of_both(enum collective_kind a, enum collective_kind b)
{
	bool are_sent =
		(a == COLLECTIVE_SEND || a == COLLECTIVE_RECV || a == COLLECTIVE_SEND_RECV) &&
		(b == COLLECTIVE_SEND || b == COLLECTIVE_RECV || b == COLLECTIVE_SEND_RECV);

	if (a == b)
		return a;
	return are_sent ? COLLECTIVE_SEND_RECV : COLLECTIVE_MIXED;
}

/* Whether not all ranks of a communicator call it, so that they do not number it equally. */
static bool is_transfer(enum collective_kind kind)
{
	return kind >= COLLECTIVE_SEND && kind <= COLLECTIVE_SEND_RECV;
}

/* Adds OPERATION to that of the same group, rank and communicator. */
static void merge_into(struct operation *first, const struct operation *operation)
{
	struct collective *row = &first->row;

	if (is_transfer(operation->row.kind) != is_transfer(row->kind) || !operation->row.number)
		row->number = 0;
	row->kind = kind_of_both(row->kind, operation->row.kind);
	row->count++;
	first->sent += operation->sent;
	first->received += operation->received;
	row->bytes = first->sent > first->received ? first->sent : first->received;
	if (operation->row.is_timed &&
	    (!row->is_timed || operation->row.start_ns < row->start_ns)) {
		row->start_ns = operation->row.start_ns;
		row->activity = operation->row.activity;
	}
	if (operation->row.is_timed && (!row->is_timed || operation->row.end_ns > row->end_ns))
		row->end_ns = operation->row.end_ns;
	row->is_timed |= operation->row.is_timed;
}

static int compare_groups(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	if (a->row.communicator != b->row.communicator)
		return a->row.communicator < b->row.communicator ? -1 : 1;
	if (a->row.rank != b->row.rank)
		return a->row.rank < b->row.rank ? -1 : 1;
	return (a->row.call > b->row.call) - (a->row.call < b->row.call);
}

static bool is_same_group(const struct operation *a, const struct operation *b)
{
	return a->launch == b->launch && a->row.communicator == b->row.communicator &&
	       a->row.rank == b->row.rank;
}

static bool is_selected(const struct finding *finding, const struct collective *row)
{
	const struct selection *selection = finding->selection;

	return !selection || selection->calls[row->call] ||
	       (row->activity != TRACE_NONE && selection->activities[row->activity]);
}

static int compare_rows(const void *left, const void *right)
{
	const struct collective *a = left, *b = right;

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	/* Those without a number are last: 0 becomes the greatest one. */
	if (a->number != b->number)
		return a->number - 1 < b->number - 1 ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

static int make_rows(struct finding *finding)
{
	struct collectives *collectives = finding->collectives;
	struct operation *operations = finding->operations;

	if (finding->operations_count)
		qsort(operations, finding->operations_count, sizeof(*operations), compare_groups);
	for (uint32_t i = 0; i < finding->operations_count;) {
		struct operation *first = &operations[i];
		struct collective *row;

		while (++i < finding->operations_count && is_same_group(first, &operations[i]))
			merge_into(first, &operations[i]);
		if (!is_selected(finding, &first->row))
			continue;
		row = trace_add(collectives, rows);
		if (!row)
			return -ENOMEM;
		*row = first->row;
		if (is_transfer(row->kind))
			row->number = 0;
	}
	if (collectives->rows_count)
		qsort(collectives->rows, collectives->rows_count, sizeof(*collectives->rows),
		      compare_rows);
	return 0;
}

int collective_calls_find(const struct dependencies *deps, const struct selection *selection,
			  struct collectives *collectives)
{
	struct finding finding = {
		.deps = deps,
		.trace = deps->trace,
		.selection = selection,
		.collectives = collectives,
	};
	int err = take_calls(&finding);

	if (err == 0)
		err = find_launched(&finding);
	if (err == 0) {
		time_operations(&finding);
		err = make_rows(&finding);
	}
	free(finding.functions);
	free(finding.groups);
	free(finding.operations);
	free(finding.launched);
	free(finding.generations);
	numbers_release(&finding.lives);
	numbers_release(&finding.communicators);
	return err;
}

void collectives_release(struct collectives *collectives)
{
	free(collectives->communicators);
	free(collectives->rows);
	free(collectives->stats);
	free(collectives->instances);
	free(collectives->ranks);
	free(collectives->causes);
	*collectives = (struct collectives){0};
}
