/* Lines of what CUPTI reported: calls against our count of them, activities against CUPTI's own
 * counts. */
#include "trace/ledger/ledger_state.h"

#define NO_BUFFER "CUPTI had no buffer for it"

/* One remark for what HIP's ledger has in several lines. */
static void say_ring_dropped(struct ledger *ledger, struct trace_source *source)
{
	ledger_say(ledger, source,
		   strtab_format(
			   ledger->load->strings,
			   "the ring dropped %llu kernels, %llu copies, %llu others",
			   (unsigned long long)ledger_ring_dropped(ledger, RECORD_CLASS_DISPATCH),
			   (unsigned long long)ledger_ring_dropped(ledger, RECORD_CLASS_COPY),
			   (unsigned long long)ledger_ring_dropped(ledger, RECORD_CLASS_BARRIER)));
}

/* Counts launches without a kernel. CUPTI does not tell in advance whether it will bring a launch's
 * kernel; after a kill, it did not bring those in its last buffers. */
static void say_untimed(struct ledger *ledger, struct trace_source *source)
{
	uint64_t count;

	if (ledger_ring_dropped_activities(ledger) || ledger_has_activity_losses(ledger) ||
	    ledger_losses(ledger, RECORD_CLASS_GRAPH))
		return;
	count = cuda_count_untimed(ledger->load);
	source->orphan_calls += count;
	source->joined -= count < source->joined ? count : source->joined;
	if (count)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings,
					 "of %llu launches CUPTI brought no kernel: %s",
					 (unsigned long long)count,
					 ledger->ended_early
						 ? "not delivered when the recording was cut off"
						 : "not finished in time, or taken by another "
						   "profiler"));
}

/* If two calls have one correlation id, only one has a row; the other is unexplained. */
static void add_cuda_calls(struct ledger *ledger)
{
	struct trace_source *source;
	uint32_t line = ledger->load->trace->sources_count;

	ledger_add_calls(ledger, "cuda.call", RECORD_DOMAIN_CUDA);
	if (line == ledger->load->trace->sources_count)
		return;
	source = &ledger->load->trace->sources[line];
	source->unexplained += ledger->load->tally.duplicates;
	say_untimed(ledger, source);
}

/* Says in the line how many of WHAT a witness counted, if any. */
static void say_count(struct ledger *ledger, struct trace_source *source, enum witness witness,
		      const char *what)
{
	uint64_t count = ledger_witness_or_0(ledger, witness);

	if (count)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings, "%llu %s",
					 (unsigned long long)count, what));
}

static void say_waits_not_subscribed(struct ledger *ledger, struct trace_source *source)
{
	if (ledger->load->cuda.waits_from_calls)
		ledger_say(ledger, source,
			   strtab_intern_z(ledger->load->strings,
					   "not subscribed: waits and event records, which are "
					   "known from calls (dagtap record --calls all)"));
}

static void say_odd_records(struct ledger *ledger, struct trace_source *source)
{
	say_count(ledger, source, WITNESS_CUDA_OF_UNKNOWN_KINDS,
		  "records of kinds that were not asked for");
	/* The last buffers are delivered by force, also with records that are not complete. */
	say_count(ledger, source, WITNESS_CUDA_UNFINISHED_BUFFERS,
		  "buffers ended in work that had not finished");
	say_count(ledger, source, WITNESS_CUDA_FLUSHES_FAILED,
		  "flushes at the end failed: CUPTI may not have brought its last buffers");
}

/* Compares what CUPTI delivered, and what it says it dropped, with the rows. */
static void add_cuda_activities(struct ledger *ledger)
{
	static const enum record_type types[] = {RECORD_CUDA_KERNEL, RECORD_CUDA_COPY,
						 RECORD_CUDA_SYNC,   RECORD_CUDA_EVENT,
						 RECORD_CUDA_MEMORY, RECORD_CUDA_OVERHEAD};
	static const enum record_class classes[] = {RECORD_CLASS_DISPATCH, RECORD_CLASS_COPY,
						    RECORD_CLASS_BARRIER};
	const struct process_load *load = ledger->load;
	const struct totals *totals = &ledger->totals;
	struct trace_source *source = ledger_add_source(ledger, "cuda");
	uint64_t dropped = ledger_witness_or_0(ledger, WITNESS_CUDA_DROPPED);
	uint64_t lost = 0, accounted;

	if (!source)
		return;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		source->received += load->raw.type_counts[types[i]];
	ledger_add_drop(ledger, source, TRACE_DROP_LOST, NO_BUFFER, dropped);
	say_waits_not_subscribed(ledger, source);
	if (ledger_ring_dropped_activities(ledger))
		say_ring_dropped(ledger, source);
	say_odd_records(ledger, source);
	ledger_add_drops(ledger, source, classes, sizeof(classes) / sizeof(*classes));
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		lost += ledger_drops(ledger, classes[i]);
		source->unexplained += load->raw.counts.missing[classes[i]];
	}
	accounted = source->received + dropped + lost;
	if (ledger->witnesses_are_late)
		ledger_set_expected(ledger, source, "writers", accounted + source->unexplained);
	else
		ledger_set_expected(ledger, source, "CUPTI",
				    ledger_witness_or_0(ledger, WITNESS_CUDA_KERNELS) +
					    ledger_witness_or_0(ledger, WITNESS_CUDA_COPIES) +
					    ledger_witness_or_0(ledger, WITNESS_CUDA_OTHERS) +
					    dropped);
	source->unexplained = difference(source->expected, accounted);
	source->unexplained += ledger_witness_or_0(ledger, WITNESS_CUDA_TORN_BUFFERS);
	source->joined = totals->dispatches_joined + totals->copies_joined;
	source->orphan_activities = totals->dispatches + totals->copies - source->joined;
	source->untimed = totals->dispatches_untimed + totals->copies_untimed;
	ledger_judge_lost_calls(ledger, source,
				totals->dispatches_lost_call + totals->copies_lost_call);
}

void ledger_add_cuda(struct ledger *ledger)
{
	add_cuda_calls(ledger);
	add_cuda_activities(ledger);
}

void ledger_add_cuda_losses(struct ledger *ledger)
{
	struct trace_source *source = ledger_add_source(ledger, "cuda");

	if (!source)
		return;
	ledger_add_drop(ledger, source, TRACE_DROP_LOST, NO_BUFFER,
			ledger_witness_or_0(ledger, WITNESS_CUDA_DROPPED));
	source->unexplained = ledger_witness_or_0(ledger, WITNESS_CUDA_TORN_BUFFERS);
	say_odd_records(ledger, source);
	say_waits_not_subscribed(ledger, source);
	ledger_say_not_subscribed(ledger, source, WITNESS_CUDA_CALLS_SELECTED);
	say_untimed(ledger, source);
}
