/* Lines of queues that no gate knows: the work that the program put into them ran, and has no
 * row. */
#include "trace/ledger_state.h"

static void add_unknown(struct ledger *ledger, const char *name, const char *key,
			const char *witness)
{
	uint64_t count = ledger_witness_or_0(ledger, "hsa", key);
	struct trace_source *source = count ? ledger_add_source(ledger, name) : NULL;

	if (!source)
		return;
	ledger_set_expected(ledger, source, witness, count);
	source->unexplained = count;
}

/* Also added if witnesses are late: the count is then too small, but more than nothing. */
void ledger_add_unknown_queues(struct ledger *ledger)
{
	add_unknown(ledger, "hsa.unknown", "packets_unknown",
		    "write indices of queues that no gate knows");
	add_unknown(ledger, "hsa.engine", "submissions_unknown",
		    "doorbells of queues without AQL packets");
}
