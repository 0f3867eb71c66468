/* The ledger: for every source, what somebody else than the rows' writer counted, against the rows.
 *
 * Witnesses: the counts that each writer keeps apart from its records (lanes), the wrappers' count
 * of entered calls, the queue gates' counts, the devices' own write indices, the software GPU's
 * counters, the graphs' topology. In a truncated recording, and where witnesses themselves found no
 * room, only the lanes are up to date with the rows; the others were written some time before the end
 * and are left out. */
#include "trace/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/expect.h"
#include "trace/process.h"
#include "trace/table.h"

static const char *const drop_texts[] = {
#define X(name, text) [RECORD_DROP_##name] = text,
	RECORD_DROPS(X)
#undef X
};

/* Totals that several lines use. */
struct totals {
	uint64_t dispatches, dispatches_joined, dispatches_untimed, dispatches_lost_call;
	uint64_t copies, copies_joined, copies_untimed, copies_lost_call;
	uint64_t without_call; /* dispatches and copies that came with no call at all */
	uint64_t gate_dispatches, gate_barriers, gate_others, write_indices;
	uint32_t gate_count; /* queues with counts */
};

struct ledger {
	struct process_load *load;
	struct totals totals;
	uint32_t *barriers_of_call; /* by call, from first.calls */
	bool truncated;
	bool witnesses_are_late; /* some were written before the last rows */
	uint64_t open_calls;	 /* entered, not returned when tracing ended */
	bool failed;
};

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t class_drops(const struct ledger *ledger, enum record_class class)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		sum += ledger->load->counts.dropped[class][cause];
	return sum + ledger->load->counts.in_flight[class];
}

static bool find_witness(const struct ledger *ledger, const char *source, const char *key,
			 uint64_t *ret_value)
{
	const struct raw_list *list = &ledger->load->lists[RECORD_WITNESS];
	const struct record_witness *last = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_witness *record = list->rows[i].record;

		if (strncmp(record->source, source, sizeof(record->source)) != 0 ||
		    strncmp(record->key, key, sizeof(record->key)) != 0)
			continue;
		if (!last || record->ns >= last->ns)
			last = record;
	}
	if (!last)
		return false;
	*ret_value = last->value;
	return true;
}

static struct trace_source *add_source(struct ledger *ledger, const char *name)
{
	struct trace_source *source = trace_add(ledger->load->trace, sources);
	struct strtab *strings = ledger->load->strings;

	if (!source) {
		ledger->failed = true;
		return NULL;
	}
	source->process = ledger->load->process;
	source->name = strtab_intern_z(strings, name);
	source->state = strtab_intern_z(strings, "on");
	source->drop_first = ledger->load->trace->drops_count;
	return source;
}

/* Drops of one source follow each other: they are added right after the source. */
static void add_drop(struct ledger *ledger, struct trace_source *source, const char *cause,
		     uint64_t count)
{
	struct trace_drop *drop;

	if (count == 0)
		return;
	drop = trace_add(ledger->load->trace, drops);
	if (!drop) {
		ledger->failed = true;
		return;
	}
	drop->cause = strtab_intern_z(ledger->load->strings, cause);
	drop->count = count;
	source->drop_count++;
}

static void add_class_drops(struct ledger *ledger, struct trace_source *source,
			    enum record_class class)
{
	const struct spool_ledger *counts = &ledger->load->counts;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		add_drop(ledger, source, drop_texts[cause], counts->dropped[class][cause]);
	add_drop(ledger, source, "cut off while being written", counts->in_flight[class]);
}

static void set_expected(struct ledger *ledger, struct trace_source *source, const char *witness,
			 uint64_t expected)
{
	source->has_expected = true;
	source->expected = expected;
	source->witness = strtab_intern_z(ledger->load->strings, witness);
}

/* EXPECTED by WITNESS, unless the recording was cut off: then the lanes are the witness. What the
 * lanes miss is unexplained either way. */
static struct trace_source *add_class_line(struct ledger *ledger, const char *name,
					   enum record_class class, const char *witness,
					   uint64_t expected)
{
	const struct spool_ledger *counts = &ledger->load->counts;
	struct trace_source *source = add_source(ledger, name);
	uint64_t accounted;

	if (!source)
		return NULL;
	if (!witness || ledger->witnesses_are_late) {
		witness = "lanes";
		expected = counts->attempted[class];
	}
	set_expected(ledger, source, witness, expected);
	source->received = counts->found[class];
	add_class_drops(ledger, source, class);
	accounted = source->received + class_drops(ledger, class);
	source->unexplained = difference(expected, accounted);
	if (source->unexplained < counts->missing[class])
		source->unexplained = counts->missing[class];
	return source;
}

static void count_rows(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	struct totals *totals = &ledger->totals;

	for (uint32_t i = load->first.activities; i < load->trace->activities_count; i++) {
		const struct trace_activity *row = &load->trace->activities[i];
		const struct trace_op *op = trace_op_of(load->trace, row);
		bool is_dispatch = op->kind != TRACE_COPY || op->blit;
		bool has_call = row->call != TRACE_NONE;
		bool lost = !has_call && row->cid;

		totals->without_call += !row->cid;
		if (is_dispatch) {
			totals->dispatches++;
			totals->dispatches_joined += has_call;
			totals->dispatches_lost_call += lost;
			totals->dispatches_untimed += row->untimed != RECORD_UNTIMED_NO;
		} else {
			totals->copies++;
			totals->copies_joined += has_call;
			totals->copies_lost_call += lost;
			totals->copies_untimed += row->untimed != RECORD_UNTIMED_NO;
		}
	}
}

static uint64_t by_tag(const struct raw *row)
{
	return ((const struct record_header *)row->record)->tag;
}

static uint64_t by_ns(const struct raw *row)
{
	return ((const struct record_queue_count *)row->record)->ns;
}

/* Counts are cumulative: the last of each queue is valid. */
static int count_gates(struct ledger *ledger)
{
	struct raw_list *list = &ledger->load->lists[RECORD_QUEUE_COUNT];
	struct totals *totals = &ledger->totals;

	if (raw_sort(list, by_ns) < 0 || raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_queue_count *record = list->rows[i].record;

		if (i + 1 < list->count && by_tag(&list->rows[i + 1]) == record->header.tag)
			continue;
		totals->gate_count++;
		totals->gate_dispatches += record->dispatches;
		totals->gate_barriers += record->barriers;
		totals->gate_others += record->others;
		totals->write_indices += record->write_index;
	}
	return 0;
}

static int count_barriers(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;

	ledger->barriers_of_call =
		calloc((size_t)(trace->calls_count - load->first.calls) + 1, sizeof(uint32_t));
	if (!ledger->barriers_of_call)
		return -ENOMEM;
	for (uint32_t i = load->first.barriers; i < trace->barriers_count; i++) {
		if (trace->barriers[i].call != TRACE_NONE)
			ledger->barriers_of_call[trace->barriers[i].call - load->first.calls]++;
	}
	return 0;
}

static bool has_activity_drops(const struct ledger *ledger)
{
	uint64_t dropped = 0;

	if (find_witness(ledger, "cuda", "dropped", &dropped) && dropped)
		return true;
	return class_drops(ledger, RECORD_CLASS_DISPATCH) ||
	       class_drops(ledger, RECORD_CLASS_COPY) ||
	       class_drops(ledger, RECORD_CLASS_BARRIER) || ledger->totals.gate_others;
}

/* A call's own count of what it submitted against the rows that came with its cid. */
static void judge_calls(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;

	for (uint32_t i = load->first.calls; i < load->trace->calls_count; i++) {
		const struct trace_call *call = &load->trace->calls[i];
		uint64_t found = (uint64_t)call->activity_count +
				 ledger->barriers_of_call[i - load->first.calls];

		if (found < call->activities_expected)
			source->orphan_calls++;
		else
			source->joined++;
	}
	if (source->orphan_calls && !has_activity_drops(ledger))
		source->unexplained += source->orphan_calls;
}

/* Of the calls that were open when the count was taken some may have returned since, with a row. */
static void explain_open_calls(struct ledger *ledger, struct trace_source *source)
{
	uint64_t accounted = source->received + class_drops(ledger, RECORD_CLASS_API);

	if (source->expected <= accounted || source->expected - accounted > ledger->open_calls)
		return;
	add_drop(ledger, source, "not returned when tracing ended", source->expected - accounted);
	source->unexplained = ledger->load->counts.missing[RECORD_CLASS_API];
}

/* Entered calls of one interface; those that had not returned go to the sum of the open ones. */
static bool count_calls(struct ledger *ledger, const char *interface, uint64_t *ret_calls)
{
	uint64_t open = 0;

	if (!find_witness(ledger, interface, "calls", ret_calls))
		return false;
	if (ledger->witnesses_are_late || !find_witness(ledger, interface, "open", &open))
		open = 0;
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

/* The calls of HIP or CUDA and RCCL's are one class of records: what was dropped of it stands in the
 * former's line. */
static void add_rccl(struct ledger *ledger, struct trace_source *other, uint64_t expected)
{
	uint64_t received = count_rows_of(ledger, RECORD_DOMAIN_RCCL);
	uint64_t judged = ledger->witnesses_are_late ? received : expected;
	struct trace_source *source;

	other->expected -= judged < other->expected ? judged : other->expected;
	other->received -= received < other->received ? received : other->received;
	other->joined -= received < other->joined ? received : other->joined;
	source = add_source(ledger, "rccl");
	if (!source)
		return;
	set_expected(ledger, source, ledger->witnesses_are_late ? "rows" : "wrappers", judged);
	source->received = received;
	source->joined = received;
	if (!ledger->open_calls && !class_drops(ledger, RECORD_CLASS_API))
		source->unexplained = difference(judged, received);
}

/* INTERFACE: "hip" or "cuda". */
static void add_calls(struct ledger *ledger, const char *name, const char *interface)
{
	struct trace_source *source;
	uint64_t calls = 0, rccl_calls = 0;
	bool is_counted = count_calls(ledger, interface, &calls);
	bool has_rccl = count_calls(ledger, "rccl", &rccl_calls);

	if (!is_counted && !has_rccl && !ledger->load->counts.attempted[RECORD_CLASS_API])
		return;
	source = add_class_line(ledger, name, RECORD_CLASS_API,
				is_counted || has_rccl ? "wrappers" : NULL, calls + rccl_calls);
	if (!source)
		return;
	explain_open_calls(ledger, source);
	judge_calls(ledger, source);
	if (has_rccl)
		add_rccl(ledger, source, rccl_calls);
}

/* An activity may name a call that has no row: it was dropped, or had not returned. */
static void judge_lost_calls(struct ledger *ledger, struct trace_source *source, uint64_t lost)
{
	if (lost && !ledger->witnesses_are_late && !ledger->open_calls &&
	    !class_drops(ledger, RECORD_CLASS_API))
		source->unexplained += lost;
}

static void add_dispatches(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source =
		add_class_line(ledger, "hsa.dispatch", RECORD_CLASS_DISPATCH,
			       totals->gate_count ? "queue gates" : NULL, totals->gate_dispatches);

	if (!source)
		return;
	source->joined = totals->dispatches_joined;
	source->orphan_activities = totals->dispatches - totals->dispatches_joined;
	source->untimed = totals->dispatches_untimed;
	judge_lost_calls(ledger, source, totals->dispatches_lost_call);
	source->unexplained += ledger->load->duplicates;
}

static void add_copies(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source;
	uint64_t started = 0;
	bool is_counted = find_witness(ledger, "hsa", "copies_started", &started);

	source = add_class_line(ledger, "hsa.copy", RECORD_CLASS_COPY,
				is_counted ? "copy wrappers" : NULL, started);
	if (!source)
		return;
	source->joined = totals->copies_joined;
	source->orphan_activities = totals->copies - totals->copies_joined;
	source->untimed = totals->copies_untimed;
	judge_lost_calls(ledger, source, totals->copies_lost_call);
}

/* What the gates passed on, against the index that the device itself consumes up to. */
static void add_packets(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source;

	if (!totals->gate_count || ledger->witnesses_are_late)
		return;
	source = add_source(ledger, "hsa.packet");
	if (!source)
		return;
	set_expected(ledger, source, "device write indices", totals->write_indices);
	source->received = totals->gate_dispatches + totals->gate_barriers + totals->gate_others;
	source->joined = source->received;
	source->unexplained = difference(source->expected, source->received);
}

/* Of the completions whose record was dropped some belong to submissions whose own record was dropped
 * too; there, a completion whose record is kept belongs to nobody. Both together are no more than
 * such submissions. */
static uint64_t unexplained_dones(const struct ledger *ledger, const struct trace_source *source,
				  uint64_t dropped)
{
	uint64_t accounted = source->joined + dropped;
	uint64_t of_nobody = source->orphan_activities;
	uint64_t submissions_lost =
		class_drops(ledger, RECORD_CLASS_DISPATCH) + class_drops(ledger, RECORD_CLASS_COPY);

	if (accounted < source->expected)
		return source->expected - accounted + of_nobody;
	of_nobody += accounted - source->expected;
	return of_nobody > submissions_lost ? of_nobody - submissions_lost : 0;
}

static void add_dones(struct ledger *ledger)
{
	struct process_load *load = ledger->load;
	struct trace_source *source = add_source(ledger, "hsa.done");
	uint64_t dropped = class_drops(ledger, RECORD_CLASS_DONE);
	uint64_t interrupted = 0;

	if (!source)
		return;
	set_expected(ledger, source, "submissions", ledger->load->awaited);
	source->received =
		load->type_counts[RECORD_DISPATCH_DONE] + load->type_counts[RECORD_COPY_DONE];
	source->joined = source->received - load->unmatched_done;
	source->orphan_activities = load->unmatched_done;
	add_class_drops(ledger, source, RECORD_CLASS_DONE);
	if (ledger->truncated && source->joined + dropped < source->expected) {
		uint64_t unfinished = source->expected - source->joined - dropped;

		add_drop(ledger, source, "recording ends before", unfinished);
		dropped += unfinished;
	}
	if (find_witness(ledger, "hsa", "completions_unrecorded", &interrupted) &&
	    source->joined + dropped < source->expected) {
		uint64_t missing = source->expected - source->joined - dropped;
		uint64_t count = missing < interrupted ? missing : interrupted;

		add_drop(ledger, source, "the program ended while they were collected", count);
		dropped += count;
	}
	source->unexplained = unexplained_dones(ledger, source, dropped);
}

/* What the rows and the software GPU need not have alike. Each packet explains one packet. */
struct device_slack {
	uint64_t untraced; /* sent since tracing ended */
	uint64_t waiting;  /* recorded, not taken by the device */
};

static uint64_t take_slack(uint64_t *slack, uint64_t wanted)
{
	uint64_t taken = wanted < *slack ? wanted : *slack;

	*slack -= taken;
	return taken;
}

/* One figure of the software GPU against the rows of one class. */
static void add_softgpu_line(struct ledger *ledger, const char *name, enum record_class class,
			     uint64_t counted, struct device_slack *slack)
{
	struct trace_source *source = add_source(ledger, name);
	uint64_t accounted = ledger->load->counts.found[class] + class_drops(ledger, class);
	uint64_t untraced;

	if (!source)
		return;
	set_expected(ledger, source, "software GPU", counted);
	source->received = ledger->load->counts.found[class];
	source->joined = source->received;
	add_class_drops(ledger, source, class);
	if (accounted > counted) {
		source->unexplained = accounted - counted;
		source->unexplained -= take_slack(&slack->waiting, source->unexplained);
		return;
	}
	untraced = take_slack(&slack->untraced, counted - accounted);
	add_drop(ledger, source, "sent after tracing ended", untraced);
	source->unexplained = counted - accounted - untraced;
}

static uint64_t witness_or_0(const struct ledger *ledger, const char *source, const char *key)
{
	uint64_t value = 0;

	find_witness(ledger, source, key, &value);
	return value;
}

static struct device_slack packet_slack(const struct ledger *ledger)
{
	struct device_slack slack = {
		.untraced = witness_or_0(ledger, "hsa", "packets_untraced"),
		.waiting = witness_or_0(ledger, "hsa", "packets_waiting"),
	};
	/* Kinds of packets that have no rows, and so no line. */
	uint64_t others = witness_or_0(ledger, "softgpu", "packets_vendor") +
			  witness_or_0(ledger, "softgpu", "packets_agent_dispatch") +
			  witness_or_0(ledger, "softgpu", "packets_invalid_type");
	uint64_t gate_others = ledger->totals.gate_others;

	if (others > gate_others)
		take_slack(&slack.untraced, others - gate_others);
	else
		take_slack(&slack.waiting, gate_others - others);
	return slack;
}

static void add_softgpu(struct ledger *ledger)
{
	uint64_t dispatches, barriers_and, barriers_or, copies, copies_rect;
	struct device_slack packets, copy_slack = {0};

	if (ledger->witnesses_are_late)
		return;
	if (!find_witness(ledger, "softgpu", "packets_kernel_dispatch", &dispatches) ||
	    !find_witness(ledger, "softgpu", "packets_barrier_and", &barriers_and) ||
	    !find_witness(ledger, "softgpu", "packets_barrier_or", &barriers_or) ||
	    !find_witness(ledger, "softgpu", "copies", &copies) ||
	    !find_witness(ledger, "softgpu", "copies_rect", &copies_rect))
		return;
	packets = packet_slack(ledger);
	copy_slack.untraced = witness_or_0(ledger, "hsa", "copies_untraced");
	add_softgpu_line(ledger, "softgpu.dispatch", RECORD_CLASS_DISPATCH, dispatches, &packets);
	add_softgpu_line(ledger, "softgpu.barrier", RECORD_CLASS_BARRIER,
			 barriers_and + barriers_or, &packets);
	add_softgpu_line(ledger, "softgpu.copy", RECORD_CLASS_COPY, copies + copies_rect,
			 &copy_slack);
}

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
	add_drop(ledger, source, "came without a call: submitted by a thread of HIP's own", unseen);
	source->unexplained = difference(source->expected, source->received + unseen);
}

/* CUPTI still had the activities of launches whose calls had returned when the process was killed. */
static void explain_undelivered(struct ledger *ledger, struct trace_source *source)
{
	if (source->received > source->expected)
		return;
	add_drop(ledger, source, "not delivered when the recording was cut off",
		 source->expected - source->received);
	source->unexplained = 0;
}

/* Nodes x launches against rows. Launches that were cut off, whose call never returned or whose
 * graph is not known in full, are not held against it. */
static void add_graphs(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	struct trace_source *source;
	uint64_t untold = 0, unseen = 0;

	if (trace->launches_count == load->first.launches)
		return;
	source = add_source(ledger, "graph");
	if (!source)
		return;
	set_expected(ledger, source, "nodes x launches", 0);
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
		count_launch(load, launch, source);
	}
	source->received = source->joined + source->orphan_activities;
	if (ledger->truncated && cuda_is_there(&load->cuda))
		explain_undelivered(ledger, source);
	else if (!has_activity_drops(ledger))
		explain_unseen(ledger, source, unseen);
	if (untold)
		source->text =
			strtab_format(load->strings,
				      "%llu launches not judged: cut off, or of a graph that "
				      "is not known in full",
				      (unsigned long long)untold);
}

/* What a source says about itself goes to its line, or to a line of its own. */
static void add_states(struct ledger *ledger, uint32_t first)
{
	static const char *const states[] = {"on", "on", "partial", "absent"};
	struct process_load *load = ledger->load;
	const struct raw_list *list = &load->lists[RECORD_SOURCE];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_source *record = list->rows[i].record;
		trace_string name =
			strtab_intern_field(load->strings, record->name, sizeof(record->name));
		uint32_t at = first;
		struct trace_source *source;

		while (at < load->trace->sources_count && load->trace->sources[at].name != name)
			at++;
		source = at < load->trace->sources_count
				 ? &load->trace->sources[at]
				 : add_source(ledger, load->strings->strings[name]);
		if (!source)
			return;
		source->state = strtab_intern_z(
			load->strings, states[record->header.tag < 4 ? record->header.tag : 0]);
		source->text = strtab_intern(load->strings, record->text, record->text_bytes);
	}
}

/* What CUPTI gave and what it says it dropped, against the rows. */
static void add_cuda_activities(struct ledger *ledger)
{
	static const enum record_type types[] = {RECORD_CUDA_KERNEL, RECORD_CUDA_COPY,
						 RECORD_CUDA_SYNC,   RECORD_CUDA_EVENT,
						 RECORD_CUDA_MEMORY, RECORD_CUDA_OVERHEAD};
	static const enum record_class classes[] = {RECORD_CLASS_DISPATCH, RECORD_CLASS_COPY,
						    RECORD_CLASS_BARRIER};
	const struct process_load *load = ledger->load;
	const struct totals *totals = &ledger->totals;
	struct trace_source *source = add_source(ledger, "cuda");
	uint64_t dropped = witness_or_0(ledger, "cuda", "dropped");
	uint64_t lost = 0, accounted;

	if (!source)
		return;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		source->received += load->type_counts[types[i]];
	add_drop(ledger, source, "CUPTI had no buffer for it", dropped);
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		add_class_drops(ledger, source, classes[i]);
		lost += class_drops(ledger, classes[i]);
		source->unexplained += load->counts.missing[classes[i]];
	}
	accounted = source->received + dropped + lost;
	if (ledger->witnesses_are_late)
		set_expected(ledger, source, "lanes", accounted + source->unexplained);
	else
		set_expected(ledger, source, "CUPTI",
			     witness_or_0(ledger, "cuda", "kernels") +
				     witness_or_0(ledger, "cuda", "copies") +
				     witness_or_0(ledger, "cuda", "others") + dropped);
	source->unexplained = difference(source->expected, accounted);
	source->unexplained += witness_or_0(ledger, "cuda", "torn_buffers");
	source->joined = totals->dispatches_joined + totals->copies_joined;
	source->orphan_activities = totals->dispatches + totals->copies - source->joined;
	source->untimed = totals->dispatches_untimed + totals->copies_untimed;
	judge_lost_calls(ledger, source, totals->dispatches_lost_call + totals->copies_lost_call);
}

/* The vendors' libraries are not both in one process; if they are, HIP's lines stand for both. */
static bool is_cuda_alone(const struct ledger *ledger)
{
	return cuda_is_there(&ledger->load->cuda) && !ledger->totals.gate_count &&
	       !witness_or_0(ledger, "hip", "calls");
}

static void add_hsa_and_hip(struct ledger *ledger)
{
	add_calls(ledger, "hip", "hip");
	add_dispatches(ledger);
	add_class_line(ledger, "hsa.barrier", RECORD_CLASS_BARRIER,
		       ledger->totals.gate_count ? "queue gates" : NULL,
		       ledger->totals.gate_barriers);
	add_packets(ledger);
	add_copies(ledger);
	add_dones(ledger);
	add_softgpu(ledger);
}

static void add_all(struct ledger *ledger)
{
	uint32_t first = ledger->load->trace->sources_count;

	if (is_cuda_alone(ledger)) {
		add_calls(ledger, "cuda.call", "cuda");
		add_cuda_activities(ledger);
	} else {
		add_hsa_and_hip(ledger);
	}
	add_graphs(ledger);
	add_class_line(ledger, "scope", RECORD_CLASS_SCOPE, NULL, 0);
	add_class_line(ledger, "graph.record", RECORD_CLASS_GRAPH, NULL, 0);
	add_class_line(ledger, "meta", RECORD_CLASS_META, NULL, 0);
	add_states(ledger, first);
}

int ledger_load(struct process_load *load)
{
	struct ledger ledger = {
		.load = load,
		.truncated = load->trace->processes[load->process].state == TRACE_TRUNCATED,
	};
	int result = count_gates(&ledger);

	ledger.witnesses_are_late = ledger.truncated || class_drops(&ledger, RECORD_CLASS_META);
	if (result == 0)
		result = count_barriers(&ledger);
	if (result == 0) {
		count_rows(&ledger);
		add_all(&ledger);
	}
	free(ledger.barriers_of_call);
	return ledger.failed ? -ENOMEM : result;
}

bool ledger_is_closed(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].unexplained)
			return false;
	}
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage)
			return false;
	}
	return true;
}

uint64_t ledger_dropped(const struct trace *trace, const struct trace_source *source)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < source->drop_count; i++)
		sum += trace->drops[source->drop_first + i].count;
	return sum;
}
