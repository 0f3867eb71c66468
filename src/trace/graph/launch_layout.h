/* Inside trace/: the activities of a launch, beside the items that its graph lets expect. Used by
 * naming.c. */
#ifndef DAGTAP_TRACE_LAUNCH_LAYOUT_H
#define DAGTAP_TRACE_LAUNCH_LAYOUT_H

#include "trace/graph/exec_state.h"
#include "trace/trace_model.h"

/* The activities of one launch beside the items of its graph. assigned[i] is the item of row i. */
struct layout {
	const struct trace *trace;
	struct trace_activity *rows;
	uint32_t row_count;
	uint32_t *assigned;
	bool is_whole;	/* each item has its activities and each activity its item */
	bool is_prefix; /* each activity has its item, in order; the last items have none */
};

/* What row AT does. */
static inline const struct trace_work *layout_work(const struct layout *layout, uint32_t at)
{
	return trace_work_of(layout->trace, &layout->rows[at]);
}

/* Sets LAYOUT->assigned, is_whole and is_prefix by the items of STATE, whose activities must be
 * known. Takes time linear in items and rows. */
void layout_make(const struct exec_state *state, struct layout *layout);

/* SILENT: nothing contradicts, but a name is not known. */
enum agreement { DIFFERS, SILENT, AGREES };

/* Compares what a node is with what an activity does. */
enum agreement layout_compare(const struct node_signature *signature,
			      const struct trace_work *work);

#endif
