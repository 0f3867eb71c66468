/* Texts for the values of the model. */
#include "format/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of deeper scopes only the innermost 256 are shown. The limit also ends the loop if a damaged
 * file has a cycle of parents. */
#define SCOPE_DEPTH_MAX 256

#define PICK(names, value)                                                                         \
	((size_t)(value) < sizeof(names) / sizeof((names)[0]) ? (names)[value] : "")

const char *words_kind(enum trace_activity_kind kind)
{
	static const char *const names[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_COPY] = "copy", [TRACE_MEMSET] = "memset"};

	return PICK(names, kind);
}

const char *words_direction(enum trace_copy_direction direction)
{
	static const char *const names[] = {
		[TRACE_COPY_UNKNOWN] = "", [TRACE_H2H] = "H2H", [TRACE_H2D] = "H2D",
		[TRACE_D2H] = "D2H",	   [TRACE_D2D] = "D2D", [TRACE_P2P] = "P2P"};

	return PICK(names, direction);
}

const char *words_confidence(enum trace_confidence confidence)
{
	static const char *const names[] = {
		[TRACE_CONFIDENCE_NONE] = "",
		[TRACE_CONFIDENCE_UNKNOWN] = "unknown",
		[TRACE_CONFIDENCE_TIME] = "time",
		[TRACE_CONFIDENCE_ORDER] = "order",
		[TRACE_CONFIDENCE_SIGNATURE] = "signature",
		[TRACE_CONFIDENCE_EXACT] = "exact",
	};

	return PICK(names, confidence);
}

const char *words_untimed(enum record_untimed untimed)
{
	static const char *const names[] = {
#define X(name, text) [RECORD_UNTIMED_##name] = (text),
		RECORD_UNTIMED(X)
#undef X
	};

	return untimed == RECORD_UNTIMED_NO ? "" : PICK(names, untimed);
}

const char *words_queue_mode(enum record_queue_mode mode)
{
	static const char *const names[] = {[RECORD_QUEUE_UNKNOWN] = "",
#define X(name, text) [RECORD_QUEUE_##name] = (text),
					    RECORD_QUEUE_MODES(X)
#undef X
	};

	return PICK(names, mode);
}

const char *words_memory_kind(enum record_memory_kind kind)
{
	static const char *const names[] = {
#define X(name, text) [RECORD_MEMORY_KIND_##name] = (text),
		RECORD_MEMORY_KINDS(X)
#undef X
	};

	return PICK(names, kind);
}

const char *words_node_type(enum record_node_type type)
{
	static const char *const names[] = {
		[RECORD_NODE_KERNEL] = "kernel",
		[RECORD_NODE_MEMCPY] = "memcpy",
		[RECORD_NODE_MEMSET] = "memset",
		[RECORD_NODE_HOST] = "host",
		[RECORD_NODE_CHILD] = "child",
		[RECORD_NODE_EMPTY] = "empty",
		[RECORD_NODE_EVENT_WAIT] = "event_wait",
		[RECORD_NODE_EVENT_RECORD] = "event_record",
		[RECORD_NODE_MEM_ALLOC] = "mem_alloc",
		[RECORD_NODE_MEM_FREE] = "mem_free",
		[RECORD_NODE_OTHER] = "other",
		[RECORD_NODE_CONDITIONAL] = "conditional",
	};

	return PICK(names, type);
}

const char *words_scope_kind(enum record_scope_kind kind)
{
	static const char *const names[] = {
		"",
		[RECORD_SCOPE_DAGTAP] = "scope",
		[RECORD_SCOPE_ROCTX] = "roctx",
		[RECORD_SCOPE_RANGE] = "range",
		[RECORD_SCOPE_MARK] = "mark",
		[RECORD_SCOPE_STEP] = "step",
		[RECORD_SCOPE_NVTX] = "nvtx",
	};

	return PICK(names, kind);
}

const char *words_wait_type(enum trace_wait_type type)
{
	static const char *const names[] = {
		[TRACE_WAIT_UNKNOWN] = "",
		[TRACE_WAIT_EVENT] = "event",
		[TRACE_WAIT_STREAM_EVENT] = "stream_event",
		[TRACE_WAIT_STREAM] = "stream",
		[TRACE_WAIT_DEVICE] = "device",
	};

	return PICK(names, type);
}

const char *words_known(enum trace_known known)
{
	static const char *const names[] = {
		[TRACE_KNOWN_NOT] = "",	       [TRACE_KNOWN_NUMBER] = "number",
		[TRACE_KNOWN_ORDER] = "order", [TRACE_KNOWN_LIKELY] = "likely",
		[TRACE_KNOWN_FILE] = "file",
	};

	return PICK(names, known);
}

const char *words_stream_kind(enum trace_stream_kind kind)
{
	static const char *const names[] = {
		[TRACE_STREAM_UNKNOWN] = "",
		[TRACE_STREAM_NULL] = "null",
		[TRACE_STREAM_PER_THREAD] = "per_thread",
		[TRACE_STREAM_BLOCKING] = "blocking",
		[TRACE_STREAM_NONBLOCKING] = "nonblocking",
	};

	return PICK(names, kind);
}

const char *words_work(const struct trace *trace, const struct trace_work *work)
{
	static const char *const copies[] = {
		[TRACE_COPY_UNKNOWN] = "copy", [TRACE_H2H] = "copy H2H", [TRACE_H2D] = "copy H2D",
		[TRACE_D2H] = "copy D2H",      [TRACE_D2D] = "copy D2D", [TRACE_P2P] = "copy P2P"};

	if (work->kind == TRACE_COPY)
		return PICK(copies, work->direction);
	if (work->kind == TRACE_MEMSET)
		return "memset";
	return work->name ? trace_text(trace, work->name) : "(unknown kernel)";
}

/* Writes TEXT in front of *START and moves *START back. If it does not fit, writes its end and
 * returns false. */
static bool prepend(char *buffer, size_t *start, const char *text)
{
	size_t bytes = strlen(text);
	size_t fits = bytes < *start ? bytes : *start;

	*start -= fits;
	memcpy(buffer + *start, text + (bytes - fits), fits);
	return fits == bytes;
}

const char *words_scope_path(const struct trace *trace, uint32_t scope, char *buffer, size_t size)
{
	size_t start = size - 1;
	bool complete = true;

	buffer[start] = '\0';
	for (unsigned depth = 0; scope != TRACE_NONE && complete; depth++) {
		complete =
			depth < SCOPE_DEPTH_MAX && (depth == 0 || prepend(buffer, &start, "/")) &&
			prepend(buffer, &start, trace_text(trace, trace_scope_label(trace, scope)));
		scope = trace->scopes[scope].parent;
	}
	if (!complete && size > sizeof("...")) {
		if (start < 3)
			start = 0;
		else
			start -= 3;
		memcpy(buffer + start, "...", 3);
	}
	return memmove(buffer, buffer + start, size - start);
}

const char *words_path_get(struct words_path *path, const struct trace *trace, uint32_t scope)
{
	if (scope != path->scope)
		words_scope_path(trace, scope, path->text, sizeof(path->text));
	path->scope = scope;
	return path->text;
}

uint32_t words_activity_graph(const struct trace *trace, const struct trace_activity *activity)
{
	if (activity->node != TRACE_NONE)
		return trace->nodes[activity->node].graph;
	if (activity->launch != TRACE_NONE)
		return trace->execs[trace->launches[activity->launch].exec].graph;
	return TRACE_NONE;
}

/* In a recording the agents tell, because its APIs include functions that were never called. In
 * other tools' files only the names of the calls tell. */
bool words_process_counts_blocks(const struct trace *trace, uint32_t process)
{
	bool has_hip = false, has_cuda = false;

	for (uint32_t i = 0; i < trace->agents_count; i++) {
		if (trace->agents[i].process == process && words_is_cuda_agent(trace, i))
			return true;
	}
	for (uint32_t i = 0; i < trace->apis_count; i++) {
		has_hip |= trace->apis[i].process == process &&
			   trace->apis[i].domain == RECORD_DOMAIN_HIP;
		has_cuda |= trace->apis[i].process == process &&
			    trace->apis[i].domain == RECORD_DOMAIN_CUDA;
	}
	return has_cuda && !has_hip;
}

uint64_t words_blocks(uint64_t work_items, uint32_t block)
{
	return block > 1 ? work_items / block + (work_items % block != 0) : work_items;
}

bool words_call_arg(const struct trace *trace, const struct trace_call *call, uint32_t number,
		    struct words_arg *ret_arg)
{
	const struct trace_api *api = &trace->apis[call->api];
	const struct trace_api_arg *arg;
	const uint64_t *words;
	uint32_t count;

	if (number >= api->arg_count || call->arg_first == TRACE_NONE)
		return false;
	arg = &trace->api_args[api->arg_first + number];
	count = arg->kind == 'd' ? 2 : 1;
	if ((uint32_t)arg->word + count > api->arg_words)
		return false;
	words = trace->words + call->arg_first;
	*ret_arg = (struct words_arg){.name = trace_text(trace, arg->name), .kind = arg->kind};
	for (uint32_t i = 0; i < count; i++)
		ret_arg->words[i] = words[arg->word + i];
	return true;
}

static void put_float(uint64_t word, char *buffer)
{
	uint32_t low = (uint32_t)word;
	double number;
	float single;

	if (word >> 32) {
		memcpy(&number, &word, sizeof(number));
	} else {
		memcpy(&single, &low, sizeof(single));
		number = single;
	}
	snprintf(buffer, WORDS_ARG_CHARS, "%g", number);
}

const char *words_arg_text(const struct words_arg *arg, char buffer[WORDS_ARG_CHARS])
{
	uint64_t word = arg->words[0];

	switch (arg->kind) {
	case 'i':
	case 'e':
		snprintf(buffer, WORDS_ARG_CHARS, "%" PRId64, (int64_t)word);
		break;
	case 'u':
	case 's':
		snprintf(buffer, WORDS_ARG_CHARS, "%" PRIu64, word);
		break;
	case 'f':
		put_float(word, buffer);
		break;
	case 'd':
		snprintf(buffer, WORDS_ARG_CHARS, "%" PRIu32 "x%" PRIu32 "x%" PRIu32,
			 (uint32_t)word, (uint32_t)(word >> 32), (uint32_t)arg->words[1]);
		break;
	case 't':
		memcpy(buffer, &word, sizeof(word));
		buffer[sizeof(word)] = '\0';
		break;
	default:
		snprintf(buffer, WORDS_ARG_CHARS, "0x%" PRIx64, word);
	}
	return buffer;
}
