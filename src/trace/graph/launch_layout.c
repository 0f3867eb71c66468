/* Lays the activities of a launch beside the items of its graph (launch_layout.h). */
#include "trace/graph/launch_layout.h"

#include <string.h>

#include "trace/graph/expect.h"

enum agreement layout_compare(const struct node_signature *signature, const struct trace_work *work)
{
	if (work->kind != TRACE_KERNEL)
		return AGREES;
	if (memcmp(signature->grid, work->grid, sizeof(work->grid)) != 0 ||
	    memcmp(signature->workgroup, work->workgroup, sizeof(work->workgroup)) != 0)
		return DIFFERS;
	if (signature->name == 0 || work->name == 0)
		return SILENT;
	return signature->name == work->name ? AGREES : DIFFERS;
}

/* Consecutive items of one kind, from the one that is being laid out on, and the consecutive rows
 * of that kind. */
struct run {
	uint32_t item_stop, row_stop;
	uint64_t pieces; /* sum over these items */
};

/* Moves RUN to ITEM and row AT, which must not be before those of the last call. So a whole launch
 * takes time linear in its items and rows. */
static void run_move(struct run *run, const struct exec_state *state, const struct layout *layout,
		     uint32_t item, uint32_t at)
{
	const struct expect_graph *expect = state->expect;
	enum trace_activity_kind kind = expect->items[item].kind;

	if (item < run->item_stop) {
		run->pieces -= state->signatures[item - 1].pieces;
	} else {
		*run = (struct run){.item_stop = item, .row_stop = at};
		while (run->item_stop < expect->item_count &&
		       expect->items[run->item_stop].kind == kind)
			run->pieces += state->signatures[run->item_stop++].pieces;
	}
	if (run->row_stop > at)
		return;
	run->row_stop = at;
	while (run->row_stop < layout->row_count &&
	       layout_work(layout, run->row_stop)->kind == kind)
		run->row_stop++;
}

/* Number of rows that belong to ITEM. For several consecutive items of one kind: one row each, or
 * the pieces that HIP makes of each. If neither sum is the number of rows, it is not known which
 * row belongs to which item, and the result is 0. */
static uint32_t rows_of_item(const struct exec_state *state, const struct layout *layout,
			     const struct run *run, uint32_t item, uint32_t at)
{
	const struct expect_item *expected = &state->expect->items[item];
	uint32_t rows = run->row_stop - at, items = run->item_stop - item;

	if (expected->most == 1)
		return layout_work(layout, at)->kind == expected->kind ? 1 : 0;
	if (run->pieces == rows)
		return state->signatures[item].pieces;
	if (rows == items)
		return 1;
	return items == 1 ? rows : 0;
}

void layout_make(const struct exec_state *state, struct layout *layout)
{
	struct run run = {0};
	uint32_t item, at = 0;

	for (item = 0; item < state->expect->item_count && at < layout->row_count; item++) {
		uint32_t rows;

		run_move(&run, state, layout, item, at);
		rows = rows_of_item(state, layout, &run, item, at);
		if (rows < state->expect->items[item].least)
			break;
		for (uint32_t i = 0; i < rows; i++)
			layout->assigned[at++] = item;
	}
	layout->is_prefix = at == layout->row_count && item < state->expect->item_count;
	layout->is_whole = at == layout->row_count && item == state->expect->item_count;
}
