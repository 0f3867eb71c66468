/*
 * decode [STEPS [LAYERS]]: the decode loop of an inference engine, with dagpatch over HIP. Each
 * sequence has a page of keys for each layer. The step is captured once, and each replay works on
 * another sequence, whose pages are elsewhere. Now and then a sequence's pages move, as a
 * defragmenting allocator would move them, and their old memory is reused.
 *
 * Without dagpatch the graph holds the pages' addresses: the engine has to copy the pages to and
 * from static buffers, capture again, or keep a graph for each sequence. Here the pages are the
 * slots of one graph.
 *
 * The arithmetic is on integers, and the host computes the same: every page and the result are
 * compared after each step. Exits with 0 when all are equal. hiprtc compiles the kernels' source;
 * hipcc is not needed.
 */
#include <dagpatch/dagpatch.h>
#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

#define EXPORT __attribute__((visibility("default")))

enum { WIDTH = 64, POSITIONS = 32, PAGE_WORDS = WIDTH * POSITIONS, PAGE_BYTES = PAGE_WORDS * 4 };
enum { SEQUENCES = 3, MAX_LAYERS = 64 };
enum { APPEND, ATTEND, KERNELS };

/*
 * Kernels read the position and the token from memory, so what changes at each step is no kernel
 * parameter.
 */
static const char source[] =
	"extern \"C\" __global__ void append(unsigned *page, const unsigned *hidden,\n"
	"				    const unsigned *position, unsigned width)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < width)\n"
	"		page[*position * width + i] = hidden[i] * 2654435761u;\n"
	"}\n"
	"extern \"C\" __global__ void attend(unsigned *hidden, const unsigned *page,\n"
	"				    const unsigned *position, unsigned width)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;\n"
	"	for (unsigned t = 0; i < width && t <= *position; t++)\n"
	"		sum = sum * 31 + page[t * width + i];\n"
	"	if (i < width)\n"
	"		hidden[i] = hidden[i] * 3 + sum;\n"
	"}\n";

static const struct example_kernel kernels[KERNELS] = {
	[APPEND] = {"append"}, [ATTEND] = {"attend"}};

/* ---- the same arithmetic for the host and the software GPU ---- */

static void host_append(uint32_t *page, const uint32_t *hidden, uint32_t position)
{
	for (uint32_t i = 0; i < WIDTH; i++)
		page[position * WIDTH + i] = hidden[i] * 2654435761u;
}

static void host_attend(uint32_t *hidden, const uint32_t *page, uint32_t position)
{
	for (uint32_t i = 0; i < WIDTH; i++) {
		uint32_t sum = 0;

		for (uint32_t t = 0; t <= position; t++)
			sum = sum * 31 + page[t * WIDTH + i];
		hidden[i] = hidden[i] * 3 + sum;
	}
}

struct kernel_arguments {
	uint32_t *to;
	const uint32_t *from;
	const uint32_t *position;
	uint32_t width;
};

EXPORT void softgpu_kernel_append(const void *, const hsa_kernel_dispatch_packet_t *);
void softgpu_kernel_append(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct kernel_arguments *at = kernarg;

	host_append(at->to, at->from, *at->position);
}

EXPORT void softgpu_kernel_attend(const void *, const hsa_kernel_dispatch_packet_t *);
void softgpu_kernel_attend(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct kernel_arguments *at = kernarg;

	host_attend(at->to, at->from, *at->position);
}

/* ---- sequences ---- */

struct sequence {
	uint32_t *pages[MAX_LAYERS];	/* device memory, one page a layer */
	uint32_t *expected[MAX_LAYERS]; /* host memory: the page's expected content */
	uint32_t position;		/* of the next token */
};

struct engine {
	uint32_t layers;
	uint32_t *hidden, *position; /* device memory at fixed addresses */
	hipStream_t stream;
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	struct sequence sequences[SEQUENCES];
};

static uint32_t random_below(uint32_t limit)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % limit;
}

static uint32_t *new_page(const uint32_t *contents)
{
	void *page;

	HIP_CHECK(hipMalloc(&page, PAGE_BYTES));
	HIP_CHECK(hipMemcpy(page, contents, PAGE_BYTES, hipMemcpyHostToDevice));
	return page;
}

/*
 * Moves the pages and overwrites their old memory, so that a replay that still uses it gives a
 * wrong result.
 */
static void move_pages(const struct engine *engine, struct sequence *sequence)
{
	for (uint32_t i = 0; i < engine->layers; i++) {
		uint32_t *page = new_page(sequence->expected[i]);

		HIP_CHECK(hipMemset(sequence->pages[i], 0xee, PAGE_BYTES));
		HIP_CHECK(hipFree(sequence->pages[i]));
		sequence->pages[i] = page;
	}
}

static void start_sequence(const struct engine *engine, struct sequence *sequence)
{
	sequence->position = 0;
	for (uint32_t i = 0; i < engine->layers; i++) {
		sequence->expected[i] = calloc(PAGE_WORDS, sizeof(uint32_t));
		if (!sequence->expected[i])
			example_fail("no memory");
		sequence->pages[i] = new_page(sequence->expected[i]);
	}
}

static void end_sequence(const struct engine *engine, struct sequence *sequence)
{
	for (uint32_t i = 0; i < engine->layers; i++) {
		HIP_CHECK(hipFree(sequence->pages[i]));
		free(sequence->expected[i]);
	}
}

/* ---- capturing the step ---- */

static void check(const struct engine *engine, int rc)
{
	if (rc < 0)
		example_fail("dagpatch: %d: %s", rc,
			     dagpatch_recording_error(engine->recording)->message);
}

/* A dagpatch_capture_fn: submits the step for these pages to STREAM, as the model's code does. */
static int submit_step(void *user, void *stream, void *const *pages)
{
	struct engine *engine = user;
	uint32_t width = WIDTH;

	for (uint32_t i = 0; i < engine->layers; i++) {
		void *page = pages[i];
		void *append[] = {&page, &engine->hidden, &engine->position, &width};
		void *attend[] = {&engine->hidden, &page, &engine->position, &width};

		example_capture(&kernels[APPEND], 1, WIDTH, append, stream);
		example_capture(&kernels[ATTEND], 1, WIDTH, attend, stream);
	}
	return 0;
}

static void record_step(struct engine *engine)
{
	struct dagpatch_options options = {.size = sizeof(options), .driver = "hip"};
	struct dagpatch_error error;
	uint32_t slots[MAX_LAYERS];

	if (dagpatch_context_create(&options, &engine->context, &error) < 0)
		example_fail("dagpatch: %s", error.message);
	check(engine, dagpatch_recording_create(engine->context, 0, &engine->recording));
	for (uint32_t i = 0; i < engine->layers; i++)
		check(engine,
		      dagpatch_slot_add(engine->recording,
					&DAGPATCH_SIZED(slot, .name = "page", .bytes = PAGE_BYTES),
					&slots[i]));
	check(engine,
	      dagpatch_add_captured(engine->recording,
				    &DAGPATCH_SIZED(capture, .record = submit_step, .user = engine,
						    .slots = slots, .slot_count = engine->layers),
				    NULL, NULL));
	check(engine, dagpatch_finalize(engine->recording));
}

/* ---- decoding ---- */

static void decode(struct engine *engine, struct sequence *sequence, uint32_t token)
{
	uint32_t hidden[WIDTH];

	for (uint32_t i = 0; i < WIDTH; i++)
		hidden[i] = token * 2246822519u + i;
	HIP_CHECK(hipMemcpy(engine->hidden, hidden, sizeof(hidden), hipMemcpyHostToDevice));
	HIP_CHECK(hipMemcpy(engine->position, &sequence->position, 4, hipMemcpyHostToDevice));
	check(engine, dagpatch_bind_all(engine->recording, (const void *const *)sequence->pages,
					engine->layers));
	check(engine, dagpatch_launch(engine->recording, engine->stream));
	example_count_kernels(2 * engine->layers);

	for (uint32_t i = 0; i < engine->layers; i++) {
		host_append(sequence->expected[i], hidden, sequence->position);
		host_attend(hidden, sequence->expected[i], sequence->position);
	}
	sequence->position = (sequence->position + 1) % POSITIONS;

	HIP_CHECK(hipStreamSynchronize(engine->stream));
	uint32_t got[PAGE_WORDS];
	HIP_CHECK(hipMemcpy(got, engine->hidden, sizeof(hidden), hipMemcpyDeviceToHost));
	example_expect(got, hidden, WIDTH, "the result");
}

/* Compares the pages of all sequences: a wrong replay may have written to any of them. */
static void expect_pages(const struct engine *engine)
{
	uint32_t got[PAGE_WORDS];

	for (uint32_t s = 0; s < SEQUENCES; s++)
		for (uint32_t i = 0; i < engine->layers; i++) {
			HIP_CHECK(hipMemcpy(got, engine->sequences[s].pages[i], PAGE_BYTES,
					    hipMemcpyDeviceToHost));
			example_expect(got, engine->sequences[s].expected[i], PAGE_WORDS, "a page");
		}
}

static void print_counts(const struct engine *engine, uint32_t steps)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	check(engine, dagpatch_recording_stats(engine->recording, &stats));
	printf("%u steps of %u layers are right: %llu addresses in %llu nodes, captured %llu "
	       "times\n",
	       steps, engine->layers, (unsigned long long)stats.relocation_count,
	       (unsigned long long)stats.node_count, (unsigned long long)stats.captures);
}

int main(int argc, char **argv)
{
	uint32_t steps = example_argument(argc, argv, 1, 100), i;
	struct engine engine = {.layers = example_argument(argc, argv, 2, 4)};

	if (engine.layers > MAX_LAYERS)
		example_fail("at most %d layers", MAX_LAYERS);
	example_register(source, kernels, KERNELS);
	HIP_CHECK(hipStreamCreate(&engine.stream));
	HIP_CHECK(hipMalloc((void **)&engine.hidden, WIDTH * 4));
	HIP_CHECK(hipMalloc((void **)&engine.position, 4));
	record_step(&engine);
	for (i = 0; i < SEQUENCES; i++)
		start_sequence(&engine, &engine.sequences[i]);
	for (i = 0; i < steps; i++) {
		struct sequence *sequence = &engine.sequences[random_below(SEQUENCES)];

		if (random_below(4) == 0)
			move_pages(&engine, sequence);
		decode(&engine, sequence, random_below(1000));
		expect_pages(&engine);
	}
	print_counts(&engine, steps);
	for (i = 0; i < SEQUENCES; i++)
		end_sequence(&engine, &engine.sequences[i]);
	dagpatch_recording_destroy(engine.recording);
	dagpatch_context_destroy(engine.context);
	HIP_CHECK(hipFree(engine.position));
	HIP_CHECK(hipFree(engine.hidden));
	HIP_CHECK(hipStreamDestroy(engine.stream));
	return example_finish();
}
