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
#include "patch_floor.h"

#define SLOTS		  3 /* of 1 %, 9 % and 90 % of the nodes */
#define SIDES		  2 /* places at which a slot can be */
#define REPEATS_MOST	  101
#define SIZES_MOST	  8
#define IDLE_SLOTS	  1000
#define IDLE_CALLS	  100
#define NAME_BYTES	  48
#define STEPS		  4 /* how many slots move: none, then what sums up to the percentages: */
#define WAYS_MOST	  12
#define NS_PER_US	  1000.0
#define WARM_UP_NS	  300000000
#define ROUNDS_MOST	  21
#define SETTLING_LAUNCHES 300

static const uint32_t percents[STEPS] = {0, 1, 10, 100};

enum measure { HOST, LAUNCH, RESULT, MEASURES };

static const char *const measure_names[MEASURES] = {"host", "launch", "result"};

struct subject;

struct way {
	const char *name;
	enum dagpatch_strategy strategy; /* of the recording, if there is one */
	int (*prepare)(struct subject *subject);
	/* Updates the subject to where its slots now are; MOVED of them have moved. */
	int (*change)(struct subject *subject, uint32_t moved);
	int (*launch)(struct subject *subject);
	bool replays_only; /* measures replays without changes */
};

/* One method applied to one size of graph. */
struct subject {
	const struct way *way;
	void *graph, *exec, *old_graph, *old_exec;
	void **nodes;
	struct dagpatch_recording *recording;
	uint8_t side[SLOTS];
	double samples[MEASURES][REPEATS_MOST];
};

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

static const struct patch_floor *patch_floor;
static const struct bed *bed;
static void *stream;
static struct dagpatch_context *contexts[DAGPATCH_STRATEGY_COUNT];

/* The current size. */
static uint32_t node_count;
static uint32_t slot_first[SLOTS + 1];
static void *memory[SIDES][SLOTS];
static uint32_t launched[SIDES][SLOTS];

static struct row rows[SIZES_MOST * STEPS * WAYS_MOST];
static size_t row_count;
static struct ratio ratios[SIZES_MOST * STEPS * 2];
static size_t ratio_count;

/* ---- the graph ---- */

static uint32_t slot_of(uint32_t node)
{
	uint32_t slot = 0;

	while (node >= slot_first[slot + 1])
		slot++;
	return slot;
}

static void *address_of(const struct subject *subject, uint32_t node)
{
	uint32_t slot = slot_of(node);

	return (uint32_t *)memory[subject->side[slot]][slot] + node;
}

static int capture(const struct subject *subject, void **ret_graph)
{
	uint32_t value = MARK_VALUE;
	int err = 0;

	bed->capture_begin(stream);
	for (uint32_t i = 0; !err && i < node_count; i++) {
		void *at = address_of(subject, i);
		void *parameters[] = {&at, &value};

		err = bed->launch(stream, BED_MARK, 1, MARK_BLOCK, parameters);
	}
	*ret_graph = bed->capture_end(stream);
	return err;
}

/* ---- without dagpatch ---- */

static int prepare_exec(struct subject *subject)
{
	int err = capture(subject, &subject->graph);

	if (!err)
		subject->exec = bed->instantiate(subject->graph);
	subject->nodes = malloc(node_count * sizeof(*subject->nodes));
	if (!subject->nodes)
		return -ENOMEM;
	return err ? err : patch_floor->nodes(subject->graph, subject->nodes, node_count);
}

static int launch_exec(struct subject *subject)
{
	bed->exec_launch(subject->exec, stream);
	return 0;
}

static int change_nothing(struct subject *subject, uint32_t moved)
{
	return 0;
}

/* The old executable graph is destroyed after the measurement. */
static int change_instantiate(struct subject *subject, uint32_t moved)
{
	int err;

	subject->old_graph = subject->graph;
	subject->old_exec = subject->exec;
	err = capture(subject, &subject->graph);
	subject->exec = bed->instantiate(subject->graph);
	return err;
}

static int change_update(struct subject *subject, uint32_t moved)
{
	int err;

	subject->old_graph = subject->graph;
	err = capture(subject, &subject->graph);
	return err ? err : patch_floor->update(subject->exec, subject->graph);
}

static int set_nodes(struct subject *subject, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < count; i++)
		err = patch_floor->set(subject->exec, subject->nodes[i], address_of(subject, i));
	return err;
}

static int change_set_all(struct subject *subject, uint32_t moved)
{
	return set_nodes(subject, node_count);
}

static int change_set_moved(struct subject *subject, uint32_t moved)
{
	return set_nodes(subject, slot_first[moved]);
}

/* ---- with dagpatch ---- */

static int add_nodes(struct dagpatch_recording *recording, const uint32_t *slots)
{
	uint32_t value = MARK_VALUE;
	uint32_t last = DAGPATCH_NONE;
	int err = 0;

	for (uint32_t i = 0; !err && i < node_count; i++) {
		struct dagpatch_pointer at = {.slot = slots[slot_of(i)],
					      .offset = i * sizeof(uint32_t)};
		struct dagpatch_argument arguments[] = {dagpatch_address(&at),
							dagpatch_value(&value, sizeof(value))};
		struct dagpatch_kernel kernel = {
			.size = sizeof(kernel),
			.function = bed->function(BED_MARK),
			.grid = {1, 1, 1},
			.block = {MARK_BLOCK, 1, 1},
			.argument_count = 2,
			.arguments = arguments,
		};
		struct dagpatch_after after = {&last, 1};

		err = dagpatch_add_kernel(recording, &kernel, i ? &after : NULL, &last);
	}
	return err;
}

static int bind_slots(struct subject *subject, uint32_t count)
{
	int err = 0;

	for (uint32_t slot = 0; !err && slot < count; slot++)
		err = dagpatch_bind(subject->recording, slot, memory[subject->side[slot]][slot],
				    node_count * sizeof(uint32_t));
	return err;
}

static int prepare_recording(struct subject *subject)
{
	uint32_t slots[SLOTS];
	struct dagpatch_slot slot = {
		.size = sizeof(slot), .bytes = node_count * sizeof(uint32_t), .alignment = 4};
	int err =
		dagpatch_recording_create(contexts[subject->way->strategy], 0, &subject->recording);

	for (int i = 0; !err && i < SLOTS; i++)
		err = dagpatch_slot_add(subject->recording, &slot, &slots[i]);
	if (!err)
		err = add_nodes(subject->recording, slots);
	if (!err)
		err = dagpatch_finalize(subject->recording);
	if (!err)
		err = bind_slots(subject, SLOTS);
	return err ? err : dagpatch_apply(subject->recording);
}

static int change_bind(struct subject *subject, uint32_t moved)
{
	int err = bind_slots(subject, moved ? moved : SLOTS);

	return err ? err : dagpatch_apply(subject->recording);
}

static int launch_recording(struct subject *subject)
{
	return dagpatch_launch(subject->recording, stream);
}

#define DAGPATCH_WAY(its_name, its_strategy)                                                       \
	{                                                                                          \
		.name = its_name, .strategy = its_strategy, .prepare = prepare_recording,          \
		.change = change_bind, .launch = launch_recording,                                 \
	}
#define DRIVER_WAY(its_name, its_change)                                                           \
	{                                                                                          \
		.name = its_name, .prepare = prepare_exec, .change = its_change,                   \
		.launch = launch_exec,                                                             \
	}

#define PLAIN_WAY(its_name)                                                                        \
	{                                                                                          \
		.name = its_name, .prepare = prepare_exec, .change = change_nothing,               \
		.launch = launch_exec, .replays_only = true,                                       \
	}

static const struct way ways[] = {
	PLAIN_WAY("plain"),
	DRIVER_WAY("capture_instantiate", change_instantiate),
	DRIVER_WAY("capture_update", change_update),
	DRIVER_WAY("set_all", change_set_all),
	DRIVER_WAY("set_changed", change_set_moved),
	DAGPATCH_WAY("dagpatch_set_params", DAGPATCH_SET_PARAMS),
	DAGPATCH_WAY("dagpatch_table", DAGPATCH_DEVICE_TABLE),
	DAGPATCH_WAY("dagpatch_update_graph", DAGPATCH_UPDATE_GRAPH),
	DAGPATCH_WAY("dagpatch_instantiate", DAGPATCH_INSTANTIATE),
	DAGPATCH_WAY("dagpatch_auto", DAGPATCH_AUTO),
	PLAIN_WAY("plain_again"), /* repeated to see whether the machine has changed */
};

#define WAY_COUNT (sizeof(ways) / sizeof(*ways))
_Static_assert(WAY_COUNT <= WAYS_MOST, "rows are counted so");

static bool is_auto(const struct way *way)
{
	return way->prepare == prepare_recording && way->strategy == DAGPATCH_AUTO;
}

static bool is_possible(const struct way *way)
{
	uint32_t capabilities = dagpatch_context_capabilities(contexts[DAGPATCH_AUTO]);

	return way->strategy != DAGPATCH_DEVICE_TABLE || capabilities & DAGPATCH_HAS_TABLE;
}

/* ---- measuring ---- */

static void drop_old(struct subject *subject)
{
	if (subject->old_exec)
		bed->exec_destroy(subject->old_exec);
	if (subject->old_graph)
		bed->graph_destroy(subject->old_graph);
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
	bed->stream_synchronize(stream);
	done = clock_now_ns();
	drop_old(subject);
	if (err)
		return err;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		launched[subject->side[slot]][slot]++;
	subject->samples[HOST][repeat] = (double)(changed - begin) / NS_PER_US;
	subject->samples[LAUNCH][repeat] = (double)(submitted - changed) / NS_PER_US;
	subject->samples[RESULT][repeat] = (double)(done - begin) / NS_PER_US;
	return 0;
}

static void add_row(struct subject *subject, uint32_t percent)
{
	struct row *row = &rows[row_count++];

	*row = (struct row){.nodes = node_count, .percent = percent, .way = subject->way->name};
	for (int i = 0; i < MEASURES; i++)
		row->us[i] = bench_median(subject->samples[i], repeats);
}

/* The first run of each subject is a warm-up. With a table, DAGPATCH_AUTO changes its strategy
 * after the present one has cost enough time, so it is measured after many such changes. */
static int warm_up_way(struct subject *subject, uint32_t moved)
{
	uint32_t capabilities = dagpatch_context_capabilities(contexts[DAGPATCH_AUTO]);
	uint32_t count =
		is_auto(subject->way) && capabilities & DAGPATCH_HAS_TABLE ? SETTLING_LAUNCHES : 1;
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
		.nodes = node_count,
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

	for (size_t i = 0; i < WAY_COUNT; i++)
		if (ways[i].change == change_set_moved)
			bare = &subjects[i];
	for (size_t i = 0; !err && bare && moved && i < WAY_COUNT; i++)
		if (ways[i].strategy == DAGPATCH_SET_PARAMS || is_auto(&ways[i]))
			err = measure_ratio(bare, &subjects[i], moved);
	return err;
}

static int measure_step(struct subject *subjects, uint32_t moved)
{
	int err = 0;

	for (size_t i = 0; !err && i < WAY_COUNT; i++) {
		if (is_possible(&ways[i]) && (!moved || !ways[i].replays_only))
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
	uint32_t *counts = malloc(node_count * sizeof(*counts));
	int err = counts ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < SIDES * SLOTS; i++) {
		uint32_t slot = i / SIDES, side = i % SIDES;

		bed->read(counts, memory[side][slot], node_count * sizeof(*counts));
		for (uint32_t node = slot_first[slot]; node < slot_first[slot + 1]; node++) {
			if (counts[node] != launched[side][slot] * MARK_VALUE)
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

	node_count = nodes;
	memcpy(slot_first, (uint32_t[]){0, one, ten, nodes}, sizeof(slot_first));
	memset(launched, 0, sizeof(launched));
	for (int i = 0; i < SIDES * SLOTS; i++) {
		memory[i / SLOTS][i % SLOTS] = bed->alloc(nodes * sizeof(uint32_t));
		if (!memory[i / SLOTS][i % SLOTS])
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
	struct subject *subjects = calloc(WAY_COUNT, sizeof(*subjects));
	int err = subjects ? make_size(nodes) : -ENOMEM;

	for (size_t i = 0; !err && i < WAY_COUNT; i++) {
		subjects[i].way = &ways[i];
		if (is_possible(&ways[i]))
			err = ways[i].prepare(&subjects[i]);
	}
	if (!err)
		err = warm_up(&subjects[0]);
	for (uint32_t moved = 0; !err && moved < STEPS; moved++)
		err = measure_step(subjects, moved);
	if (!err)
		err = check_counts();
	for (size_t i = 0; subjects && i < WAY_COUNT; i++)
		release_subject(&subjects[i]);
	free(subjects);
	for (int i = 0; i < SIDES * SLOTS; i++) {
		bed->free(memory[i / SLOTS][i % SLOTS]);
		memory[i / SLOTS][i % SLOTS] = NULL;
	}
	return err;
}

/* ---- binding without a change ---- */

static int add_idle_node(struct dagpatch_recording *recording)
{
	struct dagpatch_slot slot = {
		.size = sizeof(slot), .bytes = sizeof(uint32_t), .alignment = 4};
	uint32_t value = MARK_VALUE;
	struct dagpatch_pointer at = {.slot = 0};
	struct dagpatch_argument arguments[] = {dagpatch_address(&at),
						dagpatch_value(&value, sizeof(value))};
	struct dagpatch_kernel kernel = {
		.size = sizeof(kernel),
		.function = bed->function(BED_MARK),
		.grid = {1, 1, 1},
		.block = {MARK_BLOCK, 1, 1},
		.argument_count = 2,
		.arguments = arguments,
	};
	int err = dagpatch_slot_add(recording, &slot, &at.slot);

	return err ? err : dagpatch_add_kernel(recording, &kernel, NULL, NULL);
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
	void *word = bed->alloc(sizeof(uint32_t));
	double ns = 0;
	int err = dagpatch_recording_create(contexts[DAGPATCH_SET_PARAMS], 0, &recording);

	for (int i = 0; !err && i < IDLE_SLOTS; i++) {
		addresses[i] = word;
		err = add_idle_node(recording);
	}
	if (!err)
		err = dagpatch_finalize(recording);
	if (!err)
		err = time_idle(recording, addresses, &ns);
	dagpatch_recording_destroy(recording);
	bed->free(word);
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
		int err = dagpatch_context_create(&options, &contexts[used[i]], &error);

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

	patch_floor = patch_floor_find(driver);
	if (!patch_floor)
		return -EINVAL;
	bed = patch_floor->bed;
	row_count = 0;
	ratio_count = 0;
	if (bed->open()) {
		fprintf(stderr, "dagtap-bench: patch: %s: no GPU here\n", driver);
		return -ENODEV;
	}
	stream = bed->stream_create();
	err = open_contexts();
	if (!err && patch_floor->open)
		err = patch_floor->open(contexts[DAGPATCH_SET_PARAMS]);
	for (uint32_t i = 0; !err && i < size_count; i++)
		err = measure_size(sizes[i]);
	if (!err)
		err = measure_idle(ret_result);
	add_lines(ret_result);
	add_ratios(ret_result);
	if (patch_floor->close)
		patch_floor->close();
	for (int i = 0; i < DAGPATCH_STRATEGY_COUNT; i++) {
		dagpatch_context_destroy(contexts[i]);
		contexts[i] = NULL;
	}
	bed->stream_destroy(stream);
	bed->close();
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
