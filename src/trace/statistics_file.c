/* The first bytes of a file of statistics: see statistics_file.h. */
#include "trace/statistics_file.h"

#include <errno.h>
#include <string.h>

/* stats_write_head (stats/stats_file.h) writes this first. */
static const char first_bytes[] = "{\"dagstats\"";

int statistics_file_refuse(const char *name, const void *bytes, size_t size,
			   struct dagtap_error *error)
{
	size_t least = sizeof(first_bytes) - 1;

	if (size < least || memcmp(bytes, first_bytes, least) != 0)
		return 0;
	return dagtap_error_set(error, -EINVAL,
				"%s: statistics of dagtap record --stats, not a recording; dagtap "
				"stats reads them",
				name);
}
