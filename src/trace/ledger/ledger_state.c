/* What the files of the ledger share: the counts of dropped records, the witnesses, and the parts
 * of a line. */
#include "trace/ledger/ledger_state.h"

#include <string.h>

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
		sum += ledger->load->raw.counts.dropped[class][cause];
	return sum + ledger->load->raw.counts.in_flight[class];
}

uint64_t ledger_ring_dropped(const struct ledger *ledger, enum record_class class)
{
	return ledger->load->raw.counts.dropped[class][RECORD_DROP_RING];
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

static bool find(const struct ledger *ledger, const char *source, const char *key,
		 uint64_t *ret_value)
{
	const struct raw_list *list = &ledger->load->raw.lists[RECORD_WITNESS];
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

bool ledger_find_witness(const struct ledger *ledger, enum witness witness, uint64_t *ret_value)
{
	return find(ledger, witness_names[witness].source, witness_names[witness].key, ret_value);
}

uint64_t ledger_witness_or_0(const struct ledger *ledger, enum witness witness)
{
	uint64_t value = 0;

	ledger_find_witness(ledger, witness, &value);
	return value;
}

bool ledger_find_device_count(const struct ledger *ledger, const char *name, uint64_t *ret_value)
{
	return find(ledger, WITNESS_DEVICE, name, ret_value);
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
	const struct spool_ledger *counts = &ledger->load->raw.counts;
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

struct trace_source *ledger_add_class_line(struct ledger *ledger, const char *name,
					   enum record_class class, const char *witness,
					   uint64_t expected)
{
	const struct spool_ledger *counts = &ledger->load->raw.counts;
	struct trace_source *source = ledger_add_source(ledger, name);
	uint64_t accounted;

	if (!source)
		return NULL;
	if (!witness || ledger->witnesses_are_late) {
		witness = "writers";
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

uint64_t ledger_excuse_edge(struct ledger *ledger, struct trace_source *source, uint64_t count,
			    uint64_t dropped, const char *what)
{
	uint64_t excused = count < dropped ? count : dropped;

	if (excused)
		ledger_say(ledger, source,
			   strtab_format(ledger->load->strings, "%llu %s dropped by the ring",
					 (unsigned long long)excused, what));
	return count - excused;
}

uint64_t ledger_take(uint64_t *pool, uint64_t wanted)
{
	uint64_t taken = wanted < *pool ? wanted : *pool;

	*pool -= taken;
	return taken;
}

bool ledger_has_activity_losses(const struct ledger *ledger)
{
	uint64_t dropped = 0;

	if (ledger_find_witness(ledger, WITNESS_CUDA_DROPPED, &dropped) && dropped)
		return true;
	return ledger_losses(ledger, RECORD_CLASS_DISPATCH) ||
	       ledger_losses(ledger, RECORD_CLASS_COPY) ||
	       ledger_losses(ledger, RECORD_CLASS_BARRIER) || ledger->totals.gate_others;
}

uint64_t ledger_packets_unrecorded(const struct ledger *ledger)
{
	return ledger_witness_or_0(ledger, WITNESS_HSA_PACKETS_UNRECORDED);
}

uint64_t ledger_packets_cut(const struct ledger *ledger)
{
	return ledger_witness_or_0(ledger, WITNESS_HSA_PACKETS_CUT);
}
