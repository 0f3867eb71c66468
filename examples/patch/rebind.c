/*
 * rebind: the smallest use of dagpatch: a graph of two nodes whose input and output buffers change
 * between replays. It runs on dagpatch's model device; for a real GPU only the driver's name, the
 * kernel, the stream and the memory differ. Exits with 0 when every result is right. C99.
 */
#include <dagpatch/dagpatch.h>
#include <dagpatch/model.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 256
#define STEPS 10

struct arguments {
	uint32_t *out;
	const uint32_t *in;
	uint32_t factor;
	uint32_t count;
};

static void scale(const void *block, const uint32_t grid[3], const uint32_t threads[3])
{
	const struct arguments *a = block;
	uint32_t i;

	for (i = 0; i < a->count && i < grid[0] * threads[0]; i++)
		a->out[i] = a->in[i] * a->factor;
}

static void check(const struct dagpatch_recording *recording, int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "rebind: %d: %s\n", rc,
		recording ? dagpatch_recording_error(recording)->message : "");
	exit(EXIT_FAILURE);
}

static uint32_t add_slot(struct dagpatch_recording *recording, const char *name)
{
	const struct dagpatch_slot slot = {
		.size = sizeof(slot), .name = name, .bytes = WORDS * sizeof(uint32_t)};
	uint32_t number = 0;

	check(recording, dagpatch_slot_add(recording, &slot, &number));
	return number;
}

/* Records out = in * 3 for all words, then stores 7 into the first word. */
static void record(struct dagpatch_recording *recording, void *function, uint32_t in, uint32_t out)
{
	const uint32_t factor = 3, count = WORDS;
	const struct dagpatch_pointer to = {.slot = out, .access = DAGPATCH_WRITES};
	const struct dagpatch_pointer from = {.slot = in, .access = DAGPATCH_READS};
	const struct dagpatch_argument arguments[] = {
		dagpatch_address(&to),
		dagpatch_address(&from),
		dagpatch_value(&factor, sizeof(factor)),
		dagpatch_value(&count, sizeof(count)),
	};
	const struct dagpatch_kernel kernel = {
		.size = sizeof(kernel),
		.function = function,
		.grid = {WORDS / 64, 1, 1},
		.block = {64, 1, 1},
		.argument_count = 4,
		.arguments = arguments,
	};
	const struct dagpatch_memset seven = {
		.size = sizeof(seven), .slot = out, .value = 7, .element_bytes = 4, .width = 1};

	check(recording, dagpatch_add_kernel(recording, &kernel, NULL, NULL));
	check(recording, dagpatch_add_memset(recording, &seven, NULL, NULL));
	check(recording, dagpatch_finalize(recording));
}

static struct dagpatch_model_kernel *make_kernel(void)
{
	static const struct dagpatch_parameter parameters[4] = {
		{0, 8, DAGPATCH_PARAMETER_POINTER},
		{8, 8, DAGPATCH_PARAMETER_POINTER},
		{16, 4, DAGPATCH_PARAMETER_VALUE},
		{20, 4, DAGPATCH_PARAMETER_VALUE},
	};
	struct dagpatch_model_kernel *kernel = NULL;

	check(NULL, dagpatch_model_kernel_create(scale, parameters, 4, &kernel));
	return kernel;
}

/* Each step has new buffers, as an allocator would hand them out. */
static int step(struct dagpatch_recording *recording, struct dagpatch_model_stream *stream,
		uint32_t number)
{
	const uint64_t bytes = WORDS * sizeof(uint32_t);
	uint32_t *in = dagpatch_model_alloc(bytes);
	uint32_t *out = dagpatch_model_alloc(bytes);
	int is_right;
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		in[i] = number + i;
	check(recording, dagpatch_bind(recording, 0, in, bytes));
	check(recording, dagpatch_bind(recording, 1, out, bytes));
	check(recording, dagpatch_launch(recording, stream));
	check(recording, dagpatch_model_stream_synchronize(stream));
	is_right = out[0] == 7;
	for (i = 1; i < WORDS; i++)
		is_right &= out[i] == 3 * (number + i);
	dagpatch_model_free(in);
	dagpatch_model_free(out);
	return is_right;
}

int main(void)
{
	const struct dagpatch_options options = {.size = sizeof(options), .driver = "model"};
	struct dagpatch_context *context = NULL;
	struct dagpatch_recording *recording = NULL;
	struct dagpatch_model_stream *stream = NULL;
	struct dagpatch_model_kernel *kernel = make_kernel();
	struct dagpatch_error error;
	uint32_t in, out, i, right = 0;

	if (dagpatch_context_create(&options, &context, &error) < 0) {
		fprintf(stderr, "rebind: %s\n", error.message);
		return EXIT_FAILURE;
	}
	check(NULL, dagpatch_recording_create(context, DAGPATCH_DERIVE_DEPENDENCIES, &recording));
	check(NULL, dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &stream));
	in = add_slot(recording, "in");
	out = add_slot(recording, "out");
	record(recording, kernel, in, out);
	for (i = 0; i < STEPS; i++)
		right += (uint32_t)step(recording, stream, i);
	printf("%u of %u steps are right\n", right, (unsigned)STEPS);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_stream_destroy(stream);
	dagpatch_model_kernel_destroy(kernel);
	return right == STEPS ? EXIT_SUCCESS : EXIT_FAILURE;
}
