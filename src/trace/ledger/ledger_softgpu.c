/* Lines of the software GPU: its own counters against the rows. */
#include "trace/ledger/ledger_state.h"

/* Packets in which the rows and the software GPU may differ. Each packet explains one packet. */
struct device_slack {
	uint64_t untraced;   /* sent after tracing ended */
	uint64_t unrecorded; /* passed by a gate without a record */
	uint64_t waiting;    /* recorded, but not taken by the device */
	uint64_t unknown;    /* in queues that no gate knows; those have their own line */
};

/* Adds the line NAME: the software GPU COUNTED so many, against the rows of CLASS. */
static void add_softgpu_line(struct ledger *ledger, const char *name, enum record_class class,
			     uint64_t counted, struct device_slack *slack)
{
	struct trace_source *source = ledger_add_source(ledger, name);
	uint64_t accounted = ledger->load->raw.counts.found[class] + ledger_drops(ledger, class);
	uint64_t untraced, unrecorded, unknown;

	if (!source)
		return;
	ledger_set_expected(ledger, source, "software GPU", counted);
	source->received = ledger->load->raw.counts.found[class];
	source->joined = source->received;
	ledger_add_class_drops(ledger, source, class);
	if (accounted > counted) {
		source->unexplained = accounted - counted;
		source->unexplained -= ledger_take(&slack->waiting, source->unexplained);
		return;
	}
	unrecorded = ledger_take(&slack->unrecorded, counted - accounted);
	untraced = ledger_take(&slack->untraced, counted - accounted - unrecorded);
	/* The line of all packets counts them as lost. */
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_UNRECORDED, unrecorded);
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "sent after tracing ended", untraced);
	unknown = ledger_take(&slack->unknown, counted - accounted - unrecorded - untraced);
	ledger_add_drop(ledger, source, TRACE_DROP_LOST, "in queues that no gate knows", unknown);
	source->unexplained = counted - accounted - unrecorded - untraced - unknown;
}

static uint64_t device_count(const struct ledger *ledger, const char *name)
{
	uint64_t count = 0;

	ledger_find_device_count(ledger, name, &count);
	return count;
}

static struct device_slack packet_slack(const struct ledger *ledger)
{
	struct device_slack slack = {
		.untraced = ledger_witness_or_0(ledger, WITNESS_HSA_PACKETS_UNTRACED),
		.unrecorded = ledger_packets_unrecorded(ledger),
		.waiting = ledger_witness_or_0(ledger, WITNESS_HSA_PACKETS_WAITING),
		.unknown = ledger_witness_or_0(ledger, WITNESS_HSA_PACKETS_UNKNOWN),
	};
	/* Kinds of packets that have no rows, and therefore no line. */
	uint64_t others = device_count(ledger, "packets_vendor") +
			  device_count(ledger, "packets_agent_dispatch") +
			  device_count(ledger, "packets_invalid_type");
	uint64_t gate_others = ledger->totals.gate_others;

	if (others > gate_others)
		ledger_take(&slack.untraced,
			    others - gate_others -
				    ledger_take(&slack.unrecorded, others - gate_others));
	else
		ledger_take(&slack.waiting, gate_others - others);
	return slack;
}

void ledger_add_softgpu(struct ledger *ledger)
{
	uint64_t dispatches, barriers_and, barriers_or, copies, copies_rect;
	struct device_slack packets, copy_slack = {0};

	if (ledger->witnesses_are_late)
		return;
	if (!ledger_find_device_count(ledger, "packets_kernel_dispatch", &dispatches) ||
	    !ledger_find_device_count(ledger, "packets_barrier_and", &barriers_and) ||
	    !ledger_find_device_count(ledger, "packets_barrier_or", &barriers_or) ||
	    !ledger_find_device_count(ledger, "copies", &copies) ||
	    !ledger_find_device_count(ledger, "copies_rect", &copies_rect))
		return;
	packets = packet_slack(ledger);
	copy_slack.untraced = ledger_witness_or_0(ledger, WITNESS_HSA_COPIES_UNTRACED);
	add_softgpu_line(ledger, "softgpu.dispatch", RECORD_CLASS_DISPATCH, dispatches, &packets);
	add_softgpu_line(ledger, "softgpu.barrier", RECORD_CLASS_BARRIER,
			 barriers_and + barriers_or, &packets);
	add_softgpu_line(ledger, "softgpu.copy", RECORD_CLASS_COPY, copies + copies_rect,
			 &copy_slack);
}
