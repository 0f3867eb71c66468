/* Lines of queues that no gate knows: the work that the program put into them ran, and has no
 * row. */
#include "trace/ledger/ledger_state.h"

static void add_unknown(struct ledger *ledger, const char *name, enum witness witness,
			const char *what)
{
	uint64_t count = ledger_witness_or_0(ledger, witness);
	struct trace_source *source = count ? ledger_add_source(ledger, name) : NULL;

	if (!source)
		return;
	ledger_set_expected(ledger, source, what, count);
	source->unexplained = count;
}

/* Also added if witnesses are late: the count is then too small, but more than nothing. */
void ledger_add_unknown_queues(struct ledger *ledger)
{
	add_unknown(ledger, "hsa.unknown", WITNESS_HSA_PACKETS_UNKNOWN,
		    "write indices of queues that no gate knows");
	add_unknown(ledger, "hsa.engine", WITNESS_HSA_SUBMISSIONS_UNKNOWN,
		    "doorbells of queues without AQL packets");
}
