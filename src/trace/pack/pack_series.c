/* Memory of the series writer and reader; see pack_series_write.c and pack_series_read.c. */
#include "trace/pack/pack_series.h"

#include <errno.h>
#include <stdlib.h>

int pack_series_reserve(struct pack_series_scratch *scratch, uint32_t count)
{
	if (count <= scratch->room)
		return 0;
	free(scratch->folded);
	free(scratch->dictionary);
	free(scratch->plane);
	scratch->folded = malloc(count * sizeof(*scratch->folded));
	scratch->dictionary = malloc(count * sizeof(*scratch->dictionary));
	scratch->plane = malloc(count);
	scratch->room = scratch->folded && scratch->dictionary && scratch->plane ? count : 0;
	return scratch->room ? 0 : -ENOMEM;
}

void pack_series_release(struct pack_series_scratch *scratch)
{
	free(scratch->folded);
	free(scratch->dictionary);
	free(scratch->plane);
	pack_map_release(&scratch->numbers);
	pack_buffer_release(&scratch->firsts);
	*scratch = (struct pack_series_scratch){0};
}
