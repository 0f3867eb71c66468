/* The line of kernel launches: the dispatches that they must cause (expect_call.h) against the
 * rows. This witness needs no counter of a device. Without it, a recording into which no packet
 * came at all would look complete on a machine whose device has no counters. */
#include <string.h>

#include "base/workers.h"
#include "trace/ledger/ledger_state.h"

/* ---- what launches must cause, and what came ---- */

struct launch_tally {
	uint64_t expected, brought;
	uint64_t unsubmitted; /* of what is missing */
};

static uint64_t count_kernels(const struct trace *trace, const struct trace_call *call)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < call->activity_count; i++)
		count += trace_work_of(trace, &trace->activities[call->activity_first + i])->kind ==
			 TRACE_KERNEL;
	return count;
}

/* Threads share the calls. */
struct launch_tallying {
	const struct ledger *ledger;
	struct launch_tally of_worker[WORKERS_MOST];
};

static int tally_part(void *launch_tallying, unsigned worker, uint32_t number)
{
	struct launch_tallying *tallying = launch_tallying;
	const struct process_load *load = tallying->ledger->load;
	const struct trace *trace = load->trace;
	struct ledger_range range = ledger_calls_of(load, number);
	struct launch_tally tally = tallying->of_worker[worker];

	for (uint32_t i = range.first; i < range.end; i++) {
		uint64_t expected = load->tally.expected[i - load->first.calls], kernels;

		if (!expected)
			continue;
		kernels = count_kernels(trace, &trace->calls[i]);
		if (kernels > expected)
			kernels = expected;
		tally.expected += expected;
		tally.brought += kernels;
		if (kernels < expected && ledger_is_unsubmitted(tallying->ledger, i))
			tally.unsubmitted += expected - kernels;
	}
	tallying->of_worker[worker] = tally;
	return 0;
}

static struct launch_tally tally_launches(const struct ledger *ledger)
{
	struct launch_tallying tallying = {.ledger = ledger};
	struct launch_tally sum = {0};

	workers_run(WORKERS_ALL, ledger_call_parts(ledger->load), tally_part, &tallying);
	for (unsigned i = 0; i < WORKERS_MOST; i++) {
		sum.expected += tallying.of_worker[i].expected;
		sum.brought += tallying.of_worker[i].brought;
		sum.unsubmitted += tallying.of_worker[i].unsubmitted;
	}
	return sum;
}

/* Launches of graphs that are not known, or not in full: it is not known what they must cause. */
static uint64_t count_untold(const struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint64_t count = 0;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];
		const struct trace_api *api = &trace->apis[call->api];

		count += api->domain == RECORD_DOMAIN_HIP && call->result == 0 &&
			 !strncmp(load->strings->strings[api->name], "hipGraphLaunch", 14) &&
			 (call->launch == TRACE_NONE ||
			  trace->launches[call->launch].exec == TRACE_NONE ||
			  trace->execs[trace->launches[call->launch].exec].graph == TRACE_NONE);
	}
	return count;
}

/* ---- why dispatches are missing ---- */

/* The last record that source NAME wrote about itself; NULL: none. */
static const struct record_source *last_word(const struct process_load *load, const char *name)
{
	const struct raw_list *list = &load->raw.lists[RECORD_SOURCE];
	const struct record_source *last = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_source *record = list->rows[i].record;

		if (!strncmp(record->name, name, sizeof(record->name)) &&
		    (!last || record->ns >= last->ns))
			last = record;
	}
	return last;
}

static bool is_absent(const struct record_source *source)
{
	return !source || source->header.tag == RECORD_SOURCE_ABSENT;
}

static void say_why(struct ledger *ledger, struct trace_source *line)
{
	const struct record_source *hsa = last_word(ledger->load, "hsa");
	struct strtab *strings = ledger->load->strings;

	if (!hsa)
		ledger_say(ledger, line,
			   strtab_intern_z(strings,
					   "HSA is not recorded: no runtime handed its table to "
					   "the tool (HSA_TOOLS_LIB does not name it, or another "
					   "tool took its place)"));
	else if (is_absent(hsa))
		ledger_say(ledger, line,
			   strtab_format(strings, "HSA is not recorded: %.*s", (int)hsa->text_bytes,
					 hsa->text));
	else
		ledger_say(ledger, line,
			   strtab_intern_z(strings, "launches brought no kernel into any queue "
						    "that is watched"));
}

/* ---- the line ---- */

/* Takes up to MOST from what is missing and adds it as a drop with CAUSE. */
static void explain(struct ledger *ledger, struct trace_source *line, enum trace_drop_kind kind,
		    const char *cause, uint64_t most)
{
	uint64_t count = ledger_take(&line->unexplained, most);

	ledger_add_drop(ledger, line, kind, cause, count);
}

static void explain_from_pool(struct ledger *ledger, struct trace_source *line, const char *cause,
			      uint64_t *pool)
{
	uint64_t count = ledger_take(pool, line->unexplained);

	line->unexplained -= count;
	ledger_add_drop(ledger, line, TRACE_DROP_EDGE, cause, count);
}

static void explain_missing(struct ledger *ledger, struct trace_source *line,
			    const struct launch_tally *tally)
{
	line->unexplained = tally->expected - tally->brought;
	explain(ledger, line, TRACE_DROP_RINGED, "dropped by the ring",
		ledger_ring_dropped(ledger, RECORD_CLASS_DISPATCH));
	explain(ledger, line, TRACE_DROP_LOST, "the record of the dispatch was lost",
		ledger_losses(ledger, RECORD_CLASS_DISPATCH));
	explain(ledger, line, TRACE_DROP_EDGE, PACKETS_UNSUBMITTED, tally->unsubmitted);
	explain_from_pool(ledger, line, PACKETS_CUT, &ledger->cut_left);
	explain_from_pool(ledger, line, PACKETS_UNRECORDED, &ledger->unrecorded_left);
	explain_from_pool(ledger, line, PACKETS_WITHOUT_CALL, &ledger->without_call_left);
	explain(ledger, line, TRACE_DROP_LOST,
		"may have been captured: the graph's record was lost",
		ledger_drops(ledger, RECORD_CLASS_GRAPH));
}

void ledger_add_launches(struct ledger *ledger)
{
	bool is_off = is_absent(last_word(ledger->load, "hsa")) && !ledger->totals.dispatches;
	struct launch_tally tally = tally_launches(ledger);
	uint64_t untold = is_off ? count_untold(ledger->load) : 0;
	struct trace_source *line;

	if (!tally.expected && !untold)
		return;
	line = ledger_add_source(ledger, "hip.launch");
	if (!line)
		return;
	ledger_set_expected(ledger, line, "launch calls", tally.expected);
	line->received = tally.brought;
	line->joined = tally.brought;
	explain_missing(ledger, line, &tally);
	line->unexplained += untold;
	if (line->unexplained)
		say_why(ledger, line);
}
