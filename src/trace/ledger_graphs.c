/* Graph launches: what the nodes say must have come against the rows. */
#include "trace/expect.h"
#include "trace/ledger_state.h"

static uint64_t least_of(const struct expect_graph *expect)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < expect->item_count; i++)
		sum += expect->items[i].least;
	return sum;
}

/* A node's share counts once, in however many pieces it came: fills and copies may be split. */
static void count_launch(const struct process_load *load, const struct trace_launch *launch,
			 struct trace_source *source)
{
	const struct trace *trace = load->trace;
	uint32_t last_node = TRACE_NONE;
	uint32_t at = launch->call == TRACE_NONE ? 0 : trace->calls[launch->call].activity_first;

	for (uint32_t i = 0; i < launch->activity_count; i++) {
		const struct trace_activity *row = &trace->activities[at + i];

		source->untimed += row->untimed != RECORD_UNTIMED_NO;
		if (row->node == TRACE_NONE)
			source->orphan_activities++;
		else
			source->joined += row->node != last_node;
		last_node = row->node;
	}
}

/* What launches that show no row at all should have brought: where HIP submits on a thread of its
 * own, it came without a call. It is put down as such, up to what came so. */
static void explain_unseen(struct ledger *ledger, struct trace_source *source, uint64_t unseen)
{
	if (unseen > ledger->totals.without_call)
		unseen = ledger->totals.without_call;
	ledger_add_drop(ledger, source, "came without a call: submitted by a thread of HIP's own",
			unseen);
	source->unexplained = difference(source->expected, source->received + unseen);
}

/* CUPTI still had the activities of launches whose calls had returned when the process was killed. */
static void explain_undelivered(struct ledger *ledger, struct trace_source *source)
{
	if (source->received > source->expected)
		return;
	ledger_add_drop(
		ledger, source,
		ledger_activities_let_go(ledger)
			? "let go by the ring, or not delivered when the recording was cut off"
			: "not delivered when the recording was cut off",
		source->expected - source->received);
	source->unexplained = 0;
}

/* A launch may be there of which kernels were let go: no more of them than were. */
static void explain_let_go(struct ledger *ledger, struct trace_source *source, uint64_t cut)
{
	uint64_t let_go = ledger_activities_let_go(ledger);
	uint64_t missing =
		source->expected > source->received ? source->expected - source->received : 0;

	if (missing > let_go)
		missing = let_go;
	ledger_add_drop(ledger, source, ledger_drop_text(RECORD_DROP_RING), missing);
	source->unexplained = difference(source->expected, source->received + missing);
	if (cut)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings,
					 "%llu launches at the ring's edge are not whole",
					 (unsigned long long)cut));
}

static uint64_t activities_of(const struct trace_source *source)
{
	return source->joined + source->orphan_activities;
}

static void say_untold(struct ledger *ledger, struct trace_source *source, uint64_t untold)
{
	const char *why = ledger_let_go(ledger, RECORD_CLASS_API)
				  ? "cut off or their call let go by the ring"
				  : "cut off";

	ledger_say(ledger, source,
		   strtab_format(
			   ledger->load->strings,
			   "%llu launches not judged: %s, or of a graph that is not known in full",
			   (unsigned long long)untold, why));
}

/* Nodes x launches against rows. Launches that were cut off, whose call never returned or whose
 * graph is not known in full, are not held against it. */
void ledger_add_graphs(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	struct trace_source *source;
	uint64_t untold = 0, unseen = 0, cut = 0, before;

	if (trace->launches_count == load->first.launches)
		return;
	source = ledger_add_source(ledger, "graph");
	if (!source)
		return;
	ledger_set_expected(ledger, source, "nodes x launches", 0);
	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		const struct trace_launch *launch = &trace->launches[i];
		uint32_t graph =
			launch->exec == TRACE_NONE ? TRACE_NONE : trace->execs[launch->exec].graph;
		const struct expect_graph *expect =
			graph == TRACE_NONE ? NULL : &load->expects[graph - load->first.graphs];

		if (launch->call == TRACE_NONE || !expect || expect->unknown) {
			untold++;
			continue;
		}
		/* A launch that failed brings nothing. */
		if (trace->calls[launch->call].result != 0 && launch->activity_count == 0)
			continue;
		source->expected += least_of(expect);
		unseen += launch->activity_count ? 0 : least_of(expect);
		before = activities_of(source);
		count_launch(load, launch, source);
		cut += activities_of(source) - before < least_of(expect);
	}
	source->received = activities_of(source);
	if (ledger->truncated && cuda_is_there(&load->cuda))
		explain_undelivered(ledger, source);
	else if (ledger_activities_let_go(ledger))
		explain_let_go(ledger, source, cut);
	else if (!ledger_has_activity_losses(ledger))
		explain_unseen(ledger, source, unseen);
	if (untold)
		say_untold(ledger, source, untold);
}
