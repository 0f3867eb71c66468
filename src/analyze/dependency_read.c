/* What is read of the dependencies of a trace, and their texts (dependencies.h). */
#include "analyze/dependencies.h"

#include "trace/outermost.h"

static struct dependency_list list_of(const struct dependencies *deps, uint32_t list)
{
	struct dependency_list found = {0};

	if (!list)
		return found;
	found.rows = &deps->edges[list - 1];
	while (!found.rows[found.count++].is_last)
		;
	return found;
}

struct dependency_list dependencies_of_activity(const struct dependencies *deps, uint32_t activity)
{
	return list_of(deps, deps->lists[activity]);
}

struct dependency_list dependencies_of_call(const struct dependencies *deps, uint32_t call)
{
	uint32_t low = 0, high = deps->hosts_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (deps->hosts[middle].call < call)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == deps->hosts_count || deps->hosts[low].call != call)
		return (struct dependency_list){0};
	return list_of(deps, deps->hosts[low].list);
}

/* Whether the kind relates two streams, or a stream and the host. On the way from a row to its
 * source such an edge explains the wait better than one within a stream. */
static bool says_more(enum dependency_kind kind)
{
	return kind == DEPENDENCY_EVENT || kind == DEPENDENCY_LEGACY ||
	       (kind >= DEPENDENCY_HOST_EVENT && kind <= DEPENDENCY_BLOCKING);
}

/* The first edge to the join from what ends with it; NULL: the join has no end. */
static const struct dependency *last_of_join(const struct dependencies *deps,
					     const struct dependency_join *join)
{
	uint32_t joins = dependencies_first_join(deps);
	struct dependency_list list = list_of(deps, join->list);

	if (join->end_ns == INT64_MIN)
		return NULL;
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t from = list.rows[i].from;
		int64_t end_ns = from < joins ? deps->trace->activities[from].end_ns
					      : deps->joins[from - joins].end_ns;

		if (end_ns == join->end_ns)
			return &list.rows[i];
	}
	return NULL;
}

bool dependencies_follow(const struct dependencies *deps, const struct dependency *edge,
			 int64_t limit_ns, struct dependency_source *ret_source)
{
	const struct trace_activity *rows = deps->trace->activities;
	uint32_t joins = dependencies_first_join(deps);
	struct dependency_source source = {.via = edge->via,
					   .kind = (enum dependency_kind)edge->kind};
	uint32_t at = edge->from;

	while (at >= joins) {
		const struct dependency *last = last_of_join(deps, &deps->joins[at - joins]);

		if (!last)
			return false;
		if (!says_more(source.kind) && says_more((enum dependency_kind)last->kind)) {
			source.kind = (enum dependency_kind)last->kind;
			source.via = last->via;
		}
		at = last->from;
	}
	if (rows[at].start_ns >= limit_ns)
		return false;
	source.activity = at;
	source.end_ns = rows[at].end_ns < limit_ns ? rows[at].end_ns : limit_ns;
	*ret_source = source;
	return true;
}

void dependency_offer(struct dependency_choice *choice, const struct dependency_source *source)
{
	if (choice->source.kind == DEPENDENCY_NONE || source->end_ns > choice->source.end_ns) {
		if (choice->source.kind != DEPENDENCY_NONE)
			choice->next_ns = choice->source.end_ns;
		choice->source = *source;
	} else if (source->end_ns > choice->next_ns) {
		choice->next_ns = source->end_ns;
	}
}

struct dependency_choice dependencies_choose(const struct dependencies *deps,
					     struct dependency_list list, int64_t limit_ns)
{
	struct dependency_choice choice = {.source.kind = DEPENDENCY_NONE, .next_ns = INT64_MIN};
	struct dependency_source source;

	for (uint32_t i = 0; i < list.count; i++) {
		if (dependencies_follow(deps, &list.rows[i], limit_ns, &source))
			dependency_offer(&choice, &source);
	}
	return choice;
}

int64_t dependencies_release_ns(const struct trace *trace, const struct trace_activity *activity)
{
	const struct trace_call *call = &trace->calls[activity->call];
	/* CUPTI does not report the submission; submit_ns then is the begin of the call, and the
	 * end of the call is used instead. */
	int64_t ns = activity->submit_ns > call->begin_ns ? activity->submit_ns : call->end_ns;

	return ns < activity->start_ns ? ns : activity->start_ns;
}

bool dependencies_is_collective(const struct dependencies *deps,
				const struct trace_activity *activity)
{
	const struct trace *trace = deps->trace;

	if (deps->is_collective[activity->work])
		return true;
	return deps->has_rccl && trace_work_of(trace, activity)->kind == TRACE_KERNEL &&
	       trace_outermost_rccl_call(trace, activity->call) != TRACE_NONE;
}

const char *dependency_kind_key(enum dependency_kind kind)
{
	static const char *const keys[] = {
#define X(name, key, known) [DEPENDENCY_##name] = key,
		DEPENDENCY_KINDS(X)
#undef X
			[DEPENDENCY_NONE] = "none",
	};

	return keys[kind];
}

const char *dependency_kind_text(enum dependency_kind kind)
{
	static const char *const texts[] = {
#define X(name, key, known) [DEPENDENCY_##name] = known,
		DEPENDENCY_KINDS(X)
#undef X
			[DEPENDENCY_NONE] = "not known",
	};

	return texts[kind];
}

const char *dependency_doubt_text(enum dependency_doubt doubt)
{
	static const char *const texts[] = {
#define X(name, text) [DEPENDENCY_DOUBT_##name] = text,
		DEPENDENCY_DOUBTS(X)
#undef X
	};

	return texts[doubt];
}
