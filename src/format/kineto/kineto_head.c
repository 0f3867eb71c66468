/* The members around the rows: the GPUs, the recording, and the account of what is missing from
 * it. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "format/ledger_json.h"
#include "wire/json.h"

/* Parses the version in an architecture's name. "sm_90" is 9.0. "gfx90a" is 9.0.10: its last two
 * digits are the minor version and the stepping, each hexadecimal. */
static bool parse_version(const char *name, long *ret_major, long *ret_minor)
{
	size_t length = strlen(name);
	size_t begin = 3;
	size_t tail = strncmp(name, "sm_", 3) == 0 ? 1 : 2;
	char digit[2] = "";
	char major[16] = "";
	char *end;

	if ((tail == 2 && strncmp(name, "gfx", 3) != 0) || length <= begin + tail ||
	    length - begin - tail >= sizeof(major))
		return false;
	memcpy(major, name + begin, length - begin - tail);
	digit[0] = name[length - tail];
	*ret_major = strtol(major, &end, 10);
	if (*end != '\0')
		return false;
	*ret_minor = strtol(digit, &end, 16);
	return *end == '\0';
}

static void put_known(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_put_u64(json, key, value);
}

static void put_devices(const struct kineto *kineto, struct json *json)
{
	const struct trace *trace = kineto->trace;
	long major, minor;

	json_key(json, "deviceProperties");
	json_array_begin(json);
	for (uint32_t gpu = 0; gpu < kineto->timeline.gpus.count; gpu++) {
		const struct trace_agent *agent = &trace->agents[kineto->timeline.gpus.agents[gpu]];
		const char *name = trace_text(trace, agent->name);
		const char *product = trace_text(trace, agent->product);

		json_row_begin(json);
		json_put_u64(json, "id", gpu);
		json_put_text(json, "name", product[0] ? product : name);
		put_known(json, "totalGlobalMem", agent->memory_bytes);
		if (parse_version(name, &major, &minor)) {
			json_put_i64(json, "computeMajor", major);
			json_put_i64(json, "computeMinor", minor);
		}
		put_known(json, "warpSize", agent->wave_size);
		put_known(json, "numSms", agent->compute_units);
		json_put_text(json, "architecture", name);
		if (agent->uuid)
			json_put_text(json, "uuid", trace_text(trace, agent->uuid));
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_processes(const struct kineto *kineto, struct json *json)
{
	const struct trace *trace = kineto->trace;

	json_key(json, "processes");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *process = &trace->processes[i];

		json_row_begin(json);
		json_put_u64(json, "pid", process->pid);
		json_put_text(json, "command", trace_text(trace, process->command));
		json_put_text(json, "host", trace_text(trace, process->host));
		json_put_text(json, "state",
			      process->state == TRACE_TRUNCATED ? "truncated" : "complete");
		json_put_u64(json, "correlation_base", kineto->timeline.ids[i].base);
		json_object_end(json);
	}
	json_array_end(json);
}

/* Writes what no row can state: whether rows are missing, and which. */
static void put_account(const struct kineto *kineto, struct json *json)
{
	const struct trace *trace = kineto->trace;
	uint64_t untimed = 0, unexplained = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		untimed += !kineto_is_timed(&trace->activities[i]);
	for (uint32_t i = 0; i < trace->sources_count; i++)
		unexplained += trace->sources[i].unexplained;
	json_key(json, "dagtap");
	json_object_begin(json);
	json_put_text(json, "version", DAGTAP_VERSION);
	json_put_text(json, "command", trace_text(trace, trace->command));
	json_put_i64(json, "exit_status", trace->exit_status);
	json_put_u64(json, "activities", trace->activities_count);
	json_put_u64(json, "untimed", untimed);
	json_put_u64(json, "calls", trace->calls_count);
	json_put_u64(json, "unexplained", unexplained);
	put_processes(kineto, json);
	json_key(json, "sources");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		json_row_begin(json);
		ledger_json_source(json, trace, &trace->sources[i]);
		json_object_end(json);
	}
	json_array_end(json);
	ledger_json_messages(json, trace);
	json_object_end(json);
}

void kineto_put_head(const struct kineto *kineto, uint64_t base_ns, uint32_t rank,
		     struct json *json)
{
	json_put_u64(json, "schemaVersion", 1);
	put_devices(kineto, json);
	json_key(json, "distributedInfo");
	/* on one line: HTA searches the text for "rank", a colon, a space and digits */
	json_row_begin(json);
	json_put_u64(json, "rank", rank);
	json_object_end(json);
	json_put_text(json, "displayTimeUnit", "ms");
	json_put_u64(json, "baseTimeNanoseconds", base_ns);
	put_account(kineto, json);
}

/* Writes Kineto's last row, which no comma follows. */
void kineto_put_window_end(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	struct pieces *row = &kineto->row;
	int64_t end_ns = trace->processes_count ? trace->processes[0].end_ns : 0;
	uint64_t pid = trace->processes_count ? kineto_pid(kineto, 0) : 0;

	for (uint32_t i = 1; i < trace->processes_count; i++)
		if (trace->processes[i].end_ns > end_ns)
			end_ns = trace->processes[i].end_ns;
	kineto_text_put(row,
			"{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":%" PRIu64
			",\"tid\":%" PRIu64 ",\"ts\":",
			pid, pid);
	kineto_text_time(row, &kineto->out, end_ns);
	kineto_text_put(row, "}\n");
	kineto_put_row(&kineto->out, row);
}
