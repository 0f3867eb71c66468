/* Prints the waits of an example for comparison with a trace: waits.h. */
#include "waits.h"

#include <stdio.h>
#include <string.h>

static bool is_printed;
static unsigned record_count, wait_count;

void waits_option(int *argc, char **argv)
{
	if (*argc > 1 && !strcmp(argv[*argc - 1], "--print-waits")) {
		is_printed = true;
		*argc -= 1;
	}
}

void waits_recorded(struct waits_record *record, hipStream_t stream)
{
	*record = (struct waits_record){.number = ++record_count, .stream = stream};
}

void waits_replayed(struct waits_record *record, hipStream_t stream, unsigned node, unsigned replay)
{
	waits_recorded(record, stream);
	record->is_replayed = true;
	record->node = node;
	record->replay = replay;
}

static void print_wait(const char *who, const struct waits_record *record)
{
	wait_count++;
	if (!is_printed)
		return;
	if (!record->number) {
		printf("wait %u by %s for nothing\n", wait_count, who);
		return;
	}
	printf("wait %u by %s for record %u on %p", wait_count, who, record->number,
	       (void *)record->stream);
	if (record->is_replayed)
		printf(" by node %u of replay %u", record->node, record->replay);
	printf("\n");
}

void waits_stream(hipStream_t stream, const struct waits_record *record)
{
	char who[32];

	snprintf(who, sizeof(who), "%p", (void *)stream);
	print_wait(who, record);
}

void waits_host(const struct waits_record *record)
{
	print_wait("host", record);
}

void waits_host_for_stream(hipStream_t stream)
{
	wait_count++;
	if (is_printed)
		printf("wait %u by host for all on %p\n", wait_count, (void *)stream);
}

void waits_host_for_all(void)
{
	wait_count++;
	if (is_printed)
		printf("wait %u by host for all\n", wait_count);
}
