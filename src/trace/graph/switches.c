/* Nodes that were switched off, and the walk through launches (see switches.h). */
#include "trace/graph/switches.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/graph/expect.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

int switches_add(struct switches *switches, const struct switch_row *row)
{
	struct switch_row *added =
		table_add((void **)&switches->rows, &switches->count, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *row;
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct switch_row *a = left, *b = right;

	if (a->exec != b->exec)
		return a->exec < b->exec ? -1 : 1;
	return (a->cid > b->cid) - (a->cid < b->cid);
}

void switches_sort(struct switches *switches)
{
	if (switches->count)
		qsort(switches->rows, switches->count, sizeof(*switches->rows), compare_rows);
}

void switches_release(struct switches *switches)
{
	free(switches->rows);
}

int switch_walk_init(struct switch_walk *walk, const struct process_load *load)
{
	uint32_t nodes = load->trace->nodes_count - load->first.nodes;

	*walk = (struct switch_walk){.load = load, .exec = TRACE_NONE};
	if (!load->switches.count)
		return 0;
	walk->is_off = table_zeroed(nodes, sizeof(*walk->is_off));
	return walk->is_off ? 0 : -ENOMEM;
}

void switch_walk_release(struct switch_walk *walk)
{
	free(walk->is_off);
}

static void apply(struct switch_walk *walk, const struct switch_row *row, bool is_off)
{
	const struct process_load *load = walk->load;
	uint32_t least;
	bool *place;

	if (row->node == TRACE_NONE) {
		walk->is_unknown = true;
		return;
	}
	place = &walk->is_off[row->node - load->first.nodes];
	least = expect_node(load->trace, row->node).least;
	if (*place != is_off)
		walk->off = is_off ? walk->off + least : walk->off - least;
	*place = is_off;
}

/* Moves the walk to another exec: all nodes of the previous exec are on again. */
static void enter(struct switch_walk *walk, uint32_t exec)
{
	const struct switches *switches = &walk->load->switches;

	while (walk->next && switches->rows[walk->next - 1].exec == walk->exec)
		apply(walk, &switches->rows[--walk->next], false);
	walk->exec = exec;
	walk->is_unknown = false;
	while (walk->next && switches->rows[walk->next - 1].exec >= exec)
		walk->next--;
	while (walk->next < switches->count && switches->rows[walk->next].exec < exec)
		walk->next++;
}

bool switch_walk_take(struct switch_walk *walk, uint32_t exec, uint64_t cid, uint64_t *ret_off)
{
	const struct switches *switches = &walk->load->switches;

	if (exec != walk->exec && switches->count)
		enter(walk, exec);
	while (walk->next < switches->count && switches->rows[walk->next].exec == exec &&
	       switches->rows[walk->next].cid < cid) {
		const struct switch_row *row = &switches->rows[walk->next++];

		apply(walk, row, !row->is_on);
	}
	*ret_off = walk->off;
	return !walk->is_unknown;
}
