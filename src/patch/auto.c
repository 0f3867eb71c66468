/* DAGPATCH_AUTO's choice between the table and setting node by node.
 *
 * The table adds a little to every launch, and a change costs nearly the same for any number of
 * nodes. Setting adds nothing to a launch without changes, and a change costs in proportion to its
 * nodes. Which is cheaper depends on what the caller binds, so the choice follows what the caller
 * has bound: the time that the other choice would have saved is added up (never below 0). When the
 * sum exceeds the time to build the graph again, the graph is built with the other choice. So a
 * wrong choice never costs more than one build before it is left. */
#include "patch/context.h"
#include "patch/recording.h"
#include "patch/strategy.h"

/* The table is chosen from the start if setting all nodes costs at least this many times as much
 * as the table: then the table is cheaper even if only a tenth of the nodes changes. */
enum { CLEAR_CASE = 16 };

static double cost_of(const struct patch_costs *costs, bool has_table, uint32_t nodes)
{
	if (!has_table)
		return costs->set * nodes;
	return costs->idle + (nodes > 0 ? costs->change : 0);
}

bool table_wanted(struct dagpatch_recording *recording, uint32_t nodes)
{
	const struct dagpatch_options *options = &recording->context->options;
	const struct patch_costs *costs = &recording->device->costs;
	struct table_choice *choice = &recording->table_choice;

	if (options->strategy == DAGPATCH_DEVICE_TABLE)
		return true;
	if (options->table_from_nodes > 0)
		return nodes >= options->table_from_nodes;
	if (!choice->is_open && costs->set > 0) {
		choice->is_open = true;
		choice->is_wanted =
			cost_of(costs, false, nodes) >= CLEAR_CASE * cost_of(costs, true, nodes);
	}
	return choice->is_wanted;
}

void table_note(struct dagpatch_recording *recording, uint32_t nodes)
{
	const struct patch_costs *costs = &recording->device->costs;
	struct table_choice *choice = &recording->table_choice;
	bool has_table = recording->built.table != NULL;

	if (recording->cannot_table)
		return;
	choice->regret_ns += cost_of(costs, has_table, nodes) - cost_of(costs, !has_table, nodes);
	if (choice->regret_ns < 0)
		choice->regret_ns = 0;
	if (choice->regret_ns <= costs->build * recording->node_count)
		return;
	choice->is_wanted = !has_table;
	choice->is_overdue = true;
}

void table_settle(struct dagpatch_recording *recording)
{
	recording->table_choice.is_overdue = false;
	recording->table_choice.regret_ns = 0;
}
