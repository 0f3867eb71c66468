/* Finding collectives in the model (rank_collectives.h). */
#include "merge/rank_collectives.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "base/numbers.h"
#include "base/table.h"
#include "trace/args.h"
#include "trace/outermost.h"

/* Assumed where the recording does not tell how well a device's clock is known: CUPTI converts its
 * times itself. */
#define DEVICE_ERROR_NS 1000

/* What one call, with all calls inside it, submitted to one stream. TRACE_NONE: the kernels that it
 * submitted to any stream; NCCL also copies, to prepare, before any rank waits for another one. */
struct envelope {
	uint32_t root, stream;
	int64_t begin_ns, end_ns;
	uint32_t error_ns;
	bool is_untimed; /* an activity has no times, so nothing is known of the whole */
};

/* The group that a thread has open. */
struct group {
	uint32_t depth;
	uint32_t *operations; /* calls in it */
	uint32_t count;
	size_t room;
};

struct search {
	const struct trace *trace;
	struct rank_collectives *found;
	enum rank_function_role *roles; /* by API */
	struct envelope *envelopes;
	uint32_t envelope_count;
	struct hash_map envelope_index;
	struct group *groups;	/* by thread */
	struct numbers members; /* (communicator, process and rank): index into found.members */
	uint64_t number_step;	/* multiples of it are kept */
};

/* Not ncclAllToAllv, whose counts may be zero between two ranks. NCCL writes AlltoAll. */
static bool is_collective(const char *name)
{
	static const char *const collectives[] = {
		"ncclAllReduce",      "ncclAllReduceWithBias",	 "ncclAllReduceConfig",
		"ncclAllGather",      "ncclAllGatherConfig",	 "ncclReduceScatter",
		"ncclAllToAll",	      "ncclReduceScatterConfig", "ncclAlltoAll",
		"ncclAlltoAllConfig",
	};

	for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++) {
		if (!strcmp(name, collectives[i]))
			return true;
	}
	return false;
}

enum rank_function_role rank_function_role(const char *name)
{
	if (is_collective(name))
		return RANK_FUNCTION_COLLECTIVE;
	if (!strcmp(name, "ncclGroupStart"))
		return RANK_FUNCTION_GROUP_START;
	/* The latter runs nothing, but ends the group. */
	if (!strcmp(name, "ncclGroupEnd") || !strcmp(name, "ncclGroupSimulateEnd"))
		return RANK_FUNCTION_GROUP_END;
	return RANK_FUNCTION_OTHER;
}

/* ---- what calls submitted ---- */

/* The envelope of ROOT and STREAM. Makes one if there is none and MAKE is set; NULL: none, or out
 * of memory. */
static struct envelope *envelope_of(struct search *search, uint32_t root, uint32_t stream,
				    bool make)
{
	uint64_t hash = (((uint64_t)root << 32) + stream) * 0x9e3779b97f4a7c15ull;
	struct hash_probe probe;
	struct envelope *row;

	if (hash_map_reserve(&search->envelope_index) < 0)
		return NULL;
	probe = hash_map_probe(&search->envelope_index, hash);
	while (hash_map_next(&search->envelope_index, &probe)) {
		row = &search->envelopes[probe.row];
		if (row->root == root && row->stream == stream)
			return row;
	}
	row = make ? table_add((void **)&search->envelopes, &search->envelope_count, sizeof(*row))
		   : NULL;
	if (!row)
		return NULL;
	*row = (struct envelope){root, stream, INT64_MAX, INT64_MIN, 0, false};
	hash_map_put(&search->envelope_index, &probe, search->envelope_count - 1);
	return row;
}

/* How wrong a time of AGENT may be on the host's clock. */
static uint32_t device_error(const struct trace *trace, uint32_t agent)
{
	if (agent == TRACE_NONE || !trace->agents[agent].anchor_count)
		return DEVICE_ERROR_NS;
	return (uint32_t)fmin(ceil(trace->agents[agent].fit_error_ns) + 1, 1e9);
}

static int add_to_envelope(struct search *search, uint32_t root, uint32_t stream,
			   const struct trace_activity *row)
{
	struct envelope *envelope = envelope_of(search, root, stream, true);
	uint32_t error_ns = device_error(search->trace, row->agent);

	if (!envelope)
		return -ENOMEM;
	envelope->is_untimed |= row->untimed != RECORD_UNTIMED_NO;
	if (row->start_ns < envelope->begin_ns)
		envelope->begin_ns = row->start_ns;
	if (row->end_ns > envelope->end_ns)
		envelope->end_ns = row->end_ns;
	if (error_ns > envelope->error_ns)
		envelope->error_ns = error_ns;
	return 0;
}

static int find_envelopes(struct search *search)
{
	const struct trace *trace = search->trace;
	int err = 0;

	for (uint32_t i = 0; i < trace->activities_count && err == 0; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t root = trace_outermost_rccl_call(trace, row->call);

		if (root == TRACE_NONE)
			continue;
		if (row->stream != TRACE_NONE)
			err = add_to_envelope(search, root, row->stream, row);
		/* Of a call whose stream is not known, as NCCL's on the null stream. */
		if (err == 0 && trace_work_of(trace, row)->kind == TRACE_KERNEL)
			err = add_to_envelope(search, root, TRACE_NONE, row);
	}
	return err;
}

/* ---- operations ---- */

static int add_member(struct search *search, struct rank_member member)
{
	struct rank_collectives *found = search->found;
	struct rank_member *added;

	if (numbers_row(&search->members, member.communicator,
			((uint64_t)member.process << 32) + member.rank, (void **)&found->members,
			&found->member_count, sizeof(*added), (void **)&added) < 0)
		return -ENOMEM;
	if (added)
		*added = member;
	return 0;
}

/* Leaves out every second number. */
static void thin(struct search *search)
{
	struct rank_collectives *found = search->found;
	uint32_t kept = 0;

	search->number_step *= 2;
	for (uint32_t i = 0; i < found->count; i++) {
		if (found->rows[i].number % search->number_step == 0)
			found->rows[kept++] = found->rows[i];
	}
	found->count = kept;
}

/* Whether the times are possible: then no sum and no difference of them overflows. */
static bool is_possible(const struct envelope *envelope)
{
	return envelope->begin_ns >= 0 && envelope->begin_ns <= envelope->end_ns &&
	       envelope->end_ns <= RANK_CLOCK_TIME_MOST;
}

static void add_row(struct search *search, const struct envelope *envelope, struct collective row)
{
	struct rank_collectives *found = search->found;

	row.begin_ns = envelope->begin_ns;
	row.end_ns = envelope->end_ns;
	row.error_ns = envelope->error_ns;
	found->found++;
	while (row.number % search->number_step == 0 && found->count == RANK_COLLECTIVES_MOST) {
		/* Equal numbers, as only a damaged file has them: no step separates them. */
		if (search->number_step > UINT64_MAX / 2)
			return;
		thin(search);
	}
	if (row.number % search->number_step == 0)
		found->rows[found->count++] = row;
}

/* Adds the operation CALL, whose work the call ROOT submitted. */
static int add_operation(struct search *search, uint32_t call, uint32_t root)
{
	const struct trace_call *row = &search->trace->calls[call];
	const struct envelope *envelope;
	struct collective collective = {0};
	uint64_t rank = 0, ranks = 0, count = 1;

	if (row->result != 0 || !args_get(search->trace, row, "commId", &collective.communicator) ||
	    !args_get(search->trace, row, "seq", &collective.number) ||
	    !args_get(search->trace, row, "rank", &rank) ||
	    !args_get(search->trace, row, "nranks", &ranks))
		return 0;
	if (!collective.communicator || !collective.number || rank >= ranks || ranks > INT32_MAX)
		return 0;
	if (add_member(search, (struct rank_member){collective.communicator, (uint32_t)ranks,
						    (uint32_t)rank, row->process}) < 0)
		return -ENOMEM;
	/* Without data, a rank does not wait for the others. */
	args_get(search->trace, row, "count", &count);
	args_get(search->trace, row, "sendcount", &count);
	args_get(search->trace, row, "recvcount", &count);
	envelope = envelope_of(search, root, row->stream, false);
	if (envelope && !envelope->is_untimed && is_possible(envelope) && count && ranks > 1)
		add_row(search, envelope, collective);
	return 0;
}

static int add_to_group(struct group *group, uint32_t call)
{
	int err = table_reserve((void **)&group->operations, &group->room, group->count + 1ull,
				sizeof(*group->operations));

	if (err == 0)
		group->operations[group->count++] = call;
	return err;
}

/* The calls of a thread come in the order in which they began. */
static int take_call(struct search *search, uint32_t call)
{
	const struct trace_call *row = &search->trace->calls[call];
	enum rank_function_role role = search->roles[row->api];
	struct group *group;
	int err = 0;

	if (role == RANK_FUNCTION_OTHER || row->thread == TRACE_NONE)
		return 0;
	group = &search->groups[row->thread];
	if (role == RANK_FUNCTION_GROUP_START) {
		group->depth++;
	} else if (role == RANK_FUNCTION_COLLECTIVE && group->depth) {
		err = add_to_group(group, call);
	} else if (role == RANK_FUNCTION_COLLECTIVE) {
		err = add_operation(search, call, trace_outermost_rccl_call(search->trace, call));
	} else if (group->depth && --group->depth == 0) {
		for (uint32_t i = 0; i < group->count && err == 0; i++)
			err = add_operation(search, group->operations[i],
					    trace_outermost_rccl_call(search->trace, call));
		group->count = 0;
	}
	return err;
}

static int find_operations(struct search *search)
{
	const struct trace *trace = search->trace;
	int err = 0;

	for (uint32_t i = 0; i < trace->apis_count; i++) {
		if (trace->apis[i].domain == RECORD_DOMAIN_RCCL)
			search->roles[i] =
				rank_function_role(trace_text(trace, trace->apis[i].name));
	}
	for (uint32_t i = 0; i < trace->calls_count && err == 0; i++)
		err = take_call(search, i);
	return err;
}

static void search_release(struct search *search)
{
	for (uint32_t i = 0; i < search->trace->threads_count && search->groups; i++)
		free(search->groups[i].operations);
	free(search->groups);
	free(search->roles);
	free(search->envelopes);
	hash_map_release(&search->envelope_index);
	numbers_release(&search->members);
}

int rank_collectives_find(const struct trace *trace, struct rank_collectives *ret_found)
{
	struct rank_collectives found = {
		.rows = table_alloc(RANK_COLLECTIVES_MOST, sizeof(*found.rows)),
	};
	struct search search = {
		.trace = trace,
		.found = &found,
		.roles = table_zeroed(trace->apis_count, sizeof(*search.roles)),
		.groups = table_zeroed(trace->threads_count, sizeof(*search.groups)),
		.number_step = 1,
	};
	int err = found.rows && search.roles && search.groups ? 0 : -ENOMEM;

	if (err == 0)
		err = find_envelopes(&search);
	if (err == 0)
		err = find_operations(&search);
	search_release(&search);
	if (err < 0)
		rank_collectives_release(&found);
	else
		*ret_found = found;
	return err;
}

void rank_collectives_release(struct rank_collectives *found)
{
	free(found->rows);
	free(found->members);
	*found = (struct rank_collectives){0};
}
