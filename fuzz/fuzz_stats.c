/* Fuzzes the reader of files of statistics, and writes metrics of what it reads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/prometheus.h"
#include "stats/stats_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All metrics; the text is not looked at. */
static void write_metrics(const struct stats *stats)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		abort();
	if (prometheus_write(stats, out) < 0)
		abort();
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct stats_reading reading = {0};
	struct dagtap_error error;
	struct stats stats;
	uint32_t process;

	if (!in)
		return 0;
	if (stats_init(&stats) < 0 || stats_add_process(&stats, 0, 0, "", 0, &process) < 0)
		abort();
	if (stats_read_stream(in, "fuzz", &stats, &reading, &error) == 0)
		write_metrics(&stats);
	stats_release(&stats);
	fclose(in);
	return 0;
}
