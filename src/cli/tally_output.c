/* Prints tallies (tally_output.h). */
#include "cli/tally_output.h"

#include <stdio.h>

/* What is printed of a tally, in this order. */
static const char *const keys[] = {"mean_ns", "median_ns", "stddev_ns", "min_ns", "max_ns"};

#define VALUE_COUNT  (sizeof(keys) / sizeof(keys[0]))
#define WHOLE_FROM   3 /* values from here on are whole numbers */
#define MEMBER_CHARS 32

void tally_put_cells(struct columns *columns, const struct tally *tally)
{
	const double values[VALUE_COUNT] = {tally_mean(tally), tally->median_ns, tally->stddev_ns,
					    (double)tally->min_ns, (double)tally->max_ns};

	for (size_t i = 0; i < VALUE_COUNT; i++) {
		if (tally->timed)
			columns_put_ns(columns, values[i]);
		else
			columns_put_none(columns, COLUMN_NS);
	}
}

void tally_put_json(struct json *json, const char *prefix, const struct tally *tally)
{
	const double values[WHOLE_FROM] = {tally_mean(tally), tally->median_ns, tally->stddev_ns};
	char member[MEMBER_CHARS];

	for (size_t i = 0; i < VALUE_COUNT; i++) {
		snprintf(member, sizeof(member), "%s%s", prefix, keys[i]);
		if (i < WHOLE_FROM)
			json_put_double(json, member, values[i]);
		else
			json_put_i64(json, member, i == WHOLE_FROM ? tally->min_ns : tally->max_ns);
	}
}
