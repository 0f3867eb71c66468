/* The line of graph launches: activities that the nodes say a launch must cause, against the
 * rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/graph/expect.h"
#include "trace/ledger/cuda_ends.h"
#include "trace/ledger/ledger_state.h"
#include "trace/row_table.h"

/* Counts each node of the launch once, however many activities it has: fills and copies may be
 * split. */
static void count_launch(const struct process_load *load, const struct trace_launch *launch,
			 struct trace_source *source)
{
	const struct trace *trace = load->trace;
	uint32_t last_node = TRACE_NONE;
	uint32_t at = launch->call == TRACE_NONE ? 0 : trace->calls[launch->call].activity_first;

	for (uint32_t i = 0; i < launch->activity_count; i++) {
		const struct trace_activity *row = &trace->activities[at + i];

		source->untimed += row->untimed != RECORD_UNTIMED_NO;
		/* Only the device knows how often a body runs. */
		if (launch->body_count && trace_is_in_body(trace, row))
			continue;
		if (row->node == TRACE_NONE)
			source->orphan_activities++;
		else
			source->joined += row->node != last_node;
		last_node = row->node;
	}
}

/* What launches lack, by kind. */
struct shortfall {
	uint64_t unseen;     /* expected activities of HIP launches that have no row at all */
	uint64_t cut;	     /* number of launches that lack some of their activities */
	uint64_t unfinished; /* activities of CUDA launches that nothing shows to have ended */
	/* activities of HIP launches whose doorbell had not been rung at the end */
	uint64_t unsubmitted;
};

/* What came, or could not come before the end. */
static uint64_t accounted(const struct trace_source *source, const struct shortfall *shortfall)
{
	return source->received + shortfall->unfinished + shortfall->unsubmitted;
}

static uint64_t missing_of(const struct trace_source *source, const struct shortfall *shortfall)
{
	uint64_t there = accounted(source, shortfall);

	return source->expected > there ? source->expected - there : 0;
}

static uint64_t at_most(uint64_t count, uint64_t limit)
{
	return count < limit ? count : limit;
}

/* Number of lost records of activities; the lines of their classes count them as drops. */
static uint64_t lost_records(const struct ledger *ledger)
{
	return ledger_losses(ledger, RECORD_CLASS_DISPATCH) +
	       ledger_losses(ledger, RECORD_CLASS_COPY) +
	       ledger_witness_or_0(ledger, WITNESS_CUDA_DROPPED);
}

/* Explains launches that have no row at all. Where HIP submits on a thread of its own, their
 * activities came without a call; up to that number they are put down as such. */
static void explain_unseen(struct ledger *ledger, struct trace_source *source,
			   const struct shortfall *shortfall)
{
	uint64_t missing = missing_of(source, shortfall), lost = lost_records(ledger);
	uint64_t unseen = ledger_take(&ledger->without_call_left, shortfall->unseen);
	uint64_t cut, unrecorded;

	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_WITHOUT_CALL, unseen);
	missing -= at_most(unseen, missing);
	cut = ledger_take(&ledger->cut_left, missing);
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_CUT, cut);
	/* The line of all packets counts them as lost. */
	unrecorded = ledger_take(&ledger->unrecorded_left, missing - cut);
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_UNRECORDED, unrecorded);
	source->unexplained = difference(source->expected,
					 accounted(source, shortfall) + unseen + cut + unrecorded +
						 at_most(lost, missing - cut - unrecorded));
}

/* Explains what CUPTI did not deliver. CUPTI still held the activities of launches whose calls had
 * returned when the process was killed, or when the recording ended during a tick; or it held them
 * behind an activity that was not finished. */
static void explain_undelivered(struct ledger *ledger, struct trace_source *source)
{
	if (source->received > source->expected)
		return;
	ledger_add_drop(
		ledger, source, TRACE_DROP_EDGE,
		ledger_ring_dropped_activities(ledger)
			? "dropped by the ring, or not delivered when the recording was cut off"
			: "not delivered when the recording was cut off",
		source->expected - source->received);
	source->unexplained = 0;
}

/* Explains launches whose kernels the ring reused: no more kernels than it reused. */
static void explain_ring_dropped(struct ledger *ledger, struct trace_source *source,
				 const struct shortfall *shortfall)
{
	uint64_t dropped = ledger_ring_dropped_activities(ledger);
	uint64_t missing = missing_of(source, shortfall);

	if (missing > dropped)
		missing = dropped;
	ledger_add_writers_drop(ledger, source, RECORD_DROP_RING, missing);
	source->unexplained = difference(source->expected, accounted(source, shortfall) + missing);
	if (shortfall->cut)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings,
					 "%llu launches at the ring's edge are not whole",
					 (unsigned long long)shortfall->cut));
}

static const struct expect_graph *expect_of(const struct process_load *load, uint32_t exec)
{
	uint32_t graph = exec == TRACE_NONE ? TRACE_NONE : load->trace->execs[exec].graph;

	return graph == TRACE_NONE ? NULL : &load->expects[graph - load->first.graphs];
}

/* Sets *RET_LEAST to what all launches must have caused at least, including launches whose records
 * the ring reused: replays are numbered, so their count is known. FAILED launches, of unknown
 * execs, caused nothing. A call that has not returned may not have launched yet. */
static int count_replays(const struct process_load *load, uint64_t failed, uint64_t *ret_least)
{
	const struct trace *trace = load->trace;
	uint32_t count = trace->execs_count - load->first.execs;
	uint64_t *replays = table_zeroed(count, sizeof(*replays));
	uint64_t sum = 0, largest = 0;

	if (!replays)
		return -ENOMEM;
	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		const struct trace_launch *launch = &trace->launches[i];
		uint64_t *most = launch->exec == TRACE_NONE || launch->call == TRACE_NONE
					 ? NULL
					 : &replays[launch->exec - load->first.execs];

		if (most && launch->replay + 1 > *most)
			*most = launch->replay + 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t exec = load->first.execs + i;
		const struct expect_graph *expect = expect_of(load, exec);
		bool is_known = expect && !expect->unknown && !cuda_is_switched(load, exec);
		uint64_t least = is_known ? expect_least(expect) : 0;

		sum += replays[i] * least;
		largest = least > largest ? least : largest;
	}
	free(replays);
	*ret_least = sum > failed * largest ? sum - failed * largest : 0;
	return 0;
}

/* Launches of which the ring kept nothing have no rows that could lack activities, and CUPTI does
 * not count what it loses on the GPU. So all known activities together must be at least as many as
 * the launches have nodes. The launches that have rows have been judged before. */
static void judge_ring_dropped(struct ledger *ledger, struct trace_source *source,
			       const struct shortfall *shortfall)
{
	const struct process_load *load = ledger->load;
	uint64_t dropped = ledger->ended_early ? 0 : ledger_ring_dropped_activities(ledger);
	uint64_t known =
		load->raw.type_counts[RECORD_CUDA_KERNEL] +
		load->raw.type_counts[RECORD_CUDA_COPY] + load->raw.type_counts[RECORD_DISPATCH] +
		load->raw.type_counts[RECORD_COPY] + ledger_drops(ledger, RECORD_CLASS_DISPATCH) +
		ledger_drops(ledger, RECORD_CLASS_COPY) +
		ledger_witness_or_0(ledger, WITNESS_CUDA_DROPPED) + shortfall->unfinished;
	uint64_t failed = ledger_witness_or_0(ledger, WITNESS_CUDA_LAUNCHES_FAILED);
	uint64_t least, missing;

	if (count_replays(load, failed, &least) < 0) {
		ledger->failed = true;
		return;
	}
	if (missing_of(source, shortfall) > dropped)
		known += missing_of(source, shortfall) - dropped;
	if (least <= known)
		return;
	missing = least - known;
	source->expected += missing;
	if (ledger->witnesses_are_late)
		ledger_add_drop(ledger, source, TRACE_DROP_EDGE,
				"not delivered when the recording ended, or lost by CUPTI",
				missing);
	else
		source->unexplained += missing;
}

/* CUPTI's activities without a call are in conditional nodes, or were launched by the device. */
static bool is_hips(const struct process_load *load, uint32_t call)
{
	const struct trace *trace = load->trace;

	return trace->apis[trace->calls[call].api].domain != RECORD_DOMAIN_CUDA;
}

static uint64_t activities_of(const struct trace_source *source)
{
	return source->joined + source->orphan_activities;
}

static void say_untold(struct ledger *ledger, struct trace_source *source, uint64_t untold)
{
	const char *why = ledger_ring_dropped(ledger, RECORD_CLASS_API)
				  ? "cut off or their call dropped by the ring"
				  : "cut off";

	ledger_say(ledger, source,
		   strtab_format(
			   ledger->load->strings,
			   "%llu launches not judged: %s, or of a graph that is not known in full",
			   (unsigned long long)untold, why));
}

static void say_switched(struct ledger *ledger, struct trace_source *source, uint64_t switched)
{
	ledger_say(ledger, source,
		   strtab_format(ledger->load->strings,
				 "%llu launches not judged: the program switches nodes of their "
				 "graphs on and off",
				 (unsigned long long)switched));
}

static bool has_bodies(const struct process_load *load)
{
	for (uint32_t i = load->first.nodes; i < load->trace->nodes_count; i++) {
		if (load->trace->nodes[i].type == RECORD_NODE_CONDITIONAL)
			return true;
	}
	return false;
}

/* Says how many activities are in conditional nodes' bodies, with a known replay and without. */
static void say_bodies(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	unsigned long long placed = 0, others = 0;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++)
		placed += trace->launches[i].body_count;
	for (uint32_t i = trace->activities_count;
	     i > load->first.activities && trace->activities[i - 1].call == TRACE_NONE; i--)
		others += trace->activities[i - 1].node != TRACE_NONE &&
			  trace->activities[i - 1].launch == TRACE_NONE;
	if (placed)
		ledger_say(
			ledger, source,
			strtab_format(load->strings,
				      "%llu activit%s of conditional bodies, not judged how many",
				      placed, placed == 1 ? "y" : "ies"));
	if (others)
		ledger_say(
			ledger, source,
			strtab_format(load->strings,
				      "%llu activit%s of %s: nothing tells of which replay", others,
				      others == 1 ? "y" : "ies",
				      others == 1 ? "a conditional body" : "conditional bodies"));
}

/* The program switched nodes of HIP's executable graphs off or on before this recording began.
 * Which nodes is not recorded, so it is not known how many activities each launch must cause. */
static void count_unjudged(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;

	for (uint32_t i = load->first.launches; i < load->trace->launches_count; i++)
		count_launch(load, &load->trace->launches[i], source);
	source->received = activities_of(source);
	ledger_say(ledger, source,
		   strtab_intern_z(load->strings, "not judged: the program had switched nodes of "
						  "graphs on or off before"));
}

/* Adds what the launch lacks: it caused BROUGHT of at least LEAST activities. */
static void add_shortfall(const struct ledger *ledger, const struct cuda_ends *ends,
			  const struct trace_launch *launch, uint64_t least, uint64_t brought,
			  struct shortfall *shortfall)
{
	const struct process_load *load = ledger->load;

	shortfall->cut += brought < least;
	if (is_hips(load, launch->call) && brought < least &&
	    ledger_is_unsubmitted(ledger, launch->call))
		shortfall->unsubmitted += least - brought;
	else if (is_hips(load, launch->call))
		shortfall->unseen += launch->activity_count ? 0 : least;
	else if (brought < least && !cuda_ends_cover(ends, load, launch))
		shortfall->unfinished += least - brought;
}

static void explain(struct ledger *ledger, struct trace_source *source, struct shortfall *shortfall)
{
	bool has_cuda = cuda_is_there(&ledger->load->cuda);
	bool is_cut = has_cuda && (ledger->ended_early ||
				   ledger_witness_or_0(ledger, WITNESS_CUDA_UNFINISHED_BUFFERS));
	bool has_ring = ledger_ring_dropped_activities(ledger) != 0;

	/* Then it is not known which work had ended. */
	if (is_cut)
		shortfall->unfinished = shortfall->unsubmitted = 0;
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "not finished when tracing ended",
			shortfall->unfinished);
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_UNSUBMITTED,
			shortfall->unsubmitted);
	if (is_cut)
		explain_undelivered(ledger, source);
	else if (has_ring)
		explain_ring_dropped(ledger, source, shortfall);
	else
		explain_unseen(ledger, source, shortfall);
	if (has_cuda && has_ring)
		judge_ring_dropped(ledger, source, shortfall);
}

/* The launches so far: what they must have caused, and what came. */
struct tally {
	struct cuda_ends ends;
	struct switch_walk switches;
	struct shortfall shortfall;
	uint64_t untold, switched; /* number of launches that are not judged */
};

static void tally_launch(const struct ledger *ledger, uint32_t index, struct trace_source *source,
			 struct tally *tally)
{
	const struct process_load *load = ledger->load;
	const struct trace_launch *launch = &load->trace->launches[index];
	const struct expect_graph *expect = expect_of(load, launch->exec);
	uint64_t cid = load->graph_input.launches[index - load->first.launches].cid;
	uint64_t before = activities_of(source), off, least;

	if (launch->call == TRACE_NONE || !expect || expect->unknown) {
		tally->untold++;
		return;
	}
	if (cuda_is_switched(load, launch->exec) ||
	    !switch_walk_take(&tally->switches, launch->exec, cid, &off)) {
		tally->switched++;
		return;
	}
	/* A launch that failed causes nothing. */
	if (load->trace->calls[launch->call].result != 0 && launch->activity_count == 0)
		return;
	least = expect_least(expect);
	least -= off < least ? off : least;
	source->expected += least;
	count_launch(load, launch, source);
	add_shortfall(ledger, &tally->ends, launch, least, activities_of(source) - before,
		      &tally->shortfall);
}

/* Compares nodes x launches with the rows. A launch that was cut off, whose call never returned, or
 * whose graph is not known in full, is not judged. */
void ledger_add_graphs(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	struct trace_source *source;
	struct tally tally = {0};

	if (trace->launches_count == load->first.launches)
		return;
	source = ledger_add_source(ledger, "graph");
	if (!source)
		return;
	if (ledger_witness_or_0(ledger, WITNESS_HIP_NODES_SWITCHED)) {
		count_unjudged(ledger, source);
		return;
	}
	if (switch_walk_init(&tally.switches, load) < 0 ||
	    (cuda_is_there(&load->cuda) && cuda_ends_find(load, &tally.ends) < 0)) {
		ledger->failed = true;
		switch_walk_release(&tally.switches);
		return;
	}
	ledger_set_expected(ledger, source, "nodes x launches", 0);
	for (uint32_t i = load->first.launches; i < trace->launches_count; i++)
		tally_launch(ledger, i, source, &tally);
	source->received = activities_of(source);
	explain(ledger, source, &tally.shortfall);
	if (has_bodies(load))
		say_bodies(ledger, source);
	if (tally.untold)
		say_untold(ledger, source, tally.untold);
	if (tally.switched)
		say_switched(ledger, source, tally.switched);
	cuda_ends_release(&tally.ends);
	switch_walk_release(&tally.switches);
}
