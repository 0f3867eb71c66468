/* Prints the rows of a folder (hsa_rows.h), to examine a failed case by hand. */
#include <inttypes.h>
#include <stdio.h>

#include "hsa_rows.h"

int main(int argc, char **argv)
{
	static const char *const causes[] = {
#define X(name, text) #name,
		RECORD_UNTIMED(X)
#undef X
	};
	struct rows *rows;

	if (argc != 2) {
		fprintf(stderr, "usage: hsa-rows FOLDER\n");
		return 2;
	}
	rows = rows_read(argv[1]);
	printf("dispatches %zu, barriers %" PRIu64 ", copies %zu, kernels %" PRIu64
	       ", anchors %zu, without done %" PRIu64 ", orphans %" PRIu64 ", dropped %" PRIu64
	       ", %s\n",
	       rows->dispatch_count, rows->barriers, rows->copy_count, rows->kernels,
	       rows->anchor_count, rows->without_done, rows->orphans, rows->dropped,
	       rows->closed ? "closed" : "truncated");
	for (int i = 0; i < RECORD_UNTIMED_COUNT; i++) {
		if (rows->untimed[i] || rows->copies_untimed[i])
			printf("%-16s %" PRIu64 " dispatches, %" PRIu64 " copies\n", causes[i],
			       rows->untimed[i], rows->copies_untimed[i]);
	}
	for (int c = 0; c < RECORD_CLASS_COUNT; c++) {
		for (int d = 0; d < RECORD_DROP_COUNT; d++) {
			if (rows->dropped_by[c][d])
				printf("dropped: class %d cause %d: %" PRIu64 "\n", c, d,
				       rows->dropped_by[c][d]);
		}
	}
	rows_free(rows);
	return 0;
}
