/*
 * Measures what it costs to keep a graph whose buffers move: dagpatch's strategies next to what a
 * program can do without dagpatch, on a chain of N kernel nodes of which 1 %, 10 % or all have
 * another address. The repeats of a subject follow each other, because large graphs that take turns
 * evict each other from the GPU's cache. At the end each node's count of runs is compared with the
 * number of launches.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "patch_ways.h"

#define SIZES_MOST	  8
#define IDLE_SLOTS	  1000
#define IDLE_CALLS	  100
#define NAME_BYTES	  48
#define STEPS		  4 /* how many slots move: none, then what sums up to the percentages: */
#define NS_PER_US	  1000.0
#define WARM_UP_NS	  300000000
#define ROUNDS_MOST	  21
#define SETTLING_LAUNCHES 300

static const uint32_t percents[STEPS] = {0, 1, 10, 100};

static const char *const measure_names[MEASURES] = {"host", "launch", "result"};

struct row {
	uint32_t nodes, percent;
	const char *way;
	double us[MEASURES];
};

/* A method's host time divided by that of the bare calls, both measured in turn. */
struct ratio {
	uint32_t nodes, percent;
	const char *way;
	double bare_us, us;
	/* of the rounds' ratios; a tenth of the rounds is below low and a tenth above high */
	double median, low, high;
};

static const char *driver = "model";
static uint32_t sizes[SIZES_MOST] = {10, 100, 1000, 10000};
static uint32_t size_count = 4;
static uint32_t repeats = 15;

static struct row rows[SIZES_MOST * STEPS * WAYS_MOST];
static size_t row_count;
static struct ratio ratios[SIZES_MOST * STEPS * 2];
static size_t ratio_count;

/* ---- measuring ---- */

static void drop_old(struct subject *subject)
{
	if (subject->old_exec)
		patch_run.bed->exec_destroy(subject->old_exec);
	if (subject->old_graph)
		patch_run.bed->graph_destroy(subject->old_graph);
	subject->old_exec = NULL;
	subject->old_graph = NULL;
}

static int measure(struct subject *subject, uint32_t moved, uint32_t repeat)
{
	uint64_t begin, changed, submitted, done;
	int err;

	for (uint32_t slot = 0; slot < moved; slot++)
		subject->side[slot] ^= 1;
	begin = clock_now_ns();
	err = moved || subject->recording ? subject->way->change(subject, moved) : 0;
	changed = clock_now_ns();
	if (!err)
		err = subject->way->launch(subject);
	submitted = clock_now_ns();
	patch_run.bed->stream_synchronize(patch_run.stream);
	done = clock_now_ns();
	drop_old(subject);
	if (err)
		return err;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		patch_run.launched[subject->side[slot]][slot]++;
	subject->samples[HOST][repeat] = (double)(changed - begin) / NS_PER_US;
	subject->samples[LAUNCH][repeat] = (double)(submitted - changed) / NS_PER_US;
	subject->samples[RESULT][repeat] = (double)(done - begin) / NS_PER_US;
	return 0;
}

static void add_row(struct subject *subject, uint32_t percent)
{
	struct row *row = &rows[row_count++];

	*row = (struct row){
		.nodes = patch_run.node_count, .percent = percent, .way = subject->way->name};
	for (int i = 0; i < MEASURES; i++)
		row->us[i] = bench_median(subject->samples[i], repeats);
}

/* The first run of each subject is a warm-up. With a table, DAGPATCH_AUTO changes its strategy
 * after the present one has cost enough time, so it is measured after many such changes. */
static int warm_up_way(struct subject *subject, uint32_t moved)
{
	uint32_t capabilities = dagpatch_context_capabilities(patch_run.contexts[DAGPATCH_AUTO]);
	uint32_t count = way_is_auto(subject->way) && capabilities & DAGPATCH_HAS_TABLE
				 ? SETTLING_LAUNCHES
				 : 1;
	int err = 0;

	for (uint32_t i = 0; !err && i < count; i++)
		err = measure(subject, moved, 0);
	return err;
}

static int measure_way(struct subject *subject, uint32_t moved)
{
	int err = warm_up_way(subject, moved);

	for (uint32_t repeat = 0; !err && repeat < repeats; repeat++)
		err = measure(subject, moved, repeat);
	if (!err)
		add_row(subject, percents[moved]);
	return err;
}

static uint32_t rounds(void)
{
	return repeats < ROUNDS_MOST ? repeats : ROUNDS_MOST;
}

/* Each round measures the same number of repeats of both, one after the other. */
static int measure_ratio(struct subject *bare, struct subject *subject, uint32_t moved)
{
	struct ratio *ratio = &ratios[ratio_count];
	double times[2][ROUNDS_MOST], quotients[ROUNDS_MOST];
	struct subject *const both[2] = {bare, subject};
	uint32_t count = rounds();

	for (uint32_t round = 0; round < count; round++) {
		for (int i = 0; i < 2; i++) {
			int err = measure(both[i], moved, 0);

			for (uint32_t repeat = 0; !err && repeat < repeats; repeat++)
				err = measure(both[i], moved, repeat);
			if (err)
				return err;
			times[i][round] = bench_median(both[i]->samples[HOST], repeats);
		}
		quotients[round] = times[1][round] / times[0][round];
	}
	*ratio = (struct ratio){
		.nodes = patch_run.node_count,
		.percent = percents[moved],
		.way = subject->way->name,
		.bare_us = bench_median(times[0], count),
		.us = bench_median(times[1], count),
		.median = bench_median(quotients, count),
	};
	/* measure_ratio has sorted the quotients */
	ratio->low = quotients[count / 10];
	ratio->high = quotients[count - 1 - count / 10];
	ratio_count++;
	return 0;
}

static int measure_ratios(struct subject *subjects, uint32_t moved)
{
	struct subject *bare = NULL;
	int err = 0;

	for (size_t i = 0; i < patch_way_count; i++)
		if (patch_ways[i].is_bare)
			bare = &subjects[i];
	for (size_t i = 0; !err && bare && moved && i < patch_way_count; i++)
		if (patch_ways[i].strategy == DAGPATCH_SET_PARAMS || way_is_auto(&patch_ways[i]))
			err = measure_ratio(bare, &subjects[i], moved);
	return err;
}

static int measure_step(struct subject *subjects, uint32_t moved)
{
	int err = 0;

	for (size_t i = 0; !err && i < patch_way_count; i++) {
		if (way_is_possible(&patch_ways[i]) && (!moved || !patch_ways[i].replays_only))
			err = measure_way(&subjects[i], moved);
	}
	return err ? err : measure_ratios(subjects, moved);
}

/* An idle GPU takes a while to reach its full clock rate. */
static int warm_up(struct subject *subject)
{
	uint64_t begin = clock_now_ns();
	int err = 0;

	while (!err && clock_now_ns() - begin < WARM_UP_NS)
		err = measure(subject, 0, 0);
	return err;
}

static int check_counts(void)
{
	uint32_t *counts = malloc(patch_run.node_count * sizeof(*counts));
	int err = counts ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < SIDES * SLOTS; i++) {
		uint32_t slot = i / SIDES, side = i % SIDES;

		patch_run.bed->read(counts, patch_run.memory[side][slot],
				    patch_run.node_count * sizeof(*counts));
		for (uint32_t node = patch_run.slot_first[slot];
		     node < patch_run.slot_first[slot + 1]; node++) {
			if (counts[node] != patch_run.launched[side][slot] * MARK_VALUE)
				err = -EILSEQ;
		}
	}
	free(counts);
	return err;
}

static int make_size(uint32_t nodes)
{
	uint32_t one = nodes / 100 ? nodes / 100 : 1;
	uint32_t ten = nodes / 10 > one ? nodes / 10 : one;

	patch_run.node_count = nodes;
	memcpy(patch_run.slot_first, (uint32_t[]){0, one, ten, nodes},
	       sizeof(patch_run.slot_first));
	memset(patch_run.launched, 0, sizeof(patch_run.launched));
	for (int i = 0; i < SIDES * SLOTS; i++) {
		patch_run.memory[i / SLOTS][i % SLOTS] =
			patch_run.bed->alloc(nodes * sizeof(uint32_t));
		if (!patch_run.memory[i / SLOTS][i % SLOTS])
			return -ENOMEM;
	}
	return 0;
}

static void release_subject(struct subject *subject)
{
	dagpatch_recording_destroy(subject->recording);
	subject->old_exec = subject->exec;
	subject->old_graph = subject->graph;
	drop_old(subject);
	free(subject->nodes);
}

static int measure_size(uint32_t nodes)
{
	struct subject *subjects = calloc(patch_way_count, sizeof(*subjects));
	int err = subjects ? make_size(nodes) : -ENOMEM;

	for (size_t i = 0; !err && i < patch_way_count; i++) {
		subjects[i].way = &patch_ways[i];
		if (way_is_possible(&patch_ways[i]))
			err = patch_ways[i].prepare(&subjects[i]);
	}
	if (!err)
		err = warm_up(&subjects[0]);
	for (uint32_t moved = 0; !err && moved < STEPS; moved++)
		err = measure_step(subjects, moved);
	if (!err)
		err = check_counts();
	for (size_t i = 0; subjects && i < patch_way_count; i++)
		release_subject(&subjects[i]);
	free(subjects);
	for (int i = 0; i < SIDES * SLOTS; i++) {
		patch_run.bed->free(patch_run.memory[i / SLOTS][i % SLOTS]);
		patch_run.memory[i / SLOTS][i % SLOTS] = NULL;
	}
	return err;
}

/* ---- binding without a change ---- */

static int add_idle_node(struct dagpatch_recording *recording)
{
	struct dagpatch_slot slot = {
		.size = sizeof(slot), .bytes = sizeof(uint32_t), .alignment = 4};
	struct dagpatch_pointer at = {.slot = 0};
	int err = dagpatch_slot_add(recording, &slot, &at.slot);

	return err ? err : patch_add_mark(recording, at, NULL, NULL);
}

static int time_idle(struct dagpatch_recording *recording, const void *const *addresses,
		     double *ret_ns)
{
	double samples[REPEATS_MOST];
	int err = 0;

	for (uint32_t repeat = 0; repeat < repeats; repeat++) {
		uint64_t begin = clock_now_ns();

		for (int i = 0; !err && i < IDLE_CALLS; i++) {
			err = dagpatch_bind_all(recording, addresses, IDLE_SLOTS);
			if (!err)
				err = dagpatch_apply(recording);
		}
		samples[repeat] = (double)(clock_now_ns() - begin) / IDLE_CALLS;
	}
	*ret_ns = bench_median(samples, repeats);
	return err;
}

/* Measures binding all slots to the addresses that they have. */
static int measure_idle(struct bench_result *ret_result)
{
	struct dagpatch_recording *recording = NULL;
	const void *addresses[IDLE_SLOTS];
	void *word = patch_run.bed->alloc(sizeof(uint32_t));
	double ns = 0;
	int err = dagpatch_recording_create(patch_run.contexts[DAGPATCH_SET_PARAMS], 0, &recording);

	for (int i = 0; !err && i < IDLE_SLOTS; i++) {
		addresses[i] = word;
		err = add_idle_node(recording);
	}
	if (!err)
		err = dagpatch_finalize(recording);
	if (!err)
		err = time_idle(recording, addresses, &ns);
	dagpatch_recording_destroy(recording);
	patch_run.bed->free(word);
	if (!err)
		bench_add(ret_result, "unchanged_1000_slots", "ns", ns,
			  "dagpatch_bind_all of 1,000 slots to where they are, and dagpatch_apply");
	return err;
}

/* ---- the benchmark ---- */

static int open_contexts(void)
{
	static const enum dagpatch_strategy used[] = {DAGPATCH_AUTO, DAGPATCH_SET_PARAMS,
						      DAGPATCH_DEVICE_TABLE, DAGPATCH_UPDATE_GRAPH,
						      DAGPATCH_INSTANTIATE};
	struct dagpatch_error error;

	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		struct dagpatch_options options = {
			.size = sizeof(options), .driver = driver, .strategy = used[i]};
		int err = dagpatch_context_create(&options, &patch_run.contexts[used[i]], &error);

		if (err) {
			fprintf(stderr, "dagtap-bench: patch: %s\n", error.message);
			return err;
		}
	}
	return 0;
}

static void add_lines(struct bench_result *result)
{
	static char names[SIZES_MOST * STEPS * WAYS_MOST * MEASURES][NAME_BYTES];

	for (size_t i = 0; i < row_count * MEASURES; i++) {
		const struct row *row = &rows[i / MEASURES];

		snprintf(names[i], NAME_BYTES, "n%u_p%u_%s_%s", row->nodes, row->percent, row->way,
			 measure_names[i % MEASURES]);
		bench_add(result, names[i], "us", row->us[i % MEASURES], "");
	}
}

static void add_ratios(struct bench_result *result)
{
	static const char *const kinds[] = {"median", "low", "high"};
	static char names[SIZES_MOST * STEPS * 2 * 3][NAME_BYTES + 16];

	for (size_t i = 0; i < ratio_count * 3; i++) {
		const struct ratio *ratio = &ratios[i / 3];
		const double values[] = {ratio->median, ratio->low, ratio->high};

		snprintf(names[i], sizeof(names[i]), "n%u_p%u_%s_to_bare_%s", ratio->nodes,
			 ratio->percent, ratio->way, kinds[i % 3]);
		bench_add(result, names[i], "ratio", values[i % 3], "");
	}
}

static int run(struct bench_result *ret_result)
{
	int err;

	patch_run.floor = patch_floor_find(driver);
	if (!patch_run.floor)
		return -EINVAL;
	patch_run.bed = patch_run.floor->bed;
	row_count = 0;
	ratio_count = 0;
	if (patch_run.bed->open()) {
		fprintf(stderr, "dagtap-bench: patch: %s: no GPU here\n", driver);
		return -ENODEV;
	}
	patch_run.stream = patch_run.bed->stream_create();
	err = open_contexts();
	if (!err && patch_run.floor->open)
		err = patch_run.floor->open(patch_run.contexts[DAGPATCH_SET_PARAMS]);
	for (uint32_t i = 0; !err && i < size_count; i++)
		err = measure_size(sizes[i]);
	if (!err)
		err = measure_idle(ret_result);
	add_lines(ret_result);
	add_ratios(ret_result);
	if (patch_run.floor->close)
		patch_run.floor->close();
	for (int i = 0; i < DAGPATCH_STRATEGY_COUNT; i++) {
		dagpatch_context_destroy(patch_run.contexts[i]);
		patch_run.contexts[i] = NULL;
	}
	patch_run.bed->stream_destroy(patch_run.stream);
	patch_run.bed->close();
	return err < 0 ? err : err ? -EIO : 0;
}

static void print(const struct bench_result *result)
{
	printf("patch on %s, us, medians of %u: host = bind and patch, launch = the launch call, "
	       "result = "
	       "from bind to the end of the replay\n",
	       driver, repeats);
	printf("%6s %8s  %-22s %10s %10s %10s\n", "nodes", "changed", "way", "host", "launch",
	       "result");
	for (size_t i = 0; i < row_count; i++)
		printf("%6u %6u %%  %-22s %10.2f %10.2f %10.2f\n", rows[i].nodes, rows[i].percent,
		       rows[i].way, rows[i].us[HOST], rows[i].us[LAUNCH], rows[i].us[RESULT]);
	printf("host time beside the bare calls for the nodes that changed, in turn, %d rounds of "
	       "%u:\n",
	       rounds(), repeats);
	printf("%6s %8s  %-22s %10s %10s %8s\n", "nodes", "changed", "way", "bare", "host",
	       "ratio");
	for (size_t i = 0; i < ratio_count; i++)
		printf("%6u %6u %%  %-22s %10.3f %10.3f %7.2fx (%.2f to %.2f)\n", ratios[i].nodes,
		       ratios[i].percent, ratios[i].way, ratios[i].bare_us, ratios[i].us,
		       ratios[i].median, ratios[i].low, ratios[i].high);
	printf("%s: %.0f ns (%s)\n", result->lines[0].name, result->lines[0].value,
	       result->lines[0].help);
}

static int take_number(const char *text, uint32_t most, uint32_t *ret_value)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || !value || value > most)
		return -EINVAL;
	*ret_value = (uint32_t)value;
	return 0;
}

static int take(int argc, char **argv)
{
	uint32_t named = 0;
	int err = argc % 2 ? -EINVAL : 0;

	for (int i = 0; !err && i < argc; i += 2) {
		if (!strcmp(argv[i], "--driver"))
			driver = argv[i + 1];
		else if (!strcmp(argv[i], "--repeats"))
			err = take_number(argv[i + 1], REPEATS_MOST, &repeats);
		else if (!strcmp(argv[i], "--nodes") && named < SIZES_MOST)
			err = take_number(argv[i + 1], 1000000, &sizes[named++]);
		else
			err = -EINVAL;
	}
	if (named)
		size_count = named;
	return err;
}

const struct bench bench_patch = {
	.name = "patch",
	.help = "graphs whose buffers move: dagpatch's strategies, and what there is without it",
	.run = run,
	.print = print,
	.options = "[--driver model|cuda|hip] [--nodes N]... [--repeats N]",
	.take = take,
};
