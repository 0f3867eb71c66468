/* Takes the activities of a graph launch (dependency_walk.h). It walks the plan of the graph
 * (replay_plan.h): each item waits for the items before it, and the first items wait for the
 * earlier work of the stream. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/dependency_walk.h"
#include "base/table.h"

/* In replay_scratch.done: the item brought no work and depends on none, so it is done when the
 * launch may begin. */
#define DONE_AT_ENTRY TRACE_NONE

#define BODY_LOOKS 8 /* activities of a body that ended_before compares */

void replay_scratch_release(struct replay_scratch *scratch)
{
	free(scratch->next);
	free(scratch->refs);
	free(scratch->behind);
	free(scratch->done);
	free(scratch->gated);
	free(scratch->entry);
}

static int grow(uint32_t **rows, size_t *room, uint32_t count)
{
	return table_reserve((void **)rows, room, count, sizeof(**rows));
}

/* The launch that is being taken. */
struct replay {
	struct dependency_walk *walk;
	struct replay_scratch *scratch;
	/* NULL: the graph is not known, or its plan is not usable */
	const struct replay_plan *plan;
	const struct trace_activity *rows; /* of the launch */
	uint32_t graph, launch;
	uint32_t first, count; /* activities of the launch: [first, first + count) */
	uint32_t known;	       /* activities whose node is in the plan */
};

static int make_room(struct replay *replay)
{
	struct replay_scratch *scratch = replay->scratch;
	size_t next_room = scratch->room, behind_room = scratch->room;

	if (grow(&scratch->next, &next_room, replay->count) < 0 ||
	    grow(&scratch->behind, &behind_room, replay->count) < 0 ||
	    grow(&scratch->refs, &scratch->room, replay->count) < 0)
		return -ENOMEM;
	if (replay->plan &&
	    (grow(&scratch->done, &scratch->done_room, replay->plan->items_count) < 0 ||
	     grow(&scratch->gated, &scratch->gated_room, replay->plan->items_count) < 0))
		return -ENOMEM;
	return 0;
}

/* Puts into scratch->entry what the launch must wait for. Several sources become one join if the
 * launch has several activities, so that each first node needs one edge only. */
static int take_entry(struct replay *replay, uint32_t stream_order)
{
	struct replay_scratch *scratch = replay->scratch;
	struct dependencies *deps = replay->walk->deps;
	struct orders *orders = &replay->walk->orders;
	uint32_t opened;

	scratch->entry_count = 0;
	if (stream_order == TRACE_NONE)
		return 0;
	orders_take(orders, stream_order, replay->rows[0].agent);
	if (table_reserve((void **)&scratch->entry, &scratch->entry_room, orders->sources_count,
			  sizeof(*scratch->entry)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < orders->sources_count; i++)
		scratch->entry[i] = orders->sources[i];
	scratch->entry_count = orders->sources_count;
	if (scratch->entry_count < 2 || replay->count < 2)
		return 0;
	opened = store_open(deps);
	for (uint32_t i = 0; i < scratch->entry_count; i++)
		store_push(deps, scratch->entry[i]);
	scratch->entry[0] =
		dependency_on(store_close_join(deps, opened), TRACE_NONE, DEPENDENCY_STREAM);
	scratch->entry_count = 1;
	return 0;
}

static void push_entry(struct replay *replay, uint32_t activity)
{
	if (replay->walk->orders.is_blind)
		store_blind(replay->walk->deps, activity);
	for (uint32_t i = 0; i < replay->scratch->entry_count; i++)
		store_push(replay->walk->deps, replay->scratch->entry[i]);
}

/* Links the activities of each node (a copy or memset node may have several), and enters them into
 * their hardware queues. */
static void link_pieces(struct replay *replay)
{
	struct dependency_walk *walk = replay->walk;

	for (uint32_t at = 0; at < replay->count; at++) {
		uint32_t node = replay->rows[at].node;

		replay->scratch->behind[at] = queue_take(walk, replay->first + at);
		replay->scratch->next[at] = TRACE_NONE;
		replay->scratch->refs[at] = STORE_NOTHING;
		if (!replay->plan || node == TRACE_NONE ||
		    walk->plans.graph_of[node] != replay->graph)
			continue;
		node = walk->plans.item_node[node];
		replay->known++;
		if (walk->node_launch[node] == replay->launch + 1)
			replay->scratch->next[walk->node_last[node]] = at;
		else
			walk->node_first[node] = at;
		walk->node_launch[node] = replay->launch + 1;
		walk->node_last[node] = at;
	}
}

/* Pushes edges from the item's predecessors. Returns how many. */
static uint32_t push_predecessors(struct replay *replay, const struct replay_item *item)
{
	uint32_t pushed = 0;

	for (uint32_t i = 0; i < item->count; i++) {
		uint32_t done = replay->scratch->done[replay->plan->before[item->first + i]];

		if (done == DONE_AT_ENTRY)
			continue;
		store_push(replay->walk->deps,
			   dependency_on(done, TRACE_NONE,
					 replay->plan->is_programmatic[item->first + i]
						 ? DEPENDENCY_PROGRAMMATIC
						 : DEPENDENCY_GRAPH));
		pushed++;
	}
	return pushed;
}

/* For an item without activities: returns what its successors depend on instead, which is what the
 * item depends on; a join if there are several sources. */
static uint32_t pass_through(struct replay *replay, const struct replay_item *item)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t only = DONE_AT_ENTRY, several = 0, opened;

	for (uint32_t i = 0; i < item->count; i++) {
		uint32_t done = replay->scratch->done[replay->plan->before[item->first + i]];

		if (done == DONE_AT_ENTRY || done == only)
			continue;
		several += only != DONE_AT_ENTRY;
		only = done;
	}
	if (!several)
		return only;
	opened = store_open(deps);
	push_predecessors(replay, item);
	return store_close_join(deps, opened);
}

/* Whether the item is an event wait node, or comes after one with no work in between. The source of
 * such a node is not known. */
static bool is_gated(const struct replay *replay, const struct replay_item *item)
{
	const struct trace *trace = replay->walk->deps->trace;

	for (uint32_t i = 0; i < item->count; i++)
		if (replay->scratch->gated[replay->plan->before[item->first + i]])
			return true;
	return item->node != TRACE_NONE && trace->nodes[item->node].type == RECORD_NODE_EVENT_WAIT;
}

/* Takes the activities of an item. The first waits for the predecessors, each other one for the one
 * before it. Returns what successors depend on. */
static uint32_t take_pieces(struct replay *replay, const struct replay_item *item)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t at = replay->walk->node_first[item->node], ref = STORE_NOTHING;

	for (; at != TRACE_NONE; at = replay->scratch->next[at]) {
		uint32_t opened = store_open(deps);

		if (ref != STORE_NOTHING)
			store_push(deps, dependency_on(ref, TRACE_NONE, DEPENDENCY_REPLAY));
		else if (push_predecessors(replay, item) == 0)
			push_entry(replay, replay->first + at);
		queue_push(replay->walk, opened, replay->scratch->behind[at]);
		ref = store_close_activity(deps, opened, replay->first + at);
		replay->scratch->refs[at] = ref;
	}
	return ref;
}

/* Of the last BODY_LOOKS activities before place AT, the one that ended last before AT began; or
 * TRACE_NONE. LAST is a ring of COUNT places so far. */
static uint32_t ended_before(const struct replay *replay, const uint32_t *last, uint32_t count,
			     uint32_t at)
{
	uint32_t found = TRACE_NONE;

	for (uint32_t i = 0; i < count && i < BODY_LOOKS; i++) {
		uint32_t other = last[(count - 1 - i) % BODY_LOOKS];

		if (replay->rows[other].end_ns <= replay->rows[at].start_ns &&
		    (found == TRACE_NONE ||
		     replay->rows[other].end_ns > replay->rows[found].end_ns))
			found = other;
	}
	return found;
}

/* Takes the activities of a conditional node's bodies, in the order of starts: the device decided
 * what ran and how often. Returns the one that ended last. */
static uint32_t take_bodies(struct replay *replay, const struct replay_item *item)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t last[BODY_LOOKS], count = 0, latest = TRACE_NONE;

	for (uint32_t at = replay->walk->node_first[item->node]; at != TRACE_NONE;
	     at = replay->scratch->next[at]) {
		uint32_t before = ended_before(replay, last, count, at);
		uint32_t opened = store_open(deps);

		if (before != TRACE_NONE)
			store_push(deps, dependency_on(replay->scratch->refs[before], TRACE_NONE,
						       DEPENDENCY_STARTS));
		else if (push_predecessors(replay, item) == 0)
			push_entry(replay, replay->first + at);
		queue_push(replay->walk, opened, replay->scratch->behind[at]);
		replay->scratch->refs[at] = store_close_activity(deps, opened, replay->first + at);
		last[count++ % BODY_LOOKS] = at;
		if (latest == TRACE_NONE || replay->rows[at].end_ns > replay->rows[latest].end_ns)
			latest = at;
	}
	return replay->scratch->refs[latest];
}

/* Whether the replay has activities of the item's node. */
static bool is_here(const struct replay *replay, const struct replay_item *item)
{
	return item->node != TRACE_NONE &&
	       replay->walk->node_launch[item->node] == replay->launch + 1;
}

static uint32_t take_item(struct replay *replay, const struct replay_item *item)
{
	const struct trace *trace = replay->walk->deps->trace;

	if (!is_here(replay, item))
		return pass_through(replay, item);
	return trace->nodes[item->node].type == RECORD_NODE_CONDITIONAL ? take_bodies(replay, item)
									: take_pieces(replay, item);
}

/* Takes the items of the plan in order. */
static void take_known(struct replay *replay)
{
	const struct replay_plan *plan = replay->plan;

	for (uint32_t i = 0; i < plan->items_count; i++) {
		const struct replay_item *item = &plan->items[i];

		replay->scratch->gated[i] = is_gated(replay, item);
		if (is_here(replay, item) && replay->scratch->gated[i]) {
			store_blind(replay->walk->deps,
				    replay->first + replay->walk->node_first[item->node]);
			replay->scratch->gated[i] = false;
		}
		replay->scratch->done[i] = take_item(replay, item);
	}
}

/* Takes the activities whose node is not known, each after the activity before it. Returns what
 * depends on the last of them, or STORE_NOTHING. */
static uint32_t take_unknown(struct replay *replay)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t last = STORE_NOTHING;

	for (uint32_t at = 0; at < replay->count; at++) {
		uint32_t opened = store_open(deps);

		if (replay->scratch->refs[at] != STORE_NOTHING)
			continue;
		deps->nodes_unknown++;
		if (at)
			store_push(deps, dependency_on(replay->scratch->refs[at - 1], TRACE_NONE,
						       DEPENDENCY_REPLAY));
		else
			push_entry(replay, replay->first + at);
		queue_push(replay->walk, opened, replay->scratch->behind[at]);
		last = store_close_activity(deps, opened, replay->first + at);
		replay->scratch->refs[at] = last;
	}
	return last;
}

/* Returns what the next work of the stream waits for: the last items and UNKNOWN (the last activity
 * without a known node, or STORE_NOTHING), as one activity or join. */
static uint32_t leave(struct replay *replay, uint32_t unknown)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t opened = store_open(deps), last = unknown, count = unknown != STORE_NOTHING;

	for (uint32_t i = 0; replay->known && i < replay->plan->items_count; i++) {
		if (!replay->plan->items[i].is_last || replay->scratch->done[i] == DONE_AT_ENTRY)
			continue;
		last = replay->scratch->done[i];
		count++;
		store_push(deps, dependency_on(last, TRACE_NONE, DEPENDENCY_STREAM));
	}
	if (count == 1) {
		store_undo(deps, opened);
		return last;
	}
	if (unknown != STORE_NOTHING)
		store_push(deps, dependency_on(unknown, TRACE_NONE, DEPENDENCY_STREAM));
	return store_close_join(deps, opened);
}

/* ---- events that its nodes record ---- */

/* One activity or join that stands for all that the launch waited for, or STORE_NOTHING. */
static uint32_t join_entry(struct replay *replay)
{
	struct dependencies *deps = replay->walk->deps;
	uint32_t opened;

	if (replay->scratch->entry_count == 0)
		return STORE_NOTHING;
	if (replay->scratch->entry_count == 1)
		return replay->scratch->entry[0].from;
	opened = store_open(deps);
	for (uint32_t i = 0; i < replay->scratch->entry_count; i++)
		store_push(deps, replay->scratch->entry[i]);
	return store_close_join(deps, opened);
}

/* Counts the event records of the launch, from walk->next_record. They are sorted by node; records
 * of unknown nodes come last. */
static uint32_t count_records(const struct dependency_walk *walk, const struct trace_call *call)
{
	const struct trace *trace = walk->deps->trace;
	uint32_t at = walk->next_record;

	while (at < trace->event_records_count &&
	       trace->event_records[at].process == call->process &&
	       trace->event_records[at].cid == call->cid)
		at++;
	return at - walk->next_record;
}

static uint32_t find_record(const struct trace_event_record *rows, uint32_t count, uint32_t node)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && rows[low].node == node ? low : TRACE_NONE;
}

/* Sets what each of the next COUNT event records stands for: what successors of its node depend on.
 * A record stays RECORD_NOT_PLACED if its node, or a node of any activity, is not known, or if its
 * node is gated by an unknown source. */
static void take_records(struct replay *replay, uint32_t count)
{
	struct dependency_walk *walk = replay->walk;
	const struct trace *trace = walk->deps->trace;
	uint32_t *sources = &walk->record_sources[walk->next_record];
	uint32_t entry = STORE_NOTHING;
	bool has_entry = false;

	for (uint32_t i = 0; i < count; i++)
		sources[i] = RECORD_NOT_PLACED;
	walk->next_record += count;
	if (replay->known < replay->count)
		return;
	for (uint32_t i = 0; i < replay->plan->items_count; i++) {
		uint32_t node = replay->plan->items[i].node, done = replay->scratch->done[i], at;

		if (node == TRACE_NONE || trace->nodes[node].type != RECORD_NODE_EVENT_RECORD)
			continue;
		at = find_record(&trace->event_records[walk->next_record - count], count, node);
		if (at == TRACE_NONE || replay->scratch->gated[i])
			continue;
		if (done == DONE_AT_ENTRY && !has_entry) {
			entry = join_entry(replay);
			has_entry = true;
		}
		sources[at] = done == DONE_AT_ENTRY ? entry : done;
	}
}

/* Whether a last item of the plan is gated, so that the next work of the stream may wait for an
 * unknown source. */
static bool is_left_gated(const struct replay *replay)
{
	for (uint32_t i = 0; replay->known && i < replay->plan->items_count; i++)
		if (replay->plan->items[i].is_last && replay->scratch->gated[i])
			return true;
	return false;
}

int replay_take(struct dependency_walk *walk, const struct trace_call *call)
{
	const struct trace *trace = walk->deps->trace;
	const struct trace_launch *launch = &trace->launches[call->launch];
	struct replay replay = {
		.walk = walk,
		.scratch = &walk->replay,
		.rows = &trace->activities[call->activity_first],
		.graph = trace->execs[launch->exec].graph,
		.launch = call->launch,
		.first = call->activity_first,
		.count = call->activity_count,
	};
	uint32_t stream = launch->stream == TRACE_NONE ? replay.rows[0].stream : launch->stream;
	uint32_t stream_order = orders_find(&walk->orders, stream, replay.rows[0].agent), last,
		 records;

	if (replay.graph != TRACE_NONE) {
		replay.plan = replay_plans_get(&walk->plans, replay.graph);
		if (!replay.plan)
			return -ENOMEM;
		if (!replay.plan->is_usable)
			replay.plan = NULL;
	}
	if (make_room(&replay) < 0 || take_entry(&replay, stream_order) < 0)
		return -ENOMEM;
	link_pieces(&replay);
	if (replay.known)
		take_known(&replay);
	records = count_records(walk, call);
	if (records)
		take_records(&replay, records);
	last = leave(&replay, replay.known < replay.count ? take_unknown(&replay) : STORE_NOTHING);
	if (stream_order == TRACE_NONE)
		return 0;
	orders_give(&walk->orders, stream_order, last);
	walk->orders.rows[stream_order].is_blind |= is_left_gated(&replay);
	return 0;
}
