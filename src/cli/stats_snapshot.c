/* Makes the names of outliers' recordings: see stats_snapshot.h. */
#include "cli/stats_snapshot.h"

#include <stdio.h>
#include <string.h>

#include "cli/spool_listing.h"

char *stats_snapshot_path(const char *output, uint64_t number)
{
	static const char suffix[] = ".dagstats";
	size_t chars = strlen(output);
	char *path;

	if (listing_has_suffix(output, suffix))
		chars -= strlen(suffix);
	return asprintf(&path, "%.*s.outlier-%llu.dagtap", (int)chars, output,
			(unsigned long long)number) < 0
		       ? NULL
		       : path;
}
