/* What the rows of a rocpd file refer to: machines, processes, threads, agents, queues, streams,
 * kernels (see rocpd.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "format/rocpd/rocpd.h"
#include "format/words.h"

#define NAME_CHARS 64

/* The id of row INDEX of a table of COUNT rows, or of the one for "none" of PROCESS. */
static uint32_t id_of(uint32_t index, uint32_t count, uint32_t process, bool *ret_none)
{
	if (index < count)
		return index + 1;
	*ret_none = true;
	return count + process + 1;
}

uint32_t rocpd_thread(struct rocpd *rocpd, uint32_t process, uint32_t thread)
{
	return id_of(thread, rocpd->trace->threads_count, process, &rocpd->nones[process].thread);
}

uint32_t rocpd_agent(struct rocpd *rocpd, uint32_t process, uint32_t agent)
{
	return id_of(agent, rocpd->trace->agents_count, process, &rocpd->nones[process].agent);
}

uint32_t rocpd_queue(struct rocpd *rocpd, uint32_t process, uint32_t queue)
{
	return id_of(queue, rocpd->trace->queues_count, process, &rocpd->nones[process].queue);
}

uint32_t rocpd_stream(struct rocpd *rocpd, uint32_t process, uint32_t stream)
{
	return id_of(stream, rocpd->trace->streams_count, process, &rocpd->nones[process].stream);
}

/* ---- machines and processes ---- */

/* Writes the machine of PROCESS. The name is all that is known of it. */
static void put_node(struct rocpd *rocpd, uint32_t process)
{
	const struct trace *trace = rocpd->trace;
	const char *name = trace_text(trace, trace->processes[process].host);
	struct rocpd_row row = rocpd_begin(rocpd, ROCPD_NODE, process);

	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, XXH3_64bits(name, strlen(name)) >> 1);
	rocpd_put_text(&row, *name ? name : "(unknown machine)");
	rocpd_put_text(&row, name);
	rocpd_end(&row);
}

void rocpd_put_processes(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *process = &trace->processes[i];
		struct rocpd_row row;

		put_node(rocpd, i);
		row = rocpd_begin(rocpd, ROCPD_PROCESS, i);
		rocpd_put(&row, i + 1);
		rocpd_put(&row, rocpd_node(i));
		rocpd_put(&row, process->parent_pid);
		rocpd_put(&row, process->pid);
		rocpd_put(&row, (uint64_t)process->start_ns);
		rocpd_put(&row, (uint64_t)process->end_ns);
		rocpd_put(&row, (uint64_t)process->start_ns);
		rocpd_put(&row, (uint64_t)process->end_ns);
		rocpd_put_text(&row, trace_text(trace, process->command));
		rocpd_put_text(&row, trace_text(trace, process->exe));
		rocpd_put(&row, process->session);
		rocpd_put(&row, process->start_realtime_ns);
		rocpd_end(&row);
	}
}

/* ---- clocks ---- */

/* TAG is that of a process. */
static void put_metadata(struct rocpd *rocpd, const char *tag, uint32_t process, const char *value)
{
	struct rocpd_row row = {rocpd, rocpd->inserts[ROCPD_METADATA], 0, SQLITE_OK};
	char text[64];

	snprintf(text, sizeof(text), "%s/%" PRIu32, tag, process + 1);
	rocpd_put_text(&row, text);
	rocpd_put_text(&row, value);
	rocpd_end(&row);
}

void rocpd_put_clocks(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;

	for (uint32_t i = 0; trace->clocks_count && i < trace->processes_count; i++) {
		const struct rank_clock *clock = &trace->clocks[trace->processes[i].clock].fit;
		char ns[24];

		snprintf(ns, sizeof(ns), "%" PRIu64, rank_clock_worst(clock));
		put_metadata(rocpd, "dagtap_clock_uncertainty_ns", i, ns);
		put_metadata(rocpd, "dagtap_clock_source", i,
			     rank_clock_source_text(clock->source));
	}
}

/* ---- kernels ---- */

/* The bits of a UUID's text, "GPU-0123456789abcdef"; 0 if it is another. */
static uint64_t uuid_bits(const char *text)
{
	uint64_t bits;
	int end = 0;

	return sscanf(text, "GPU-%16" SCNx64 "%n", &bits, &end) == 1 && text[end] == '\0' ? bits
											  : 0;
}

static void put_symbol(struct rocpd *rocpd, uint32_t id, uint32_t process,
		       const struct trace_work *work)
{
	const char *name = trace_text(rocpd->trace, work->name);
	const char *symbol = trace_text(rocpd->trace, work->symbol);
	struct rocpd_row row = rocpd_begin(rocpd, ROCPD_SYMBOL, process);

	name = *name ? name : ROCPD_UNKNOWN_KERNEL;
	rocpd_put(&row, id);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, process + 1);
	rocpd_put(&row, process + 1);
	rocpd_put_text(&row, *symbol ? symbol : name);
	rocpd_put_text(&row, name);
	rocpd_put(&row, work->scalar_registers);
	rocpd_put(&row, work->registers);
	rocpd_put(&row, id);
	rocpd_put_text(&row, name);
	rocpd_end(&row);
}

uint32_t rocpd_symbol(struct rocpd *rocpd, uint32_t process, uint32_t work)
{
	const struct trace_work *row = &rocpd->trace->works[work];
	const uint32_t words[] = {process, row->name, row->symbol, row->registers,
				  row->scalar_registers};
	uint32_t known = rocpd->symbols.count, number;
	XXH128_hash_t hash;

	/* Processes of one recording may share a work kind. */
	if (rocpd->kernels[work].id && rocpd->kernels[work].process == process)
		return rocpd->kernels[work].id;
	hash = XXH3_128bits(words, sizeof(words));
	number = numbers_get(&rocpd->symbols, hash.high64, hash.low64);
	if (number == NUMBERS_NONE) {
		rocpd->err = -ENOMEM;
		return 1;
	}
	rocpd->kernels[work] = (struct rocpd_id){process, number + 1};
	if (number == known)
		put_symbol(rocpd, number + 1, process, row);
	return number + 1;
}

/* ---- places ---- */

/* Writes a row of a table that has nothing but a name: a queue or a stream. */
static void put_named(struct rocpd *rocpd, enum rocpd_insert insert, uint32_t id, uint32_t process,
		      const char *name)
{
	struct rocpd_row row = rocpd_begin(rocpd, insert, process);

	rocpd_put(&row, id);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, process + 1);
	rocpd_put_text(&row, name);
	rocpd_end(&row);
}

static void put_thread(struct rocpd *rocpd, uint32_t id, uint32_t process, uint32_t tid,
		       const char *name)
{
	struct rocpd_row row = rocpd_begin(rocpd, ROCPD_THREAD, process);

	rocpd_put(&row, id);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, rocpd->trace->processes[process].parent_pid);
	rocpd_put(&row, process + 1);
	rocpd_put(&row, tid);
	rocpd_put_text(&row, name);
	rocpd_end(&row);
}

static void put_agent(struct rocpd *rocpd, uint32_t id, const struct trace_agent *agent,
		      const char *name)
{
	const struct trace *trace = rocpd->trace;
	const char *product = trace_text(trace, agent->product);
	struct rocpd_row row = rocpd_begin(rocpd, ROCPD_AGENT, agent->process);
	bool is_cuda = agent->index != TRACE_NONE && agent->index >= RECORD_CUDA_AGENT_FIRST;

	rocpd_put(&row, id);
	rocpd_put(&row, rocpd_node(agent->process));
	rocpd_put(&row, agent->process + 1);
	rocpd_put_constant(&row, agent->is_gpu ? "GPU" : "CPU");
	rocpd_put(&row, agent->index == TRACE_NONE ? id - 1 : agent->index);
	rocpd_put(&row, agent->index == TRACE_NONE ? id - 1 : agent->index);
	rocpd_put(&row, agent->is_gpu ? agent->gpu_ordinal : 0);
	rocpd_put(&row, uuid_bits(trace_text(trace, agent->uuid)));
	rocpd_put_text(&row, name);
	rocpd_put_text(&row, name);
	rocpd_put_constant(&row, !agent->is_gpu ? "" : is_cuda ? "NVIDIA" : "AMD");
	rocpd_put_text(&row, product);
	rocpd_put_text(&row, product);
	rocpd_put(&row, agent->compute_units);
	rocpd_put(&row, agent->wave_size);
	rocpd_put(&row, agent->clock_khz / 1000);
	rocpd_end(&row);
}

static void put_code_object(struct rocpd *rocpd, uint32_t process)
{
	const struct trace *trace = rocpd->trace;
	uint32_t agent = 0;
	struct rocpd_row row;

	while (agent < trace->agents_count &&
	       (trace->agents[agent].process != process || !trace->agents[agent].is_gpu))
		agent++;
	row = rocpd_begin(rocpd, ROCPD_CODE_OBJECT, process);
	rocpd_put(&row, process + 1);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, process + 1);
	rocpd_put(&row, rocpd_agent(rocpd, process, agent));
	rocpd_end(&row);
}

/* Writes those that stand for "none", of which there are the more the more processes lack one. */
static void put_nones(struct rocpd *rocpd, uint32_t process)
{
	const struct rocpd_nones *nones = &rocpd->nones[process];
	const struct trace_agent none = {.process = process, .index = TRACE_NONE};

	if (nones->thread)
		put_thread(rocpd, rocpd_thread(rocpd, process, TRACE_NONE), process, 0,
			   ROCPD_NO_THREAD);
	if (nones->agent)
		put_agent(rocpd, rocpd_agent(rocpd, process, TRACE_NONE), &none, ROCPD_NO_AGENT);
	if (nones->queue)
		put_named(rocpd, ROCPD_QUEUE, rocpd_queue(rocpd, process, TRACE_NONE), process,
			  ROCPD_NO_QUEUE);
	if (nones->stream)
		put_named(rocpd, ROCPD_STREAM, rocpd_stream(rocpd, process, TRACE_NONE), process,
			  ROCPD_NO_STREAM);
}

void rocpd_put_places(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;
	char name[NAME_CHARS];

	for (uint32_t i = 0; i < trace->threads_count; i++)
		put_thread(rocpd, i + 1, trace->threads[i].process, trace->threads[i].tid,
			   trace_text(trace, trace->threads[i].name));
	for (uint32_t i = 0; i < trace->agents_count; i++)
		put_agent(rocpd, i + 1, &trace->agents[i],
			  trace_text(trace, trace->agents[i].name));
	for (uint32_t i = 0; i < trace->queues_count; i++) {
		snprintf(name, sizeof(name), "Queue %" PRIu32, trace->queues[i].id);
		put_named(rocpd, ROCPD_QUEUE, i + 1, trace->queues[i].process, name);
	}
	for (uint32_t i = 0; i < trace->streams_count; i++) {
		snprintf(name, sizeof(name), "Stream %" PRIu32, trace->streams[i].ordinal);
		put_named(rocpd, ROCPD_STREAM, i + 1, trace->streams[i].process, name);
	}
	for (uint32_t i = 0; i < trace->processes_count; i++)
		put_code_object(rocpd, i);
	for (uint32_t i = 0; i < trace->processes_count; i++)
		put_nones(rocpd, i);
}
