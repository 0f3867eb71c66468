/* Lines of calls: the wrappers' counts of entered calls, and the activities that each call counted,
 * against the rows. */
#include "base/workers.h"
#include "trace/ledger/ledger_state.h"

/* Calls that have activities as expected, and calls that have fewer. */
struct call_tally {
	uint64_t joined, orphans;
	uint64_t missing;     /* activities that the orphans lack */
	uint64_t unsubmitted; /* of the orphans; `missing` is without them */
};

/* Threads share the calls. */
struct call_judging {
	const struct ledger *ledger;
	struct call_tally of_worker[WORKERS_MOST];
};

/* Compares the number of activities that a call counted itself with the rows that have its cid. */
static int judge_part(void *call_judging, unsigned worker, uint32_t number)
{
	struct call_judging *judging = call_judging;
	const struct process_load *load = judging->ledger->load;
	struct ledger_range range = ledger_calls_of(load, number);
	struct call_tally tally = judging->of_worker[worker];

	for (uint32_t i = range.first; i < range.end; i++) {
		const struct trace_call *call = &load->trace->calls[i];
		uint64_t found = (uint64_t)call->activity_count +
				 judging->ledger->barriers_of_call[i - load->first.calls];

		/* ledger_cuda.c judges CUDA's calls with what CUPTI says. */
		if (trace_domain_of(load->trace, call) == RECORD_DOMAIN_CUDA ||
		    found >= call->activities_expected) {
			tally.joined++;
			continue;
		}
		tally.orphans++;
		if (ledger_is_unsubmitted(judging->ledger, i))
			tally.unsubmitted++;
		else
			tally.missing += call->activities_expected - found;
	}
	judging->of_worker[worker] = tally;
	return 0;
}

static void judge_calls(struct ledger *ledger, struct trace_source *source)
{
	struct call_judging judging = {.ledger = ledger};
	uint64_t dropped = ledger_ring_dropped_activities(ledger), missing = 0, unsubmitted = 0;

	workers_run(WORKERS_ALL, ledger_call_parts(ledger->load), judge_part, &judging);
	for (unsigned i = 0; i < WORKERS_MOST; i++) {
		source->joined += judging.of_worker[i].joined;
		source->orphan_calls += judging.of_worker[i].orphans;
		missing += judging.of_worker[i].missing;
		unsubmitted += judging.of_worker[i].unsubmitted;
	}
	/* The ring reused at least as many activities as the calls lack, or they are not part of
	 * the recording. */
	if (missing <= dropped)
		source->orphan_calls =
			ledger_excuse_edge(ledger, source, source->orphan_calls, dropped,
					   "calls of which activities were");
	else if (missing >
			 dropped + ledger_packets_cut(ledger) + ledger_packets_unrecorded(ledger) &&
		 !ledger_has_activity_losses(ledger))
		source->unexplained += source->orphan_calls - unsubmitted;
	if (unsubmitted)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings,
					 "of %llu calls activities were " PACKETS_UNSUBMITTED,
					 (unsigned long long)unsubmitted));
}

/* Some of the calls that were open when the witness was taken may have returned since, with a
 * row. */
static void explain_open_calls(struct ledger *ledger, struct trace_source *source)
{
	uint64_t accounted = source->received + ledger_drops(ledger, RECORD_CLASS_API);

	if (source->expected <= accounted || source->expected - accounted > ledger->open_calls)
		return;
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "not returned when tracing ended",
			source->expected - accounted);
	source->unexplained = ledger->load->raw.counts.missing[RECORD_CLASS_API];
}

static const struct {
	enum witness calls, open;
} call_witnesses[] = {
	[RECORD_DOMAIN_HIP] = {WITNESS_HIP_CALLS, WITNESS_HIP_OPEN},
	[RECORD_DOMAIN_CUDA] = {WITNESS_CUDA_CALLS, WITNESS_CUDA_OPEN},
	[RECORD_DOMAIN_RCCL] = {WITNESS_RCCL_CALLS, WITNESS_RCCL_OPEN},
};

void ledger_say_not_subscribed(struct ledger *ledger, struct trace_source *source,
			       enum witness is_selected)
{
	if (ledger_witness_or_0(ledger, is_selected))
		ledger_say(ledger, source,
			   strtab_intern_z(ledger->load->strings,
					   "not subscribed: calls that only read or set a state "
					   "(dagtap record --calls all)"));
}

/* Sets *RET_CALLS to the number of entered calls of one interface, and adds those that had not
 * returned to open_calls. False if nothing counted them. */
static bool count_calls(struct ledger *ledger, enum record_domain interface, uint64_t *ret_calls)
{
	uint64_t open = 0;

	if (!ledger_find_witness(ledger, call_witnesses[interface].calls, ret_calls))
		return false;
	if (!ledger->witnesses_are_late)
		open = ledger_witness_or_0(ledger, call_witnesses[interface].open);
	ledger->open_calls += open > *ret_calls ? *ret_calls : open;
	return true;
}

static uint64_t count_rows_of(const struct ledger *ledger, enum record_domain domain)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	uint64_t count = 0;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++)
		count += trace->apis[trace->calls[i].api].domain == domain;
	return count;
}

/* Takes COUNT off the drops by the ring in OTHER's line: another line has them. */
static void take_ring_dropped(struct ledger *ledger, const struct trace_source *other,
			      uint64_t count)
{
	struct trace *trace = ledger->load->trace;

	for (uint32_t i = 0; i < other->drop_count; i++) {
		struct trace_drop *drop = &trace->drops[other->drop_first + i];

		if (drop->kind == TRACE_DROP_RINGED)
			drop->count -= count;
	}
}

/* Calls of HIP or CUDA (the line OTHER) and of RCCL are one class of records, so drops are not
 * known separately. They stand in OTHER's line, except for RCCL's calls that the ring reused. */
static void add_rccl(struct ledger *ledger, struct trace_source *other, uint64_t expected)
{
	uint64_t received = count_rows_of(ledger, RECORD_DOMAIN_RCCL);
	uint64_t judged = ledger->witnesses_are_late ? received : expected;
	uint64_t dropped = judged > received ? judged - received : 0;
	struct trace_source *source;

	if (dropped > ledger_ring_dropped(ledger, RECORD_CLASS_API))
		dropped = 0;
	take_ring_dropped(ledger, other, dropped);
	other->expected -= judged < other->expected ? judged : other->expected;
	other->received -= received < other->received ? received : other->received;
	other->joined -= received < other->joined ? received : other->joined;
	source = ledger_add_source(ledger, "rccl");
	if (!source)
		return;
	ledger_set_expected(ledger, source, ledger->witnesses_are_late ? "rows" : "wrappers",
			    judged);
	source->received = received;
	source->joined = received;
	ledger_add_writers_drop(ledger, source, RECORD_DROP_RING, dropped);
	if (!ledger->open_calls && !ledger_losses(ledger, RECORD_CLASS_API))
		source->unexplained = difference(judged, received + dropped);
}

void ledger_add_calls(struct ledger *ledger, const char *name, enum record_domain interface)
{
	struct trace_source *source;
	uint64_t calls = 0, cuda_calls = 0, rccl_calls = 0;
	bool is_counted = count_calls(ledger, interface, &calls);
	bool has_cuda = interface != RECORD_DOMAIN_CUDA &&
			count_calls(ledger, RECORD_DOMAIN_CUDA, &cuda_calls);
	bool has_rccl = count_calls(ledger, RECORD_DOMAIN_RCCL, &rccl_calls);

	is_counted |= has_cuda;
	if (!is_counted && !has_rccl && !ledger->load->raw.counts.attempted[RECORD_CLASS_API])
		return;
	source = ledger_add_class_line(ledger, name, RECORD_CLASS_API,
				       is_counted || has_rccl ? "wrappers" : NULL,
				       calls + cuda_calls + rccl_calls);
	if (!source)
		return;
	explain_open_calls(ledger, source);
	judge_calls(ledger, source);
	ledger_say_not_subscribed(ledger, source,
				  interface == RECORD_DOMAIN_HIP ? WITNESS_HIP_CALLS_SELECTED
								 : WITNESS_CUDA_CALLS_SELECTED);
	if (has_rccl)
		add_rccl(ledger, source, rccl_calls);
}

void ledger_judge_lost_calls(struct ledger *ledger, struct trace_source *source, uint64_t lost)
{
	uint64_t dropped = ledger_ring_dropped(ledger, RECORD_CLASS_API) +
			   ledger_ring_dropped(ledger, RECORD_CLASS_GRAPH);
	uint64_t left =
		ledger_excuse_edge(ledger, source, lost, dropped, "activities whose call was");

	source->orphan_activities -= lost - left;
	if (!left || ledger->witnesses_are_late || ledger->open_calls ||
	    ledger_losses(ledger, RECORD_CLASS_API))
		return;
	if (ledger_witness_or_0(ledger, WITNESS_CUDA_CALLS_SELECTED))
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings,
					 "the calls of %llu activities were not subscribed",
					 (unsigned long long)left));
	else
		source->unexplained += left;
}
