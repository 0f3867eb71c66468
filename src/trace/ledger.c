/* The ledger: compares, for every source, the count of an independent witness with the rows.
 *
 * Witnesses: the counts that each writer keeps apart from its records ("lanes" in the output), the
 * wrappers' count of entered calls, the counts of the queue gates, the devices' own write indices,
 * the software GPU's counters, the nodes of graphs. Only the writers' counts are always as new as
 * the rows. The other witnesses were written some time before the end, and are left out, in a
 * truncated recording, in one whose last tick of the housekeeper never ended, and where witnesses
 * themselves found no room.
 *
 * A record whose chunk a ring recording reused is a drop like the others, exact by class, but it is
 * no fault. Where one half of a pair (a call and its activity, a submission and its completion) was
 * reused, the other half is neither an orphan nor unexplained, up to the number of reused
 * records. */
#include "trace/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/expect_call.h"
#include "trace/ledger_state.h"
#include "trace/row_table.h"

static const char *const drop_texts[] = {
#define X(name, text) [RECORD_DROP_##name] = text,
	RECORD_DROPS(X)
#undef X
};

uint64_t ledger_drops(const struct ledger *ledger, enum record_class class)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		sum += ledger->load->counts.dropped[class][cause];
	return sum + ledger->load->counts.in_flight[class];
}

uint64_t ledger_ring_dropped(const struct ledger *ledger, enum record_class class)
{
	return ledger->load->counts.dropped[class][RECORD_DROP_RING];
}

uint64_t ledger_losses(const struct ledger *ledger, enum record_class class)
{
	return ledger_drops(ledger, class) - ledger_ring_dropped(ledger, class);
}

uint64_t ledger_ring_dropped_activities(const struct ledger *ledger)
{
	return ledger_ring_dropped(ledger, RECORD_CLASS_DISPATCH) +
	       ledger_ring_dropped(ledger, RECORD_CLASS_COPY) +
	       ledger_ring_dropped(ledger, RECORD_CLASS_BARRIER);
}

/* Several threads write witnesses, so their order in the file says nothing. */
static bool is_later(const struct record_witness *record, const struct record_witness *other)
{
	if (record->ns != other->ns)
		return record->ns > other->ns;
	/* In older recordings the number is always 0. */
	return record->header.tag >= other->header.tag;
}

bool ledger_find_witness(const struct ledger *ledger, const char *source, const char *key,
			 uint64_t *ret_value)
{
	const struct raw_list *list = &ledger->load->lists[RECORD_WITNESS];
	const struct record_witness *last = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_witness *record = list->rows[i].record;

		if (strncmp(record->source, source, sizeof(record->source)) != 0 ||
		    strncmp(record->key, key, sizeof(record->key)) != 0)
			continue;
		if (!last || is_later(record, last))
			last = record;
	}
	if (!last)
		return false;
	*ret_value = last->value;
	return true;
}

uint64_t ledger_witness_or_0(const struct ledger *ledger, const char *source, const char *key)
{
	uint64_t value = 0;

	ledger_find_witness(ledger, source, key, &value);
	return value;
}

struct trace_source *ledger_add_source(struct ledger *ledger, const char *name)
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

void ledger_add_drop(struct ledger *ledger, struct trace_source *source, enum trace_drop_kind kind,
		     const char *cause, uint64_t count)
{
	struct trace_drop *drop;

	if (count == 0)
		return;
	drop = trace_add(ledger->load->trace, drops);
	if (!drop) {
		ledger->failed = true;
		return;
	}
	drop->kind = kind;
	drop->cause = strtab_intern_z(ledger->load->strings, cause);
	drop->count = count;
	source->drop_count++;
}

void ledger_add_writers_drop(struct ledger *ledger, struct trace_source *source,
			     enum record_drop cause, uint64_t count)
{
	ledger_add_drop(ledger, source,
			cause == RECORD_DROP_RING ? TRACE_DROP_RINGED : TRACE_DROP_LOST,
			drop_texts[cause], count);
}

void ledger_add_drops(struct ledger *ledger, struct trace_source *source,
		      const enum record_class *classes, size_t class_count)
{
	const struct spool_ledger *counts = &ledger->load->counts;
	uint64_t in_flight = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++) {
		uint64_t dropped = 0;

		for (size_t i = 0; i < class_count; i++)
			dropped += counts->dropped[classes[i]][cause];
		ledger_add_writers_drop(ledger, source, (enum record_drop)cause, dropped);
	}
	for (size_t i = 0; i < class_count; i++)
		in_flight += counts->in_flight[classes[i]];
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "cut off while being written", in_flight);
}

void ledger_add_class_drops(struct ledger *ledger, struct trace_source *source,
			    enum record_class class)
{
	ledger_add_drops(ledger, source, &class, 1);
}

void ledger_set_expected(struct ledger *ledger, struct trace_source *source, const char *witness,
			 uint64_t expected)
{
	source->has_expected = true;
	source->expected = expected;
	source->witness = strtab_intern_z(ledger->load->strings, witness);
}

/* Adds the line of the records of CLASS, with EXPECTED by WITNESS. If witnesses are late, or
 * WITNESS is NULL, the writers' counts are the witness. Records that the writers' counts miss are
 * unexplained in both cases. */
static struct trace_source *add_class_line(struct ledger *ledger, const char *name,
					   enum record_class class, const char *witness,
					   uint64_t expected)
{
	const struct spool_ledger *counts = &ledger->load->counts;
	struct trace_source *source = ledger_add_source(ledger, name);
	uint64_t accounted;

	if (!source)
		return NULL;
	if (!witness || ledger->witnesses_are_late) {
		witness = "lanes";
		expected = counts->attempted[class];
	}
	ledger_set_expected(ledger, source, witness, expected);
	source->received = counts->found[class];
	ledger_add_class_drops(ledger, source, class);
	accounted = source->received + ledger_drops(ledger, class);
	source->unexplained = difference(expected, accounted);
	if (source->unexplained < counts->missing[class])
		source->unexplained = counts->missing[class];
	return source;
}

void ledger_say(struct ledger *ledger, struct trace_source *source, trace_string text)
{
	struct strtab *strings = ledger->load->strings;

	source->text = source->text
			       ? strtab_format(strings, "%s; %s", strings->strings[source->text],
					       strings->strings[text])
			       : text;
}

/* Excuses up to DROPPED of COUNT halves, whose other half is in a chunk that the ring reused, and
 * says so in the line. Returns how many are left. */
static uint64_t excuse_edge(struct ledger *ledger, struct trace_source *source, uint64_t count,
			    uint64_t dropped, const char *what)
{
	uint64_t excused = count < dropped ? count : dropped;

	if (excused)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings, "%llu %s dropped by the ring",
					 (unsigned long long)excused, what));
	return count - excused;
}

static void count_rows(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	struct totals *totals = &ledger->totals;

	for (uint32_t i = load->first.activities; i < load->trace->activities_count; i++) {
		const struct trace_activity *row = &load->trace->activities[i];
		const struct trace_work *work = trace_work_of(load->trace, row);
		bool is_dispatch = work->kind != TRACE_COPY || work->blit;
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

static uint64_t by_amount(const struct raw *row)
{
	const struct record_queue_count *count = row->record;

	return count->write_index + count->dispatches + count->barriers + count->others +
	       count->destroyed;
}

/* Counts only grow, so the greatest of each queue is its last. Times do not tell: two threads may
 * write counts at the same ns. */
static int count_gates(struct ledger *ledger)
{
	struct raw_list *list = &ledger->load->lists[RECORD_QUEUE_COUNT];
	struct totals *totals = &ledger->totals;

	if (raw_sort(list, by_amount) < 0 || raw_sort(list, by_tag) < 0)
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

bool ledger_has_activity_losses(const struct ledger *ledger)
{
	uint64_t dropped = 0;

	if (ledger_find_witness(ledger, "cuda", "dropped", &dropped) && dropped)
		return true;
	return ledger_losses(ledger, RECORD_CLASS_DISPATCH) ||
	       ledger_losses(ledger, RECORD_CLASS_COPY) ||
	       ledger_losses(ledger, RECORD_CLASS_BARRIER) || ledger->totals.gate_others;
}

uint64_t ledger_packets_unrecorded(const struct ledger *ledger)
{
	return ledger_witness_or_0(ledger, "hsa", "packets_unrecorded");
}

uint64_t ledger_packets_cut(const struct ledger *ledger)
{
	return ledger_witness_or_0(ledger, "hsa", "packets_cut");
}

/* Compares the number of activities that a call counted itself with the rows that have its cid. */
static void judge_calls(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;
	uint64_t dropped = ledger_ring_dropped_activities(ledger), missing = 0, unsubmitted = 0;

	for (uint32_t i = load->first.calls; i < load->trace->calls_count; i++) {
		const struct trace_call *call = &load->trace->calls[i];
		uint64_t found = (uint64_t)call->activity_count +
				 ledger->barriers_of_call[i - load->first.calls];

		/* ledger_cuda.c judges CUDA's calls with what CUPTI says. */
		if (trace_domain_of(load->trace, call) != RECORD_DOMAIN_CUDA &&
		    found < call->activities_expected) {
			source->orphan_calls++;
			if (ledger_is_unsubmitted(ledger, i))
				unsubmitted++;
			else
				missing += call->activities_expected - found;
		} else {
			source->joined++;
		}
	}
	/* The ring reused at least as many activities as the calls lack, or they are not part of
	 * the recording. */
	if (missing <= dropped)
		source->orphan_calls = excuse_edge(ledger, source, source->orphan_calls, dropped,
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
	source->unexplained = ledger->load->counts.missing[RECORD_CLASS_API];
}

/* Sets *RET_CALLS to the number of entered calls of one interface, and adds those that had not
 * returned to open_calls. False if nothing counted them. */
static bool count_calls(struct ledger *ledger, const char *interface, uint64_t *ret_calls)
{
	uint64_t open = 0;

	if (!ledger_find_witness(ledger, interface, "calls", ret_calls))
		return false;
	if (ledger->witnesses_are_late || !ledger_find_witness(ledger, interface, "open", &open))
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

void ledger_add_calls(struct ledger *ledger, const char *name, const char *interface)
{
	struct trace_source *source;
	uint64_t calls = 0, cuda_calls = 0, rccl_calls = 0;
	bool is_counted = count_calls(ledger, interface, &calls);
	bool has_cuda = strcmp(interface, "cuda") && count_calls(ledger, "cuda", &cuda_calls);
	bool has_rccl = count_calls(ledger, "rccl", &rccl_calls);

	is_counted |= has_cuda;
	if (!is_counted && !has_rccl && !ledger->load->counts.attempted[RECORD_CLASS_API])
		return;
	source = add_class_line(ledger, name, RECORD_CLASS_API,
				is_counted || has_rccl ? "wrappers" : NULL,
				calls + cuda_calls + rccl_calls);
	if (!source)
		return;
	explain_open_calls(ledger, source);
	judge_calls(ledger, source);
	if (has_rccl)
		add_rccl(ledger, source, rccl_calls);
}

void ledger_judge_lost_calls(struct ledger *ledger, struct trace_source *source, uint64_t lost)
{
	uint64_t dropped = ledger_ring_dropped(ledger, RECORD_CLASS_API) +
			   ledger_ring_dropped(ledger, RECORD_CLASS_GRAPH);
	uint64_t left = excuse_edge(ledger, source, lost, dropped, "activities whose call was");

	source->orphan_activities -= lost - left;
	if (!ledger->witnesses_are_late && !ledger->open_calls &&
	    !ledger_losses(ledger, RECORD_CLASS_API))
		source->unexplained += left;
}

/* What CUPTI brought, where lines that otherwise hold HIP's records hold CUDA's too. */
static uint64_t by_cupti(const struct ledger *ledger, const char *what)
{
	return ledger_witness_or_0(ledger, "cuda", what);
}

static void add_dispatches(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source =
		add_class_line(ledger, "hsa.dispatch", RECORD_CLASS_DISPATCH,
			       totals->gate_count ? "queue gates" : NULL,
			       totals->gate_dispatches + by_cupti(ledger, "kernels"));

	if (!source)
		return;
	source->joined = totals->dispatches_joined;
	source->orphan_activities = totals->dispatches - totals->dispatches_joined;
	source->untimed = totals->dispatches_untimed;
	ledger_judge_lost_calls(ledger, source, totals->dispatches_lost_call);
	source->unexplained += ledger->load->duplicates;
}

static void add_copies(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source;
	uint64_t started = 0;
	bool is_counted = ledger_find_witness(ledger, "hsa", "copies_started", &started);

	source = add_class_line(ledger, "hsa.copy", RECORD_CLASS_COPY,
				is_counted ? "copy wrappers" : NULL,
				started + by_cupti(ledger, "copies"));
	if (!source)
		return;
	source->joined = totals->copies_joined;
	source->orphan_activities = totals->copies - totals->copies_joined;
	source->untimed = totals->copies_untimed;
	ledger_judge_lost_calls(ledger, source, totals->copies_lost_call);
}

/* Compares the packets that the gates passed on with the write index up to which the device
 * reads. */
static void add_packets(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	uint64_t cut = ledger_packets_cut(ledger);
	uint64_t unrecorded = ledger_packets_unrecorded(ledger);
	struct trace_source *source;

	if (!totals->gate_count || ledger->witnesses_are_late)
		return;
	source = ledger_add_source(ledger, "hsa.packet");
	if (!source)
		return;
	ledger_set_expected(ledger, source, "device write indices", totals->write_indices + cut);
	source->received = totals->gate_dispatches + totals->gate_barriers + totals->gate_others;
	source->joined = source->received;
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_CUT, cut);
	ledger_add_drop(ledger, source, TRACE_DROP_LOST, PACKETS_UNRECORDED, unrecorded);
	source->unexplained = difference(totals->write_indices, source->received + unrecorded);
}

/* Some of the dropped completions belong to submissions that were dropped too, and a kept
 * completion of a dropped submission has no row. Together they are at most as many as there are
 * dropped submissions. */
static uint64_t unexplained_dones(const struct ledger *ledger, const struct trace_source *source,
				  uint64_t dropped)
{
	uint64_t accounted = source->joined + dropped;
	uint64_t of_nobody = source->orphan_activities;
	uint64_t submissions_lost = ledger_drops(ledger, RECORD_CLASS_DISPATCH) +
				    ledger_drops(ledger, RECORD_CLASS_COPY);

	if (accounted < source->expected)
		return source->expected - accounted + of_nobody;
	of_nobody += accounted - source->expected;
	return of_nobody > submissions_lost ? of_nobody - submissions_lost : 0;
}

/* The ring may have reused either half of a pair of submission and completion. */
static void judge_ringed_dones(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;
	uint64_t submissions_dropped = ledger_ring_dropped(ledger, RECORD_CLASS_DISPATCH) +
				       ledger_ring_dropped(ledger, RECORD_CLASS_COPY);
	uint64_t waiting = load->awaited > source->joined ? load->awaited - source->joined : 0;
	uint64_t of_nobody;

	ledger_set_expected(ledger, source, "lanes", load->counts.attempted[RECORD_CLASS_DONE]);
	of_nobody = excuse_edge(ledger, source, source->orphan_activities, submissions_dropped,
				"completions whose submission was");
	waiting =
		excuse_edge(ledger, source, waiting, ledger_ring_dropped(ledger, RECORD_CLASS_DONE),
			    "submissions whose completion was");
	source->orphan_activities = of_nobody;
	source->unexplained = load->counts.missing[RECORD_CLASS_DONE];
	if (!ledger->truncated && !ledger_losses(ledger, RECORD_CLASS_DONE) &&
	    !ledger_losses(ledger, RECORD_CLASS_DISPATCH) &&
	    !ledger_losses(ledger, RECORD_CLASS_COPY))
		source->unexplained += of_nobody + waiting;
}

static void add_dones(struct ledger *ledger)
{
	struct process_load *load = ledger->load;
	struct trace_source *source = ledger_add_source(ledger, "hsa.done");
	uint64_t dropped = ledger_drops(ledger, RECORD_CLASS_DONE);
	uint64_t interrupted = 0;

	if (!source)
		return;
	ledger_set_expected(ledger, source, "submissions", ledger->load->awaited);
	source->received =
		load->type_counts[RECORD_DISPATCH_DONE] + load->type_counts[RECORD_COPY_DONE];
	source->joined = source->received - load->unmatched_done;
	source->orphan_activities = load->unmatched_done;
	ledger_add_class_drops(ledger, source, RECORD_CLASS_DONE);
	if (ledger_ring_dropped(ledger, RECORD_CLASS_DONE)) {
		judge_ringed_dones(ledger, source);
		return;
	}
	if (ledger->truncated && source->joined + dropped < source->expected) {
		uint64_t unfinished = source->expected - source->joined - dropped;

		ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "recording ends before",
				unfinished);
		dropped += unfinished;
	}
	if (ledger_find_witness(ledger, "hsa", "completions_unrecorded", &interrupted) &&
	    source->joined + dropped < source->expected) {
		uint64_t missing = source->expected - source->joined - dropped;
		uint64_t count = missing < interrupted ? missing : interrupted;

		ledger_add_drop(ledger, source, TRACE_DROP_EDGE,
				"the program ended while they were collected", count);
		dropped += count;
	}
	source->unexplained = unexplained_dones(ledger, source, dropped);
}

static uint64_t by_source_ns(const struct raw *row)
{
	return ((const struct record_source *)row->record)->ns;
}

/* Of all that a source says about itself the last record counts, whichever thread wrote it. */
static bool is_said_later(const struct raw_list *list, uint32_t at)
{
	const struct record_source *record = list->rows[at].record;

	while (++at < list->count) {
		const struct record_source *later = list->rows[at].record;

		if (!memcmp(later->name, record->name, sizeof(record->name)))
			return true;
	}
	return false;
}

/* Puts what a source says about itself into its line, or into a new line. */
static void add_states(struct ledger *ledger, uint32_t first)
{
	static const char *const states[] = {"on", "on", "partial", "absent"};
	struct process_load *load = ledger->load;
	struct raw_list *list = &load->lists[RECORD_SOURCE];

	if (raw_sort(list, by_source_ns) < 0) {
		ledger->failed = true;
		return;
	}
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_source *record = list->rows[i].record;
		trace_string name =
			strtab_intern_field(load->strings, record->name, sizeof(record->name));
		uint32_t at = first;
		struct trace_source *source;

		if (is_said_later(list, i))
			continue;
		while (at < load->trace->sources_count && load->trace->sources[at].name != name)
			at++;
		source = at < load->trace->sources_count
				 ? &load->trace->sources[at]
				 : ledger_add_source(ledger, load->strings->strings[name]);
		if (!source)
			return;
		source->state = strtab_intern_z(
			load->strings, states[record->header.tag < 4 ? record->header.tag : 0]);
		ledger_say(ledger, source,
			   strtab_intern(load->strings, record->text, record->text_bytes));
	}
}

/* If both vendors' libraries work in one process, HIP's lines stand for both. */
static bool is_cuda_alone(const struct ledger *ledger)
{
	return cuda_is_there(&ledger->load->cuda) && !ledger->totals.gate_count &&
	       !ledger_witness_or_0(ledger, "hip", "calls");
}

static void add_hsa_and_hip(struct ledger *ledger)
{
	ledger_add_calls(ledger, "hip", "hip");
	add_dispatches(ledger);
	add_class_line(ledger, "hsa.barrier", RECORD_CLASS_BARRIER,
		       ledger->totals.gate_count ? "queue gates" : NULL,
		       ledger->totals.gate_barriers + by_cupti(ledger, "others"));
	add_packets(ledger);
	add_copies(ledger);
	add_dones(ledger);
	ledger_add_softgpu(ledger);
	if (cuda_is_there(&ledger->load->cuda))
		ledger_add_cuda_losses(ledger);
}

static void add_all(struct ledger *ledger)
{
	uint32_t first = ledger->load->trace->sources_count;

	if (is_cuda_alone(ledger))
		ledger_add_cuda(ledger);
	else
		add_hsa_and_hip(ledger);
	ledger_add_unknown_queues(ledger);
	ledger_add_graphs(ledger);
	ledger_add_launches(ledger);
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
	int err = count_gates(&ledger);

	ledger.ended_early =
		ledger.truncated || ledger_witness_or_0(&ledger, "session", "parts_not_stopped");
	ledger.witnesses_are_late = ledger.ended_early || ledger_losses(&ledger, RECORD_CLASS_META);
	if (err == 0)
		err = count_barriers(&ledger);
	if (err == 0)
		err = ledger_find_tails(&ledger);
	if (err == 0) {
		expect_calls_settle(load);
		count_rows(&ledger);
		ledger.without_call_left = ledger.totals.without_call;
		ledger.cut_left = ledger_packets_cut(&ledger);
		ledger.unrecorded_left = ledger_packets_unrecorded(&ledger);
		add_all(&ledger);
	}
	free(ledger.barriers_of_call);
	free(ledger.stream_tails);
	return ledger.failed ? -ENOMEM : err;
}

static bool is_of_device(const struct trace *trace, const struct trace_source *source)
{
	return !strncmp(trace_text(trace, source->name), "softgpu.", strlen("softgpu."));
}

static bool is_closed(const struct trace *trace, bool with_device)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].unexplained &&
		    (with_device || !is_of_device(trace, &trace->sources[i])))
			return false;
	}
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage)
			return false;
	}
	return true;
}

bool ledger_is_closed(const struct trace *trace)
{
	return is_closed(trace, true);
}

bool ledger_is_device_alone(const struct trace *trace)
{
	return is_closed(trace, false) && !is_closed(trace, true);
}

uint64_t ledger_dropped(const struct trace *trace, const struct trace_source *source)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < source->drop_count; i++)
		sum += trace->drops[source->drop_first + i].count;
	return sum;
}

/* The lines of the software GPU and of launches count records of other lines again, and their drops
 * too. */
static bool is_second_count(const struct trace *trace, const struct trace_source *source)
{
	return is_of_device(trace, source) ||
	       !strcmp(trace_text(trace, source->name), "hip.launch");
}

uint64_t ledger_lost(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		if (is_second_count(trace, source))
			continue;
		for (uint32_t at = 0; at < source->drop_count; at++) {
			const struct trace_drop *drop = &trace->drops[source->drop_first + at];

			if (drop->kind == TRACE_DROP_LOST)
				sum += drop->count;
		}
	}
	return sum;
}
