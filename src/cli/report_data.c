/* Puts the data of a report together (report_data.h). Each member is written to memory first. If
 * it takes more bytes than its share, it is written again with half as many rows in its lists. */
#include "cli/report_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dependencies.h"
#include "analyze/step_query.h"
#include "cli/answers.h"
#include "cli/cmd_scopes.h"
#include "cli/report_timeline.h"
#include "wire/json.h"

#define KIB	      1024
#define SECTIONS_MOST 16

/* What the sections are written from. */
struct source {
	struct trace *const *traces; /* one, or two that are compared */
	const char *const *paths;
	/* Of the one trace; several sections need them. */
	struct dependencies deps;
	const char *step_of;	    /* the query of the steps; NULL: there are none */
	struct scopes_result steps; /* its pattern is NULL: there are none */
	/* Of the graph section, as it was written last. */
	uint32_t graphs_left_out;
};

/* A member of the object. LIMIT: the most rows of each list. */
struct section {
	const char *key;
	size_t bytes_most;
	uint32_t limit; /* the first one that is tried */
	int (*write)(struct source *source, uint32_t limit, FILE *out);
};

/* What became of a section. */
struct written {
	char *text; /* owned */
	size_t bytes;
	uint32_t limit;
	int err; /* -ENODATA: there is nothing to show; -EFBIG: it has too many bytes */
};

/* ---- the sections ---- */

static int write_info(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return info_write_json(source->traces[0], source->paths[0], out);
}

static int write_check(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return check_write_json(source->traces[0], source->paths[0], out);
}

static int write_summary(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[0], source->paths[0], "kernel", limit, out);
}

static int write_by_scope(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[0], source->paths[0], "scope", limit, out);
}

static int write_by_stream(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[0], source->paths[0], "stream", limit, out);
}

static int write_by_api(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[0], source->paths[0], "api", limit, out);
}

struct graph_rank {
	uint32_t graph;
	uint64_t activities;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct graph_rank *a = left, *b = right;

	if (a->activities != b->activities)
		return a->activities < b->activities ? 1 : -1;
	return a->graph < b->graph ? -1 : a->graph > b->graph;
}

/* The graphs by the activities of their launches, most first; the caller frees them. */
static struct graph_rank *rank_graphs(const struct trace *trace)
{
	struct graph_rank *ranks = calloc((size_t)trace->graphs_count + 1, sizeof(*ranks));

	for (uint32_t i = 0; ranks && i < trace->graphs_count; i++)
		ranks[i].graph = i;
	for (uint32_t i = 0; ranks && i < trace->activities_count; i++) {
		uint32_t node = trace->activities[i].node;

		if (node != TRACE_NONE)
			ranks[trace->nodes[node].graph].activities++;
	}
	if (ranks)
		qsort(ranks, trace->graphs_count, sizeof(*ranks), compare_ranks);
	return ranks;
}

/* LIMIT: the most nodes and edges of all graphs together. */
static int write_graphs(struct source *source, uint32_t limit, FILE *out)
{
	const struct trace *trace = source->traces[0];
	struct graph_rank *ranks = rank_graphs(trace);
	bool *is_left_out = calloc((size_t)trace->graphs_count + 1, sizeof(*is_left_out));
	uint64_t rows = 0;
	int err = ranks && is_left_out ? 0 : -ENOMEM;

	source->graphs_left_out = 0;
	for (uint32_t i = 0; i < trace->graphs_count && err == 0; i++) {
		const struct trace_graph *graph = &trace->graphs[ranks[i].graph];
		uint64_t more = 1 + (uint64_t)graph->node_count + graph->edge_count;

		if (rows + more > limit) {
			is_left_out[ranks[i].graph] = true;
			source->graphs_left_out++;
		} else {
			rows += more;
		}
	}
	if (err == 0)
		err = graph_write_json(trace, source->paths[0], is_left_out, out);
	free(ranks);
	free(is_left_out);
	return err;
}

static int write_scopes(struct source *source, uint32_t limit, FILE *out)
{
	return scopes_write_json(source->traces[0], source->paths[0], limit, out);
}

static int write_steps(struct source *source, uint32_t limit, FILE *out)
{
	if (!source->steps.pattern || source->steps.stats.instances.count == 0)
		return -ENODATA;
	source->steps.limit = limit;
	return scopes_put_json(&source->steps, out);
}

static int write_path(struct source *source, uint32_t limit, FILE *out)
{
	return path_write_json(&source->deps, source->paths[0], limit, out);
}

static int write_gaps(struct source *source, uint32_t limit, FILE *out)
{
	return gaps_write_json(&source->deps, source->paths[0], limit, out);
}

static int write_memory(struct source *source, uint32_t limit, FILE *out)
{
	return memory_write_json(source->traces[0], source->paths[0], limit, out);
}

/* LIMIT: the most rows of all windows together. */
static int write_timeline(struct source *source, uint32_t limit, FILE *out)
{
	struct report_windows windows = {0};
	const struct scope_stats *steps = source->steps.pattern ? &source->steps.stats : NULL;
	int err = report_windows_choose(&source->deps, steps, limit, &windows);

	if (err == 0)
		err = windows.rows_count ? report_timeline_write(&source->deps, &windows, out)
					 : -ENODATA;
	free(windows.rows);
	return err;
}

/* The shares of a page of 20 MB. */
static const struct section recording_sections[] = {
	{"info", 512 * KIB, 0, write_info},
	{"check", 512 * KIB, 0, write_check},
	{"summary", 1024 * KIB, 1000, write_summary},
	{"by_scope", 1024 * KIB, 1000, write_by_scope},
	{"by_stream", 512 * KIB, 1000, write_by_stream},
	{"by_api", 512 * KIB, 1000, write_by_api},
	{"graph", 3072 * KIB, 20000, write_graphs},
	{"scopes", 512 * KIB, 500, write_scopes},
	{"steps", 1536 * KIB, 4000, write_steps},
	{"path", 1536 * KIB, 400, write_path},
	{"gaps", 256 * KIB, 100, write_gaps},
	{"memory", 512 * KIB, 500, write_memory},
	{"timeline", 8192 * KIB, 100000, write_timeline},
	{0},
};

/* ---- writing a section ---- */

/* The bytes of TEXT in a page, where '<' is written as \u003c. */
static size_t page_bytes(const char *text, size_t bytes)
{
	size_t total = bytes;

	for (const char *at = text; (at = memchr(at, '<', (size_t)(text + bytes - at))); at++)
		total += strlen("\\u003c") - 1;
	return total;
}

/* Writes SECTION to memory once, with written->limit. */
static void write_once(const struct section *section, struct source *source,
		       struct written *written)
{
	FILE *out;

	free(written->text);
	written->text = NULL;
	out = open_memstream(&written->text, &written->bytes);
	if (!out) {
		written->err = -ENOMEM;
		return;
	}
	written->err = section->write(source, written->limit, out);
	if (fclose(out) != 0 && written->err == 0)
		written->err = -ENOMEM;
	if (written->err == 0 && page_bytes(written->text, written->bytes) > section->bytes_most)
		written->err = -EFBIG;
}

static struct written write_section(const struct section *section, struct source *source)
{
	struct written written = {.limit = section->limit};

	write_once(section, source, &written);
	while (written.err == -EFBIG && written.limit > 1) {
		written.limit /= 2;
		write_once(section, source, &written);
	}
	return written;
}

/* ---- the object ---- */

static bool is_failure(const struct written *written)
{
	return written->err < 0 && written->err != -ENODATA && written->err != -EFBIG &&
	       written->err != -EOVERFLOW;
}

/* What the object has of each section: the key "holds". */
static void put_holds(FILE *out, const struct section *sections, const struct written *written,
		      const struct source *source)
{
	struct json json;

	fprintf(out, ",\n\"holds\": ");
	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "steps_of", source->steps.pattern);
	json_put_text(&json, "step_of", source->step_of);
	json_put_u64(&json, "graphs_left_out", source->graphs_left_out);
	json_key(&json, "sections");
	json_object_begin(&json);
	for (size_t i = 0; sections[i].key; i++) {
		json_key(&json, sections[i].key);
		json_row_begin(&json);
		json_put_text(&json, "state",
			      written[i].err == 0	   ? "there"
			      : written[i].err == -ENODATA ? "nothing to show"
							   : "too large");
		json_key(&json, "limit");
		if (sections[i].limit)
			json_u64(&json, written[i].limit);
		else
			json_null(&json);
		json_object_end(&json);
	}
	json_object_end(&json);
	json_object_end(&json);
	json_finish(&json);
}

static void put_head(FILE *out, const char *kind)
{
	struct json json;

	fprintf(out, "{\n\"report_version\": %d,\n\"dagtap\": ", REPORT_VERSION);
	json_init(&json, out);
	json_text(&json, DAGTAP_VERSION);
	fprintf(out, ",\n\"kind\": ");
	json_init(&json, out);
	json_text(&json, kind);
}

static void put_sections(FILE *out, const struct section *sections, const struct written *written)
{
	for (size_t i = 0; sections[i].key; i++) {
		fprintf(out, ",\n\"%s\": ", sections[i].key);
		if (written[i].err == 0)
			fwrite(written[i].text, 1, written[i].bytes, out);
		else
			fputs("null\n", out);
	}
}

/* Writes the sections and then the object. */
static int write_object(const char *kind, const struct section *sections, struct source *source,
			FILE *out)
{
	struct written written[SECTIONS_MOST] = {{0}};
	int err = 0;

	for (size_t i = 0; sections[i].key && err == 0; i++) {
		written[i] = write_section(&sections[i], source);
		if (is_failure(&written[i]))
			err = written[i].err;
	}
	if (err == 0) {
		put_head(out, kind);
		put_holds(out, sections, written, source);
		put_sections(out, sections, written);
		fputs("}\n", out);
		if (ferror(out) || fflush(out) != 0)
			err = errno ? -errno : -EIO;
	}
	for (size_t i = 0; sections[i].key; i++)
		free(written[i].text);
	return err;
}

/* ---- a recording ---- */

int report_write_recording(const struct trace *trace, const char *path, const char *step_of,
			   FILE *out)
{
	struct trace *traces[] = {(struct trace *)trace};
	struct source source = {
		.traces = traces,
		.paths = &path,
		.step_of = step_of,
		.steps = {.file = path, .trace = trace},
	};
	char pattern[STEP_PATTERN_CHARS];
	int err;

	if (step_of)
		source.steps.pattern = step_query_pattern(step_of, pattern);
	err = dependencies_make(trace, &source.deps);
	if (err == 0 && source.steps.pattern)
		err = scopes_find(&source.deps, &source.steps);
	if (err == 0)
		err = write_object("recording", recording_sections, &source, out);
	scopes_release(&source.steps);
	dependencies_release(&source.deps);
	return err;
}

/* ---- a comparison ---- */

static int write_summary_a(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[0], source->paths[0], "kernel", limit, out);
}

static int write_summary_b(struct source *source, uint32_t limit, FILE *out)
{
	return summary_write_json(source->traces[1], source->paths[1], "kernel", limit, out);
}

static int write_diff(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return diff_write_json(source->traces, source->paths, "kernel", out);
}

static int write_diff_node(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return diff_write_json(source->traces, source->paths, "node", out);
}

static int write_diff_scope(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return diff_write_json(source->traces, source->paths, "scope", out);
}

static int write_diff_api(struct source *source, uint32_t limit, FILE *out)
{
	(void)limit;
	return diff_write_json(source->traces, source->paths, "api", out);
}

static const struct section comparison_sections[] = {
	{"summary_a", 2048 * KIB, 1000, write_summary_a},
	{"summary_b", 2048 * KIB, 1000, write_summary_b},
	{"diff", 4096 * KIB, 0, write_diff},
	{"diff_node", 4096 * KIB, 0, write_diff_node},
	{"diff_scope", 4096 * KIB, 0, write_diff_scope},
	{"diff_api", 2048 * KIB, 0, write_diff_api},
	{0},
};

int report_write_comparison(struct trace *const traces[2], const char *const paths[2], FILE *out)
{
	struct source source = {.traces = traces, .paths = paths};

	return write_object("comparison", comparison_sections, &source, out);
}
