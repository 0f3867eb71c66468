/* The definitions of an OTF2 archive: strings, regions, attributes, machines and groups. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "format/otf2/otf2.h"
#include "format/words.h"

#define TICKS_PER_SECOND UINT64_C(1000000000)

uint32_t otf2_string(struct otf2 *otf2, const char *text)
{
	const char *clean = table_utf8(text, &otf2->clean);
	uint32_t known = otf2->strings.count, string;
	XXH128_hash_t hash;

	if (!clean) {
		otf2->err = -ENOMEM;
		return 0;
	}
	hash = XXH3_128bits(clean, strlen(clean));
	string = numbers_get(&otf2->strings, hash.high64, hash.low64);
	if (string == NUMBERS_NONE)
		otf2->err = -ENOMEM;
	else if (string == known)
		otf2_check(otf2,
			   OTF2_GlobalDefWriter_WriteString(otf2->definitions, string, clean));
	return string;
}

uint32_t otf2_word(struct otf2 *otf2, unsigned word, const char *text)
{
	if (otf2->words[word] == 0)
		otf2->words[word] = otf2_string(otf2, text) + 1;
	return otf2->words[word] - 1;
}

uint32_t otf2_path(struct otf2 *otf2, uint32_t scope)
{
	char path[WORDS_PATH_CHARS];

	if (otf2->paths[scope] == 0)
		otf2->paths[scope] = otf2_string(otf2, words_scope_path(otf2->trace, scope, path,
									sizeof(path))) +
				     1;
	return otf2->paths[scope] - 1;
}

/* The region whose number is kept in PLACE. */
static uint32_t find_region(struct otf2 *otf2, uint32_t *place, const char *text,
			    OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	uint32_t name;

	if (*place)
		return *place - 1;
	name = otf2_string(otf2, text);
	/* String 0 is empty. */
	otf2_check(otf2, OTF2_GlobalDefWriter_WriteRegion(otf2->definitions, otf2->regions_count,
							  name, name, 0, role, paradigm,
							  OTF2_REGION_FLAG_NONE, 0, 0, 0));
	*place = ++otf2->regions_count;
	return *place - 1;
}

uint32_t otf2_region(struct otf2 *otf2, enum otf2_region_kind kind, trace_string name,
		     OTF2_Paradigm paradigm)
{
	static const OTF2_RegionRole roles[OTF2_REGION_KINDS] = {
		[OTF2_KERNELS] = OTF2_REGION_ROLE_FUNCTION,
		[OTF2_CALLS] = OTF2_REGION_ROLE_FUNCTION,
		[OTF2_SCOPES] = OTF2_REGION_ROLE_CODE,
	};
	uint32_t *place = &otf2->regions[(size_t)kind * otf2->trace->strings_count + name];

	if (*place)
		return *place - 1;
	return find_region(otf2, place, trace_text(otf2->trace, name), roles[kind], paradigm);
}

uint32_t otf2_work_region(struct otf2 *otf2, const struct trace_activity *activity)
{
	const struct trace *trace = otf2->trace;
	const struct trace_work *work = trace_work_of(trace, activity);
	uint32_t *place = otf2->regions;

	if (work->kind == TRACE_KERNEL)
		place += (size_t)OTF2_KERNELS * trace->strings_count + work->name;
	else
		place += (size_t)OTF2_REGION_KINDS * trace->strings_count +
			 (work->kind == TRACE_COPY ? (unsigned)work->direction : TRACE_P2P + 1);
	if (*place)
		return *place - 1;
	return find_region(otf2, place, words_work(trace, work),
			   work->kind == TRACE_KERNEL ? OTF2_REGION_ROLE_FUNCTION
						      : OTF2_REGION_ROLE_DATA_TRANSFER,
			   words_counts_blocks(trace, activity) ? OTF2_PARADIGM_CUDA
								: OTF2_PARADIGM_HIP);
}

/* ---- the head ---- */

static void widen(struct rows_time *span, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns < span->begin_ns)
		span->begin_ns = begin_ns;
	if (end_ns > span->end_ns)
		span->end_ns = end_ns;
}

/* The time from the first event to the last. */
static struct rows_time find_span(const struct trace *trace)
{
	struct rows_time span = {INT64_MAX, INT64_MIN};

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->untimed != RECORD_UNTIMED_NO)
			widen(&span, row->submit_ns, row->submit_ns);
		else
			widen(&span, row->start_ns, row->end_ns);
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		widen(&span, trace->calls[i].begin_ns, trace->calls[i].end_ns);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!trace->scopes[i].untimed)
			widen(&span, trace->scopes[i].begin_ns, trace->scopes[i].end_ns);
	}
	return span.begin_ns > span.end_ns ? (struct rows_time){0, 0} : span;
}

/* Timestamps are unsigned. Those of a recording are not negative; those of another tool's file may
 * be, and then all are counted from the first. */
static void put_clock(struct otf2 *otf2)
{
	const struct trace *trace = otf2->trace;
	struct rows_time span = find_span(trace);
	uint64_t realtime = OTF2_UNDEFINED_TIMESTAMP;

	if (span.begin_ns < 0)
		otf2->base_ns = span.begin_ns;
	if (trace->processes_count && trace->processes[0].start_realtime_ns)
		realtime = trace->processes[0].start_realtime_ns + (uint64_t)span.begin_ns -
			   (uint64_t)trace->processes[0].start_ns;
	otf2_check(otf2, OTF2_GlobalDefWriter_WriteClockProperties(
				 otf2->definitions, TICKS_PER_SECOND,
				 otf2_time(otf2, span.begin_ns), timeline_span_ns(span), realtime));
}

static void put_attributes(struct otf2 *otf2)
{
	static const struct {
		const char *text;
		OTF2_Type type;
	} rows[] = {
#define X(name, text, type) {text, OTF2_TYPE_##type},
		OTF2_ATTRIBUTES(X)
#undef X
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		otf2_check(otf2, OTF2_GlobalDefWriter_WriteAttribute(
					 otf2->definitions, i, otf2_string(otf2, rows[i].text), 0,
					 rows[i].type));
}

static void put_paradigms(struct otf2 *otf2)
{
	OTF2_GlobalDefWriter *writer = otf2->definitions;

	otf2_check(otf2, OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_HIP,
							    otf2_string(otf2, "HIP"),
							    OTF2_PARADIGM_CLASS_ACCELERATOR));
	otf2_check(otf2, OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_CUDA,
							    otf2_string(otf2, "CUDA"),
							    OTF2_PARADIGM_CLASS_ACCELERATOR));
}

/* The first process on the machine of PROCESS. */
static uint32_t first_neighbour(const struct trace *trace, uint32_t process)
{
	uint32_t first = 0;

	while (trace->processes[first].host != trace->processes[process].host)
		first++;
	return first;
}

/* Writes the machine of PROCESS, unless an earlier process has it. NODES: by process. */
static void put_machine(struct otf2 *otf2, uint32_t process, uint32_t *nodes, uint32_t *count)
{
	const struct trace *trace = otf2->trace;
	uint32_t first = first_neighbour(trace, process);
	const char *host = trace_text(trace, trace->processes[process].host);

	nodes[process] = nodes[first];
	if (first != process)
		return;
	nodes[process] = (*count)++;
	otf2_check(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
				 otf2->definitions, nodes[process],
				 otf2_string(otf2, *host ? host : "(unknown machine)"),
				 otf2_string(otf2, "machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	otf2_check(otf2,
		   OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(otf2->definitions, nodes[process],
								  OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
}

static void put_property(struct otf2 *otf2, uint32_t group, const char *name, OTF2_Type type,
			 OTF2_AttributeValue value)
{
	otf2_check(otf2, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
				 otf2->definitions, group, otf2_string(otf2, name), type, value));
}

/* How the clock of a merged rank's process, which is GROUP, is known. */
static void put_rank_clock(struct otf2 *otf2, uint32_t process, uint32_t group)
{
	const struct trace *trace = otf2->trace;
	const struct trace_clock *clock;

	if (!trace->clocks_count)
		return;
	clock = &trace->clocks[trace->processes[process].clock];
	put_property(otf2, group, "DAGTAP::CLOCK_UNCERTAINTY_NS", OTF2_TYPE_UINT64,
		     (OTF2_AttributeValue){.uint64 = rank_clock_worst(&clock->fit)});
	put_property(
		otf2, group, "DAGTAP::CLOCK_SOURCE", OTF2_TYPE_STRING,
		(OTF2_AttributeValue){
			.stringRef = otf2_string(otf2, rank_clock_source_text(clock->fit.source))});
	put_property(otf2, group, "DAGTAP::RANK_FILE", OTF2_TYPE_STRING,
		     (OTF2_AttributeValue){
			     .stringRef = otf2_string(otf2, trace_text(trace, clock->name))});
}

static void put_processes(struct otf2 *otf2)
{
	const struct trace *trace = otf2->trace;
	uint32_t *nodes = calloc((size_t)trace->processes_count + 1, sizeof(*nodes));
	uint32_t count = 0;
	char name[512];

	if (!nodes)
		otf2->err = -ENOMEM;
	for (uint32_t i = 0; i < trace->processes_count && otf2_ok(otf2); i++)
		put_machine(otf2, i, nodes, &count);
	for (uint32_t i = 0; i < trace->processes_count && otf2_ok(otf2); i++) {
		const struct trace_process *row = &trace->processes[i];
		const char *exe = trace_text(trace, row->exe);
		const char *slash = strrchr(exe, '/');

		snprintf(name, sizeof(name), "%s%sprocess %" PRIu32, slash ? slash + 1 : exe,
			 *exe ? ", " : "", row->pid);
		otf2_check(otf2, OTF2_GlobalDefWriter_WriteLocationGroup(
					 otf2->definitions, otf2->groups_count++,
					 otf2_string(otf2, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
					 nodes[i], OTF2_UNDEFINED_LOCATION_GROUP));
		put_rank_clock(otf2, i, otf2->groups_count - 1);
	}
	free(nodes);
}

void otf2_put_head(struct otf2 *otf2)
{
	otf2_string(otf2, "");
	put_clock(otf2);
	put_paradigms(otf2);
	put_attributes(otf2);
	put_processes(otf2);
}

/* The machine of a process, counted as put_machine numbers them. */
static uint32_t node_of(const struct trace *trace, uint32_t process)
{
	uint32_t first = first_neighbour(trace, process), node = 0;

	for (uint32_t i = 0; i < first; i++)
		node += first_neighbour(trace, i) == i;
	return node;
}

uint32_t otf2_accelerator(struct otf2 *otf2, uint32_t process, uint32_t gpu)
{
	const struct trace *trace = otf2->trace;
	const struct gpus *gpus = &otf2->timeline.gpus;
	uint32_t *place = &otf2->groups[(size_t)process * (gpus->count + 1) + gpu];
	char name[160] = "no GPU";

	if (*place)
		return *place - 1;
	if (gpu < gpus->count)
		snprintf(name, sizeof(name), "GPU %" PRIu32 " (%s)", gpu,
			 trace_text(trace, trace->agents[gpus->agents[gpu]].name));
	otf2_check(otf2,
		   OTF2_GlobalDefWriter_WriteLocationGroup(
			   otf2->definitions, otf2->groups_count, otf2_string(otf2, name),
			   OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, node_of(trace, process), process));
	*place = ++otf2->groups_count;
	return *place - 1;
}

/* ---- locations ---- */

OTF2_EvtWriter *otf2_begin_location(struct otf2 *otf2)
{
	OTF2_EvtWriter *events =
		otf2_ok(otf2) ? OTF2_Archive_GetEvtWriter(otf2->archive, otf2->locations_count)
			      : NULL;

	if (!events && otf2_ok(otf2))
		otf2->err = -ENOMEM;
	return events;
}

void otf2_end_location(struct otf2 *otf2, OTF2_EvtWriter *events, const char *name,
		       OTF2_LocationType type, uint32_t group)
{
	uint64_t count = 0;

	otf2_check(otf2, OTF2_EvtWriter_GetNumberOfEvents(events, &count));
	otf2_check(otf2, OTF2_Archive_CloseEvtWriter(otf2->archive, events));
	otf2_check(otf2,
		   OTF2_GlobalDefWriter_WriteLocation(otf2->definitions, otf2->locations_count++,
						      otf2_string(otf2, name), type, count, group));
}
