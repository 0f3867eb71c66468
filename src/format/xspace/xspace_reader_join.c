/* Sorts all rows into the model's order and joins calls, activities and graphs. */
#include "format/xspace/xspace_reader_load.h"

/* dagtap's files state the indices of nodes; for other files the rank of a node's id is its
 * index. */
static void number_nodes(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		trace->nodes[i].index = (uint32_t)trace->nodes[i].handle - 1;
		trace->nodes[i].handle = 0;
	}
}

int xread_join(struct xread_load *load)
{
	struct import *import = &load->import;
	int err = import_order_scopes(import);

	if (err < 0)
		return err;
	import_number_scopes(import);
	err = import_order_host(import);
	if (err == 0)
		err = import_order_activities(import);
	for (uint32_t i = 0; i < import->trace->activities_count && err == 0; i++)
		import_join_call(import, i);
	if (err == 0)
		err = import_order_gpu(import);
	if (err == 0 && load->is_ours)
		number_nodes(import->trace);
	return err;
}
