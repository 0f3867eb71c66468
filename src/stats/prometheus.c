/* The text of metrics: see prometheus.h. */
#include "stats/prometheus.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "wire/utf8.h"

static const double quantiles[] = {0.5, 0.9, 0.99};

/* A label's value: the format escapes the backslash, the quote and the line feed. Other control
 * characters are replaced, because readers differ in what they do with them, and bytes that are not
 * UTF-8, because readers then refuse the whole answer. */
static void put_value(FILE *out, const char *text)
{
	putc('"', out);
	for (size_t length; *text; text += length ? length : 1) {
		length = utf8_character(text, strnlen(text, 4));
		if (!length)
			fputs(UTF8_REPLACEMENT, out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else if (*text == '\n')
			fputs("\\n", out);
		else if (length == 1 && *text < ' ')
			putc('?', out);
		else
			fwrite(text, 1, length, out);
	}
	putc('"', out);
}

/* Begins the labels. The number makes them differ from those of another recording with the same
 * pid: exec keeps the pid, and pids come again. */
static void put_process(FILE *out, const struct stats *stats, const struct stat_process *process)
{
	fprintf(out, "{process=\"%td\",pid=\"%" PRIu32 "\",session=\"%" PRIu32 "\"",
		process - stats->processes, process->pid, process->session);
}

static void put_labels(FILE *out, const struct stats *stats, const struct stat_process *process,
		       const struct stat_key *key)
{
	put_process(out, stats, process);
	fprintf(out, ",kind=\"%s\",name=", stat_kind_text(key->kind));
	put_value(out, stats->names.strings[key->name]);
	if (key->kind == STAT_NODE)
		fprintf(out, ",graph=\"%" PRIu64 "\",node=\"%" PRIu32 "\"", key->graph, key->node);
}

#define DURATION "dagtap_activity_duration_seconds"

static int put_summary(FILE *out, const struct stats *stats, const struct stat_process *process,
		       uint32_t key)
{
	const struct stat_row *row = &process->rows[key];
	struct sketch all = {0};
	int err = sketch_merge(&all, &row->total);

	if (err == 0)
		err = sketch_merge(&all, &row->interval);
	for (size_t i = 0; err == 0 && i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		fputs(DURATION, out);
		put_labels(out, stats, process, &stats->keys[key]);
		fprintf(out, ",quantile=\"%g\"} %.9g\n", quantiles[i],
			sketch_quantile(&all, quantiles[i]) / 1e9);
	}
	fputs(DURATION "_sum", out);
	put_labels(out, stats, process, &stats->keys[key]);
	fprintf(out, "} %" PRIu64 ".%09" PRIu64 "\n", all.sum / 1000000000, all.sum % 1000000000);
	fputs(DURATION "_count", out);
	put_labels(out, stats, process, &stats->keys[key]);
	fprintf(out, "} %" PRIu64 "\n", all.count);
	sketch_release(&all);
	return err;
}

static int put_summaries(FILE *out, const struct stats *stats)
{
	int err = 0;

	fputs("# HELP " DURATION " Durations of kernels, copies, collectives and graph nodes.\n"
	      "# TYPE " DURATION " summary\n",
	      out);
	for (uint32_t p = 0; p < stats->processes_count; p++) {
		const struct stat_process *process = &stats->processes[p];

		for (uint32_t key = 0; key < process->rows_count && err == 0; key++) {
			const struct stat_row *row = &process->rows[key];

			if (row->total.count || row->interval.count)
				err = put_summary(out, stats, process, key);
		}
	}
	return err;
}

#define COUNTERS(X)                                                                                \
	X(outliers, "Activities that took longer than the limit of outliers.")                     \
	X(lost, "Records that the ring dropped before they were read.")                            \
	X(dropped, "Records that the process could not write, or CUPTI dropped.")                  \
	X(cut_off, "Calls that were counted without all their records.")

static void put_counter(FILE *out, const struct stats *stats, const char *name, const char *help,
			size_t offset)
{
	fprintf(out, "# HELP dagtap_%s_total %s\n# TYPE dagtap_%s_total counter\n", name, help,
		name);
	for (uint32_t p = 0; p < stats->processes_count; p++) {
		const struct stat_process *process = &stats->processes[p];

		fprintf(out, "dagtap_%s_total", name);
		put_process(out, stats, process);
		fprintf(out, "} %" PRIu64 "\n",
			*(const uint64_t *)(const void *)((const char *)process + offset));
	}
}

/* Gauges, because a launch may turn out later not to be comparable. */
static void put_delivery(FILE *out, const struct stats *stats, const char *name, const char *help,
			 size_t offset)
{
	fprintf(out, "# HELP dagtap_cuda_%s %s\n# TYPE dagtap_cuda_%s gauge\n", name, help, name);
	for (uint32_t p = 0; p < stats->processes_count; p++) {
		const struct stat_process *process = &stats->processes[p];
		const char *row = (const void *)&process->deliveries;

		if (!process->deliveries.is_known)
			continue;
		fprintf(out, "dagtap_cuda_%s", name);
		put_process(out, stats, process);
		fprintf(out, "} %" PRIu64 "\n", *(const uint64_t *)(const void *)(row + offset));
	}
}

int prometheus_write(const struct stats *stats, FILE *out)
{
	int err = put_summaries(out, stats);

	if (err < 0)
		return err;
	fprintf(out,
		"# HELP dagtap_relative_error The relative error of the quantiles.\n"
		"# TYPE dagtap_relative_error gauge\ndagtap_relative_error %g\n",
		SKETCH_ERROR);
#define X(name, help) put_counter(out, stats, #name, help, offsetof(struct stat_process, name));
	COUNTERS(X)
#undef X
#define X(name, help) put_delivery(out, stats, #name, help, offsetof(struct stat_deliveries, name));
	STAT_DELIVERIES(X)
#undef X
	return ferror(out) ? -EIO : 0;
}
