/* The Kineto writer: the JSON of PyTorch's profiler, which HTA, TraceLens, TensorBoard and
 * Perfetto read (docs/format/kineto.md). This file chooses the time base and calls the parts in
 * order. */
#include <errno.h>
#include <string.h>

#include "format/format.h"
#include "format/kineto/kineto_writer.h"
#include "wire/json.h"

/* Kineto counts times from the last quarter of a year, so that they stay small. From the 51st day
 * of a quarter on, they are beyond 2^42 us, where a double no longer holds every ns: readers that
 * convert through a double come out 1 ns early now and then, and a slice that directly follows
 * another one overlaps it. So dagtap uses a twelfth of a year; every base of Kineto's is also one
 * of these. */
#define BASE_STEP_NS (UINT64_C(7889238) / 3 * 1000000000)
_Static_assert(BASE_STEP_NS / 1000 < UINT64_C(1) << 42, "beyond what a double holds to the ns");

/* Returns the time base in ns of the wall clock, and sets the host time that corresponds to it.
 * Returns 0 if the recording does not know the wall clock; times then count from host time 0. */
static uint64_t choose_base(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	const struct trace_process *first = trace->processes;
	uint64_t base;

	if (trace->processes_count == 0 || first->start_realtime_ns == 0)
		return 0;
	base = first->start_realtime_ns / BASE_STEP_NS * BASE_STEP_NS;
	kineto_out_count_from(&kineto->out, (int64_t)((uint64_t)first->start_ns -
						      (first->start_realtime_ns - base)));
	return base;
}

static void put_rows(struct kineto *kineto)
{
	kineto_name_processes(kineto);
	kineto_put_threads(kineto);
	kineto_put_devices(kineto);
	kineto_put_untimed(kineto);
	kineto_put_waits(kineto);
	kineto_put_annotations(kineto);
	kineto_put_window_end(kineto);
	kineto_fail(kineto, kineto->text.error);
	kineto_out_flush(&kineto->out);
}

static int put_file(struct kineto *kineto, uint32_t rank)
{
	struct json json;
	uint64_t base_ns = choose_base(kineto);
	int err;

	json_init(&json, kineto->out.file);
	json_object_begin(&json);
	kineto_put_head(kineto, base_ns, rank, &json);
	json_key(&json, "traceEvents");
	json_array_begin(&json);
	fputs("\n", kineto->out.file);
	if (!json.error)
		put_rows(kineto);
	json_array_end(&json);
	json_object_end(&json);
	err = json_finish(&json);
	return kineto->out.error ? kineto->out.error : err;
}

static int write_kineto(const struct trace *trace, FILE *out, const struct format_options *options,
			struct dagtap_error *error)
{
	struct kineto kineto = {
		.trace = trace,
		.correlations = KINETO_NEAR,
		.external_ids = KINETO_NEAR,
		.scope_ids = KINETO_NEAR,
	};
	int code;

	kineto.is_hta = options && options->compat && strcmp(options->compat, "hta") == 0;
	code = kineto_out_init(&kineto.out, out);
	if (!code)
		code = kineto_deal(&kineto);
	if (!code)
		code = kineto_find_waits(&kineto);
	if (!code)
		code = kineto_find_forward(&kineto);
	if (!code)
		code = put_file(&kineto, options ? options->rank : 0);
	kineto_undeal(&kineto);
	kineto_out_release(&kineto.out);
	pieces_release(&kineto.text);
	pieces_release(&kineto.row);
	return code < 0 ? dagtap_error_set(error, code, "kineto: %s", strerror(-code)) : 0;
}

static const struct format_table compats[] = {
	{"hta", "HolisticTraceAnalysis: CUDA's names, one launch for each kernel of a graph"},
	{0},
};

const struct format format_kineto = {
	.name = "kineto",
	.extension = ".pt.trace.json",
	.help = "PyTorch's traces, for HTA, TraceLens, TensorBoard (docs/format/kineto.md)",
	.compats = compats,
	.has_rank = true,
	.is_brief = true,
	.write = write_kineto,
};
