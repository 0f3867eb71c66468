/* Orders memory operations by address and time (memory_order.h). */
#include "trace/load/memory_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

struct sort_row *memory_by_address(const struct trace *trace, uint32_t first, uint32_t count)
{
	struct sort_row *order = table_alloc(count, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && err == 0; i++)
		order[i] = (struct sort_row){(uint64_t)trace->memory_operations[first + i].ns,
					     first + i};
	if (err == 0)
		err = sort_rows(order, count);
	for (uint32_t i = 0; i < count && err == 0; i++)
		order[i].key = trace->memory_operations[order[i].index].address;
	if (err == 0)
		err = sort_rows(order, count);
	if (err == 0)
		return order;
	free(order);
	return NULL;
}
