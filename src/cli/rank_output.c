/* Clocks of ranks as JSON and text (rank_output.h). */
#include "cli/rank_output.h"

#include <stdio.h>

#include "cli/human.h"

static void put_uncertainties(struct json *json, const struct rank_clock *fit)
{
	uint32_t count = fit->joint_count ? fit->joint_count : RANK_CLOCK_KNOTS;

	json_key(json, "uncertainty");
	json_array_begin(json);
	for (uint32_t i = 0; i < count; i++) {
		int64_t ns =
			fit->joint_count ? fit->joints[i].host_ns : rank_clock_knot(fit, (int)i);

		json_object_begin(json);
		json_put_i64(json, "ns", rank_clock_map(fit, ns));
		json_put_u64(json, "uncertainty_ns", rank_clock_uncertainty(fit, ns));
		if (fit->joint_count)
			json_put_i64(json, "offset_ns", fit->joints[i].offset_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_clock(struct json *json, const struct trace *trace, uint32_t clock)
{
	const struct trace_clock *row = &trace->clocks[clock];
	const struct rank_clock *fit = &row->fit;

	json_row_begin(json);
	json_put_text(json, "file", trace_text(trace, row->name));
	json_key(json, "pids");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		if (trace->processes[i].clock == clock)
			json_u64(json, trace->processes[i].pid);
	}
	json_array_end(json);
	json_put_text(json, "source", rank_clock_source_text(fit->source));
	json_put_u64(json, "machine", row->machine);
	json_put_i64(json, "offset_ns", fit->offset_ns);
	json_put_i64(json, "base_ns", fit->base_ns);
	json_put_double(json, "drift_ppm", (double)fit->drift * 1e6 / RANK_CLOCK_PARTS);
	json_put_u64(json, "collectives", fit->matched);
	json_put_u64(json, "uneven_ns", rank_clock_is_assumed(fit) ? fit->uneven_ns : 0);
	json_put_u64(json, "pieces", fit->joint_count ? fit->joint_count - 1 : 1);
	json_put_u64(json, "worst_ns", rank_clock_worst(fit));
	put_uncertainties(json, fit);
	json_object_end(json);
}

void rank_output_put_json(struct json *json, const struct trace *trace)
{
	if (!trace->clocks_count)
		return;
	json_key(json, "clocks");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->clocks_count; i++)
		put_clock(json, trace, i);
	json_array_end(json);
}

void rank_output_print_head(const struct trace *trace)
{
	char count[HUMAN_CHARS], text[HUMAN_CHARS];
	uint64_t worst_ns = 0;

	if (!trace->clocks_count)
		return;
	for (uint32_t i = 0; i < trace->clocks_count; i++) {
		uint64_t ns = rank_clock_worst(&trace->clocks[i].fit);

		if (ns > worst_ns)
			worst_ns = ns;
	}
	printf("clocks    %s files of ranks on one clock; ",
	       human_count(trace->clocks_count, count));
	if (worst_ns >= INT64_MAX)
		puts("of some nothing is known (dagtap check)");
	else
		printf("times are right to %s beside the reference's\n",
		       human_ns((double)worst_ns, text));
}
