/* Begin and end of an import, and the rows of the host that the file names by ids (see
 * import.h). */
#include "format/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/load.h"
#include "trace/row_table.h"

int import_begin(struct import *import)
{
	int err;

	*import = (struct import){0};
	err = trace_create(&import->trace);
	if (err < 0)
		return err;
	import->strings = trace_strings(import->trace);
	return work_table_init(&import->works, import->trace);
}

static void release(struct import *import)
{
	struct numbers *numbers[] = {
		&import->processes, &import->threads,	 &import->agents, &import->streams,
		&import->apis,	    &import->graphs,	 &import->execs,  &import->nodes,
		&import->launches,  &import->set_hashes,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		numbers_release(numbers[i]);
	work_table_release(&import->works);
	free(import->activity_sets.rows);
	free(import->call_sets.rows);
}

int import_end(struct import *import, int err, const char *name, struct trace **ret_trace,
	       struct dagtap_error *error)
{
	struct trace *trace = import->trace;

	if (err == 0)
		err = trace_seal(trace);
	if (err == 0) {
		trace->activity_attributes = import->activity_sets.rows;
		trace->call_attributes = import->call_sets.rows;
		import->activity_sets.rows = import->call_sets.rows = NULL;
		*ret_trace = trace;
	} else {
		trace_close(trace);
	}
	release(import);
	if (err < 0 && err != -EBADMSG && err != -EFBIG)
		dagtap_error_set(error, err, "%s: out of memory", name);
	return err;
}

int64_t import_process(struct import *import, struct import_id id)
{
	struct trace_process *row;
	int64_t index = IMPORT_ROW(import, processes, id.is_text, id.value, &row);

	if (row) {
		row->pid = id.is_text ? 0 : (uint32_t)id.value;
		row->exe = id.is_text ? (trace_string)id.value : 0;
	}
	return index;
}

int64_t import_thread(struct import *import, uint32_t process, struct import_id id,
		      trace_string name)
{
	uint64_t space = (uint64_t)process << 1 | id.is_text;
	struct trace_thread *row;
	int64_t index = IMPORT_ROW(import, threads, space, id.value, &row);

	if (row) {
		row->process = process;
		row->tid = id.is_text ? 0 : (uint32_t)(id.value ^ id.value >> 32);
		row->name = id.is_text ? (trace_string)id.value : name;
	}
	return index;
}

int64_t import_agent(struct import *import, uint32_t process, uint32_t number)
{
	struct trace_agent *row;
	int64_t index = IMPORT_ROW(import, agents, process, number, &row);

	if (row) {
		row->process = process;
		row->index = TRACE_NONE;
	}
	return index;
}

int64_t import_stream(struct import *import, uint32_t process, uint32_t space, uint64_t number)
{
	struct trace_stream *row;
	int64_t index = IMPORT_ROW(import, streams, (uint64_t)process << 32 | space, number, &row);

	if (row) {
		row->process = process;
		row->ordinal = (uint32_t)number;
		row->agent = TRACE_NONE;
	}
	return index;
}

static enum record_domain domain_of(const char *name)
{
	if (!strncmp(name, "nccl", 4) || !strncmp(name, "mscclRun", 8))
		return RECORD_DOMAIN_RCCL;
	return strncmp(name, "hip", 3) ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP;
}

int64_t import_api(struct import *import, uint32_t process, trace_string name)
{
	struct trace_api *row;
	int64_t index = IMPORT_ROW(import, apis, process, name, &row);

	if (row) {
		row->process = process;
		row->function = (uint32_t)index + 1;
		row->name = name;
		row->domain = domain_of(import->strings->strings[name]);
	}
	return index;
}
