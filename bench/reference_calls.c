/* The calls of the reference run, made from the list of HIP's functions: reference_calls.h. */
#include "reference_calls.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bench/hip_function_texts.h"

static const char *const call_names[] = {
#define X(name) #name,
	REFERENCE_CALLS(X)
#undef X
};

/* The arguments whose values the run sets, by their names in the list. */
static const struct {
	const char *name;
	size_t place;
} places[] = {
	{"stream", offsetof(struct reference_call, stream)},
	{"hStream", offsetof(struct reference_call, stream)},
	{"f", offsetof(struct reference_call, subject)},
	{"graphExec", offsetof(struct reference_call, subject)},
	{"graph", offsetof(struct reference_call, subject)},
	{"pGraph", offsetof(struct reference_call, subject)},
	{"function", offsetof(struct reference_call, subject)},
	{"gridDimX", offsetof(struct reference_call, grid)},
	{"globalWorkSizeX", offsetof(struct reference_call, grid)},
	{"dst", offsetof(struct reference_call, dst)},
	{"src", offsetof(struct reference_call, src)},
	{"sizeBytes", offsetof(struct reference_call, bytes)},
	{"kind", offsetof(struct reference_call, kind)},
};

const char *reference_api_text(uint32_t function)
{
	return function && function <= sizeof(hip_function_texts) / sizeof(*hip_function_texts)
		       ? hip_function_texts[function - 1]
		       : NULL;
}

static uint32_t find_function(const char *name)
{
	size_t length = strlen(name);
	const char *text;
	uint32_t function;

	for (function = 1; (text = reference_api_text(function)); function++) {
		if (!strncmp(text, name, length) && (text[length] == ' ' || !text[length]))
			return function;
	}
	return 0;
}

/* Returns a value of the size that arguments of this kind have in real recordings. */
static uint64_t usual_value(char kind, uint32_t word)
{
	switch (kind) {
	case 'p':
		return 0x7ffd00001000 + (uint64_t)word * 0x40;
	case 'h':
	case 'o':
		return 0x55d3a0c00000 + (uint64_t)word * 0x100;
	case 's':
		return 4096;
	default:
		return word & 1;
	}
}

static void take_argument(struct reference_call *call, const char *name, size_t name_bytes,
			  char kind)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strlen(places[i].name) == name_bytes &&
		    !memcmp(places[i].name, name, name_bytes))
			*((int8_t *)call + places[i].place) = (int8_t)call->words;
	}
	for (int i = 0; i < (kind == 'd' ? 2 : 1) && call->words < REFERENCE_CALL_WORDS; i++) {
		call->args[call->words] = usual_value(kind, call->words);
		call->words++;
	}
}

static struct reference_call make_call(uint32_t function)
{
	struct reference_call call = {
		.function = function,
		.stream = -1,
		.subject = -1,
		.grid = -1,
		.dst = -1,
		.src = -1,
		.bytes = -1,
		.kind = -1,
	};
	const char *space = strchr(reference_api_text(function), ' ');

	while (space) {
		const char *name = space + 1;
		const char *colon = strchr(name, ':');

		take_argument(&call, name, (size_t)(colon - name), colon[1]);
		space = strchr(colon, ' ');
	}
	return call;
}

int reference_calls_make(struct reference_call *calls)
{
	for (size_t i = 0; i < REFERENCE_CALL_COUNT; i++) {
		uint32_t function = find_function(call_names[i]);

		if (!function)
			return -ENOENT;
		calls[i] = make_call(function);
	}
	return 0;
}
