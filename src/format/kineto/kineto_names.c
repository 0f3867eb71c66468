/* Quoted strings, and the names that Kineto's files and HTA use. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/kineto/kineto_writer.h"

struct piece kineto_quoted(struct kineto *kineto, trace_string string)
{
	struct kineto_string *entry = &kineto->strings[string];
	size_t begin = kineto->text.used;

	if (entry->quoted.bytes == 0) {
		kineto_text_quote(&kineto->text, trace_text(kineto->trace, string));
		entry->quoted = pieces_since(&kineto->text, begin);
	}
	return entry->quoted;
}

/* For HTA, which finds the steps of a training loop by the name "ProfilerStep#N": appends that
 * name for a step. Returns false for all other scopes. */
static bool step_name(const struct kineto *kineto, const struct trace_scope *scope,
		      struct pieces *text)
{
	const struct trace_scope_attribute *number;

	if (!kineto->is_hta || scope->kind != RECORD_SCOPE_STEP || scope->attribute_count == 0)
		return false;
	number = &kineto->trace->scope_attributes[scope->attribute_first];
	if (number->kind != RECORD_ATTRIBUTE_INT64)
		return false;
	kineto_text_put(text, "\"ProfilerStep#%" PRId64 "\"", number->value.int64);
	return true;
}

struct piece kineto_scope_name(struct kineto *kineto, uint32_t scope)
{
	const struct trace_scope *row = &kineto->trace->scopes[scope];

	return kineto_quoted(kineto, row->name ? row->name : row->text);
}

struct piece kineto_host_scope_name(struct kineto *kineto, uint32_t scope)
{
	size_t begin = kineto->text.used;

	if (step_name(kineto, &kineto->trace->scopes[scope], &kineto->text))
		return pieces_since(&kineto->text, begin);
	return kineto_scope_name(kineto, scope);
}

const char *kineto_copy_kind(enum trace_copy_direction direction)
{
	static const char *const kinds[] = {
		[TRACE_COPY_UNKNOWN] = "", [TRACE_H2H] = "HtoH", [TRACE_H2D] = "HtoD",
		[TRACE_D2H] = "DtoH",	   [TRACE_D2D] = "DtoD", [TRACE_P2P] = "PtoP",
	};

	return direction <= TRACE_P2P ? kinds[direction] : "";
}

const char *kineto_copy_name(enum trace_copy_direction direction)
{
	static const char *const names[] = {
		[TRACE_COPY_UNKNOWN] = "Memcpy",
		[TRACE_H2H] = "Memcpy HtoH (Host -> Host)",
		[TRACE_H2D] = "Memcpy HtoD (Host -> Device)",
		[TRACE_D2H] = "Memcpy DtoH (Device -> Host)",
		[TRACE_D2D] = "Memcpy DtoD (Device -> Device)",
		[TRACE_P2P] = "Memcpy PtoP (Device -> Device)",
	};

	return direction <= TRACE_P2P ? names[direction] : names[TRACE_COPY_UNKNOWN];
}

const char *kineto_wait_name(enum trace_wait_type type)
{
	static const char *const names[] = {
		[TRACE_WAIT_UNKNOWN] = "Unknown Sync",
		[TRACE_WAIT_EVENT] = "Event Sync",
		[TRACE_WAIT_STREAM_EVENT] = "Stream Wait Event",
		[TRACE_WAIT_STREAM] = "Stream Sync",
		[TRACE_WAIT_DEVICE] = "Context Sync",
	};

	return type <= TRACE_WAIT_DEVICE ? names[type] : names[TRACE_WAIT_UNKNOWN];
}

/* ---- HTA ---- */

/* The length of the name without suffixes that mark variants of a function: _spt, _ptsz, _ptds,
 * _v2, _v7000. */
static size_t stem_length(const char *name)
{
	static const char *const suffixes[] = {"_spt", "_ptsz", "_ptds"};
	size_t length = strlen(name);
	size_t digits = 0;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t bytes = strlen(suffixes[i]);

		if (length > bytes && strcmp(name + length - bytes, suffixes[i]) == 0)
			length -= bytes;
	}
	while (digits < length && name[length - digits - 1] >= '0' &&
	       name[length - digits - 1] <= '9')
		digits++;
	if (digits > 0 && length > digits + 2 && name[length - digits - 1] == 'v' &&
	    name[length - digits - 2] == '_')
		length -= digits + 2;
	return length;
}

/* The CUDA name under which HTA recognises a launch, a copy or an event record; NULL for all other
 * functions, which only change their prefix. */
static const char *known_to_hta(const char *name)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{"hipEventRecordWithFlags", "cudaEventRecord"},
		{"cudaEventRecordWithFlags", "cudaEventRecord"},
		{"hipExtLaunchKernel", "cudaLaunchKernel"},
		{"hipLaunchCooperativeKernel", "cudaLaunchKernel"},
		{"cudaLaunchCooperativeKernel", "cudaLaunchKernel"},
		{"hipModuleLaunchKernel", "cuLaunchKernel"},
		{"hipExtModuleLaunchKernel", "cuLaunchKernel"},
		{"hipHccModuleLaunchKernel", "cuLaunchKernel"},
		{"hipModuleLaunchCooperativeKernel", "cuLaunchKernel"},
		{"hipDrvLaunchKernelEx", "cuLaunchKernel"},
		{"cuLaunchKernelEx", "cuLaunchKernel"},
		{"cuLaunchCooperativeKernel", "cuLaunchKernel"},
		{"hipMemcpyWithStream", "cudaMemcpyAsync"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(name, rows[i].from) == 0)
			return rows[i].to;
	}
	if (!strstr(name, "Async"))
		return NULL;
	if (strstr(name, "Memcpy"))
		return "cudaMemcpyAsync";
	return strstr(name, "Memset") ? "cudaMemsetAsync" : NULL;
}

void kineto_hta_name(const char *name, char *ret_name, size_t size)
{
	char stem[128];
	const char *known;
	bool is_hip;

	snprintf(stem, sizeof(stem), "%.*s", (int)stem_length(name), name);
	known = known_to_hta(stem);
	is_hip = strncmp(stem, "hip", 3) == 0;
	if (known)
		snprintf(ret_name, size, "%s", known);
	else
		snprintf(ret_name, size, "%s%s", is_hip ? "cuda" : "", is_hip ? stem + 3 : stem);
}
