/* Makes steps, and offers what may be one (step_options.h). */
#include "cli/step_options.h"

#include "cli/cli.h"
#include "cli/human.h"

int step_option_apply(const char *query, const char *path, struct trace *trace)
{
	bool is_graph = query && step_query_is_about_graphs(query);
	uint32_t count = 0;

	if (!query)
		return CLI_OK;
	if (step_query_apply(trace, query, &count) < 0)
		return cli_fail("%s: out of memory", path);
	if (count == 0)
		return cli_fail("%s: no %s \"%s\"; `dagtap %s %s` lists them", path,
				is_graph ? "replay of" : "scope", query,
				is_graph ? "graph" : "scopes", path);
	return CLI_OK;
}

/* What may be a step, if nothing is. Returns the number of CANDIDATES. */
static int find(const struct trace *trace, struct step_candidate *candidates)
{
	return step_exists(trace) ? 0 : step_candidates_find(trace, candidates);
}

void step_option_offer(const struct trace *trace, const char *before, FILE *out)
{
	struct step_candidate candidates[STEP_CANDIDATES];
	int count = find(trace, candidates);
	char text[HUMAN_CHARS];

	for (int i = 0; i < count; i++) {
		bool is_graph = step_query_is_about_graphs(candidates[i].query);

		fprintf(out, "%s%s%s%s (%s %s)", i == 0 ? before : ", ", is_graph ? "" : "'",
			candidates[i].query, is_graph ? "" : "'",
			human_count(candidates[i].count, text), is_graph ? "replays" : "scopes");
	}
	if (count > 0)
		fputc('\n', out);
}

void step_option_put_json(struct json *json, const struct trace *trace)
{
	struct step_candidate candidates[STEP_CANDIDATES];
	int count = find(trace, candidates);

	json_key(json, "step_candidates");
	json_array_begin(json);
	for (int i = 0; i < count; i++) {
		json_row_begin(json);
		json_put_text(json, "step_of", candidates[i].query);
		json_put_u64(json, "count", candidates[i].count);
		json_object_end(json);
	}
	json_array_end(json);
}
