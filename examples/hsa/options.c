/* raw-driver's options: options.h. */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, FLAG, COMPLETION };

struct option_row {
	const char *name;
	enum kind kind;
	size_t offset;
	uint32_t low, high;
	const char *help;
};

#define ROW(field, kind, low, high, help)                                                          \
	{                                                                                          \
#field, kind, offsetof(struct options, field), low, high, help                     \
	}

static const struct option_row rows[] = {
	ROW(batch, NUMBER, 1, 10000, "packets for each doorbell (64)"),
	ROW(ring, NUMBER, 64, 131072, "slots in a queue, a power of two (4096)"),
	ROW(queues, NUMBER, 1, 16, "queues (1)"),
	ROW(producers, NUMBER, 1, 64, "threads that write packets (1)"),
	ROW(packets, NUMBER, 1, 20000000, "dispatches in all (10000)"),
	ROW(completion, COMPLETION, 0, 0, "none | last | each: which packets have a signal (last)"),
	ROW(scratch, NUMBER, 0, 65536, "private bytes of a work-item (what the kernel has)"),
	ROW(barrier, FLAG, 0, 0, "set the barrier bit"),
	ROW(cross, FLAG, 0, 0, "barrier-AND on other producers' batches (completion: last)"),
	ROW(profile, FLAG, 0, 0, "profile the queues and check the signals' times"),
	ROW(race, FLAG, 0, 0, "plant a data race, for ThreadSanitizer to find"),
};

static const char *const completion_names[] = {"none", "last", "each"};

__attribute__((noreturn)) static void usage(int code)
{
	FILE *out = code ? stderr : stdout;

	fprintf(out, "usage: raw-driver [--OPTION VALUE | --FLAG]...\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(out, "  --%-12s %s\n", rows[i].name, rows[i].help);
	exit(code);
}

static uint32_t parse_number(const struct option_row *row, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || value < row->low || value > row->high) {
		fprintf(stderr, "raw-driver: --%s takes %u to %u\n", row->name, row->low,
			row->high);
		exit(2);
	}
	return (uint32_t)value;
}

static enum completion parse_completion(const char *text)
{
	for (size_t i = 0; i < sizeof(completion_names) / sizeof(completion_names[0]); i++)
		if (!strcmp(text, completion_names[i]))
			return (enum completion)i;
	usage(2);
}

/* Returns the number of arguments used. */
static int apply(const struct option_row *row, const char *value, struct options *options)
{
	char *field = (char *)options + row->offset;

	if (row->kind == FLAG) {
		*(bool *)field = true;
		return 1;
	}
	if (!value)
		usage(2);
	if (row->kind == NUMBER)
		*(uint32_t *)field = parse_number(row, value);
	else
		*(enum completion *)field = parse_completion(value);
	return 2;
}

static const struct option_row *find_row(const char *argument)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(argument, "--", 2) && !strcmp(argument + 2, rows[i].name))
			return &rows[i];
	return NULL;
}

void options_parse(int argc, char **argv, struct options *ret_options)
{
	*ret_options = (struct options){.batch = 64,
					.ring = 4096,
					.queues = 1,
					.producers = 1,
					.packets = 10000,
					.completion = COMPLETION_LAST};
	for (int i = 1; i < argc;) {
		const struct option_row *row = find_row(argv[i]);

		if (!row)
			usage(strcmp(argv[i], "--help") ? 2 : 0);
		i += apply(row, argv[i + 1], ret_options);
	}
	if (ret_options->ring & (ret_options->ring - 1) ||
	    (ret_options->cross && ret_options->completion != COMPLETION_LAST) ||
	    ret_options->packets < ret_options->producers)
		usage(2);
}
