/* Writes the names of processes, streams and threads and chooses the tids of their tracks. */
#include <inttypes.h>
#include <string.h>

#include "format/kineto/kineto_writer.h"

#define SORT_GPUS   5000000 /* Kineto's own; greater than all pids */
#define SORT_STREAM 1000
#define SORT_KIND   200

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Begins a metadata row in kineto->row. The caller adds the one argument, and end_row writes the
 * row. */
static void begin_row(struct kineto *kineto, const char *name, uint64_t pid, uint64_t tid)
{
	kineto_text_put(&kineto->row,
			"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
			",\"args\":{",
			name, pid, tid);
}

static void end_row(struct kineto *kineto)
{
	kineto_text_put(&kineto->row, "}},\n");
	kineto_put_row(&kineto->out, &kineto->row);
}

static void put_text(struct kineto *kineto, const char *name, const char *key, uint64_t pid,
		     const char *text)
{
	begin_row(kineto, name, pid, 0);
	kineto_text_put(&kineto->row, "\"%s\":", key);
	kineto_text_quote(&kineto->row, text);
	end_row(kineto);
}

static void put_sort_index(struct kineto *kineto, const char *name, uint64_t pid, uint64_t tid,
			   uint64_t index)
{
	begin_row(kineto, name, pid, tid);
	kineto_text_put(&kineto->row, "\"sort_index\":%" PRIu64, index);
	end_row(kineto);
}

static void put_tid_name(struct kineto *kineto, uint64_t pid, uint64_t tid, const char *text)
{
	begin_row(kineto, "thread_name", pid, tid);
	kineto_text_put(&kineto->row, "\"name\":");
	kineto_text_quote(&kineto->row, text);
	end_row(kineto);
}

void kineto_name_processes(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	const char *program = "";
	char label[32];

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		uint64_t pid = kineto_pid(kineto, i);
		const char *name = base_name(trace_text(trace, trace->processes[i].exe));

		program = i == 0 ? name : program;
		put_text(kineto, "process_name", "name", pid, name);
		put_text(kineto, "process_labels", "labels", pid, "CPU");
		put_sort_index(kineto, "process_sort_index", pid, 0, pid);
	}
	for (uint32_t gpu = 0; gpu < kineto->gpu_total; gpu++) {
		snprintf(label, sizeof(label), "GPU %" PRIu32, gpu);
		put_text(kineto, "process_name", "name", gpu, program);
		put_text(kineto, "process_labels", "labels", gpu,
			 gpu == kineto->timeline.gpus.host ? "no GPU" : label);
		put_sort_index(kineto, "process_sort_index", gpu, 0, (uint64_t)SORT_GPUS + gpu);
	}
}

/* ---- streams ---- */

static const char *kind_text(enum kineto_track kind)
{
	static const char *const texts[KINETO_TRACK_COUNT] = {
		[KINETO_TRACK_WORK] = "",
		[KINETO_TRACK_SYNC] = " (sync)",
		[KINETO_TRACK_SCOPES] = " (annotations)",
		[KINETO_TRACK_UNTIMED] = " (untimed, at submission)",
	};

	return texts[kind];
}

static size_t name_slot(const struct kineto *kineto, uint32_t gpu, uint32_t slot, char *name,
			size_t size)
{
	const struct trace *trace = kineto->trace;
	const char *text = "";

	if (slot == TRACE_NONE)
		return (size_t)snprintf(name, size, "device %" PRIu32, gpu);
	if (slot >= trace->streams_count)
		text = " (unknown)";
	else if (trace->streams[slot].kind == TRACE_STREAM_NULL)
		text = " (null stream)";
	return (size_t)snprintf(name, size, "stream %" PRIu32 "%s", kineto->slot_numbers[slot],
				text);
}

uint64_t kineto_name_stream(struct kineto *kineto, uint32_t gpu, uint32_t slot,
			    enum kineto_track kind, unsigned track)
{
	const struct trace *trace = kineto->trace;
	uint64_t number = slot == TRACE_NONE ? 0 : kineto->slot_numbers[slot];
	uint64_t tid = number + kind * kineto->track_step;
	uint64_t below = track < SORT_KIND ? track : SORT_KIND - 1;
	size_t used;
	char name[160];

	if (track > 1)
		tid = kineto->next_track++;
	used = name_slot(kineto, gpu, slot, name, sizeof(name));
	if (trace->processes_count > 1 && slot != TRACE_NONE)
		used += (size_t)snprintf(
			name + used, sizeof(name) - used, " pid %" PRIu32,
			trace->processes[timeline_slot_process(&kineto->timeline, slot)].pid);
	used += (size_t)snprintf(name + used, sizeof(name) - used, "%s", kind_text(kind));
	if (track > 1)
		snprintf(name + used, sizeof(name) - used, " (lane %u)", track);
	put_tid_name(kineto, gpu, tid, name);
	put_sort_index(kineto, "thread_sort_index", gpu, tid,
		       number * SORT_STREAM + (uint64_t)kind * SORT_KIND + below);
	return tid;
}

/* ---- threads ---- */

uint64_t kineto_name_thread(struct kineto *kineto, uint32_t list, bool ranges, unsigned track)
{
	const struct trace *trace = kineto->trace;
	uint32_t process = timeline_thread_process(&kineto->timeline, list);
	const char *thread_name = "";
	uint64_t tid, number;
	char name[160];
	size_t used;

	if (list < trace->threads_count) {
		number = trace->threads[list].tid;
		thread_name = trace_text(trace, trace->threads[list].name);
	} else {
		number = (uint64_t)KINETO_PID_FIRST + process;
		thread_name = "unknown";
	}
	tid = track > 1 || ranges ? kineto->next_thread++ : number;
	used = (size_t)snprintf(name, sizeof(name), "thread %" PRIu64 " (%.64s)%s", number,
				thread_name, ranges ? " ranges" : "");
	if (track > 1)
		snprintf(name + used, sizeof(name) - used, " (lane %u)", track);
	put_tid_name(kineto, kineto_pid(kineto, process), tid, name);
	return tid;
}
