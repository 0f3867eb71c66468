/* Arguments of calls: see arguments.h. */
#include "sdk/arguments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sdk/names.h"
#include "sdk/sdk_export.h"

#define TEXT_BYTES 96

enum form { POINTER, UNSIGNED, SIGNED, FLOAT, STRUCT };
enum words_are { PLAIN, PACKED, POINTED };

/* The kinds of parameters of src/vendor/hip_api.list and rccl_api.list. WORDS: of the call; 4-byte
 * members of structs come as PACKED words, two in one, and large structs as a POINTED word. */
static const struct kind {
	const char *name, *type;
	enum form form;
	uint8_t bytes, alignment, words;
	enum words_are words_are;
	uint8_t pointee; /* bytes that the call fills; 0: not known */
} kinds[] = {
	{"ptr", "void*", POINTER, 8, 8, 1, PLAIN, 0},
	{"handle", "void*", POINTER, 8, 8, 1, PLAIN, 0},
	{"stream", "ihipStream_t*", POINTER, 8, 8, 1, PLAIN, 0},
	{"text", "const char*", POINTER, 8, 8, 1, PLAIN, 0},
	{"out", "void*", POINTER, 8, 8, 1, PLAIN, 8},
	{"out32", "int*", POINTER, 8, 8, 1, PLAIN, 4},
	{"outf", "float*", POINTER, 8, 8, 1, PLAIN, 0},
	{"launch", "const void*", POINTER, 8, 8, 2, PLAIN, 0},
	{"size", "unsigned long", UNSIGNED, 8, 8, 1, PLAIN, 0},
	{"u64", "unsigned long", UNSIGNED, 8, 8, 1, PLAIN, 0},
	{"u32", "unsigned int", UNSIGNED, 4, 4, 1, PLAIN, 0},
	{"u16", "unsigned short", UNSIGNED, 2, 2, 1, PLAIN, 0},
	{"u8", "unsigned char", UNSIGNED, 1, 1, 1, PLAIN, 0},
	{"i32", "int", SIGNED, 4, 4, 1, PLAIN, 0},
	{"enum", "int", SIGNED, 4, 4, 1, PLAIN, 0},
	{"f32", "float", FLOAT, 4, 4, 1, PLAIN, 0},
	{"dim3", "rocprofiler_dim3_t", STRUCT, 12, 4, 2, PACKED, 0},
	{"extent", "hipExtent", STRUCT, 24, 8, 3, PLAIN, 0},
	{"pitched", "hipPitchedPtr", STRUCT, 32, 8, 4, PLAIN, 0},
	{"location", "hipMemLocation", STRUCT, 8, 4, 2, PLAIN, 0},
	{"ipc", "hipIpcMemHandle_t", STRUCT, 64, 1, 0, PLAIN, 0},
	{"comm", "ncclComm*", POINTER, 8, 8, 1, PLAIN, 0},
	{"newcomm", "ncclComm**", POINTER, 8, 8, 1, PLAIN, 8},
	{"uid", "ncclUniqueId", STRUCT, 128, 1, 1, POINTED, 0},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* One parameter in the text of an operation, "name:kind". */
struct parameter {
	char name[64];
	uint8_t kind;
};

/* Reads the parameter at *TEXT and moves it on. Returns false at the end, and at a kind that is not
 * known. */
static bool next_parameter(const char **text, struct parameter *ret)
{
	char name[64], kind[16];
	int bytes;

	if (sscanf(*text, "%63[^:]:%15s%n", name, kind, &bytes) != 2)
		return false;
	*text += bytes + ((*text)[bytes] == ' ');
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		memcpy(ret->name, name, sizeof(name));
		ret->kind = (uint8_t)i;
		return true;
	}
	return false;
}

/* The place of a member of KIND behind END, which it moves behind the member. */
static uint8_t place(const struct kind *kind, unsigned *end)
{
	unsigned offset = (*end + kind->alignment - 1) / kind->alignment * kind->alignment;

	*end = offset + kind->bytes;
	return (uint8_t)offset;
}

void arguments_learn(const char *parameters, size_t bytes, struct sdk_arguments *ret_arguments)
{
	struct sdk_arguments made = {0};
	struct parameter parameter;
	unsigned end = 0;

	while (made.count < SDK_ARGUMENTS && next_parameter(&parameters, &parameter)) {
		uint8_t offset = place(&kinds[parameter.kind], &end);

		if (end > bytes)
			break;
		made.at[made.count++] = (struct sdk_argument){parameter.kind, offset};
	}
	*ret_arguments = made;
}

/* Each member has a word, or half of one, unless the word is a pointer to the struct.
 * Little-endian: the low bytes are the value. */
static void fill_struct(const struct kind *kind, const uint64_t *words, uint8_t *ret_bytes)
{
	size_t member = kind->words_are == PACKED ? 8 : kind->bytes / kind->words;

	if (kind->words_are == POINTED) {
		memcpy(ret_bytes, (const void *)(uintptr_t)*words, kind->bytes);
		return;
	}
	for (size_t at = 0; at < kind->bytes; at += member) {
		size_t left = kind->bytes - at;

		memcpy(ret_bytes + at, words++, left < member ? left : member);
	}
}

void arguments_fill(const struct sdk_arguments *arguments, const uint64_t *words, void *ret_args)
{
	for (uint8_t i = 0; i < arguments->count; i++) {
		const struct kind *kind = &kinds[arguments->at[i].kind];
		uint8_t *member = (uint8_t *)ret_args + arguments->at[i].offset;

		if (kind->form != STRUCT)
			memcpy(member, words, kind->bytes);
		else if (kind->words)
			fill_struct(kind, words, member);
		words += kind->words;
	}
}

/* ---- iteration ---- */

/* Writes the value at ADDRESS. */
static void write_value(const struct kind *kind, const void *address, char *ret_text)
{
	uint64_t value = 0;
	int64_t number;
	float real;

	memcpy(&value, address, kind->bytes < 8 ? kind->bytes : 8);
	memcpy(&real, &value, sizeof(real));
	number = (int32_t)value;
	if (kind->form == POINTER)
		snprintf(ret_text, TEXT_BYTES, value ? "0x%" PRIx64 : "%" PRIx64, value);
	else if (kind->form == UNSIGNED)
		snprintf(ret_text, TEXT_BYTES, "%" PRIu64, value);
	else if (kind->form == SIGNED)
		snprintf(ret_text, TEXT_BYTES, "%" PRId64, number);
	else
		snprintf(ret_text, TEXT_BYTES, "%g", (double)real);
}

/* Writes the members of a struct, "{1, 2, 3}"; "{}" of one that is an array of bytes. */
static void write_struct(const struct kind *kind, const uint8_t *bytes, char *ret_text)
{
	bool has_members = kind->alignment >= 4;
	size_t member = kind->alignment, used = 1;

	snprintf(ret_text, TEXT_BYTES, "{");
	for (size_t at = 0; has_members && at < kind->bytes && used < TEXT_BYTES; at += member) {
		uint64_t value = 0;

		memcpy(&value, bytes + at, member);
		used += (size_t)snprintf(ret_text + used, TEXT_BYTES - used, "%s%" PRIu64,
					 at ? ", " : "", value);
	}
	if (used < TEXT_BYTES)
		snprintf(ret_text + used, TEXT_BYTES - used, "}");
}

/* Writes what the pointer at ADDRESS points to, a text or what the call has returned. Returns
 * whether that is known. */
static bool write_pointee(const struct kind *kind, const void *address, bool is_returned,
			  char *ret_text)
{
	const void *pointer;
	uint64_t value = 0;

	memcpy(&pointer, address, sizeof(pointer));
	if (!pointer)
		return false;
	if (!strcmp(kind->name, "text")) {
		snprintf(ret_text, TEXT_BYTES, "%s", (const char *)pointer);
		return true;
	}
	if (!kind->pointee || !is_returned)
		return false;
	memcpy(&value, pointer, kind->pointee);
	if (kind->pointee == 4)
		snprintf(ret_text, TEXT_BYTES, "%" PRId32, (int32_t)value);
	else
		snprintf(ret_text, TEXT_BYTES, "0x%" PRIx64, value);
	return true;
}

/* A text for a value, valid until the thread has asked for SDK_ARGUMENTS more. */
static char *take_text(void)
{
	static _Thread_local char texts[SDK_ARGUMENTS][TEXT_BYTES];
	static _Thread_local unsigned taken;

	return texts[taken++ % SDK_ARGUMENTS];
}

/* What is known of the calls of a kind: the operations, their parameters, and the payload of a
 * callback. Returns false for other kinds. */
struct payload {
	const char *const *parameters;
	int operations;
	size_t args_bytes;
	uint64_t result;
};

static bool read_payload(const struct sdk_callback_record *record, struct payload *ret)
{
	const struct sdk_hip_data *hip = record->payload;
	const struct sdk_rccl_data *rccl = record->payload;
	const struct sdk_mark_data *mark = record->payload;
	int marks;

	if (record->kind == SDK_CALLBACK_HIP_RUNTIME_API)
		*ret = (struct payload){sdk_hip_parameters, sdk_hip_operation_count, SDK_ARGS_BYTES,
					hip->result};
	else if (record->kind == SDK_CALLBACK_RCCL_API)
		*ret = (struct payload){sdk_rccl_parameters, sdk_rccl_operation_count,
					SDK_RCCL_ARGS_BYTES, rccl->result};
	else if (sdk_mark_parameters((int)record->kind, &marks))
		*ret = (struct payload){sdk_mark_parameters((int)record->kind, &marks), marks,
					offsetof(struct sdk_mark_data, result) -
						offsetof(struct sdk_mark_data, argument),
					mark->result};
	else
		return false;
	return true;
}

SDK_EXPORT int rocprofiler_iterate_callback_tracing_kind_operation_args(
	struct sdk_callback_record record, sdk_args_callback *callback, int32_t most, void *data)
{
	const uint8_t *args = ((const struct sdk_hip_data *)record.payload)->args;
	struct sdk_arguments arguments;
	struct parameter parameter;
	struct payload payload;
	const char *text;
	bool is_returned;

	if (!read_payload(&record, &payload))
		return SDK_ERROR_NOT_IMPLEMENTED;
	if (record.operation < 0 || record.operation >= payload.operations)
		return SDK_ERROR_OPERATION_NOT_FOUND;
	is_returned = record.phase == SDK_PHASE_EXIT && !payload.result;
	text = payload.parameters[record.operation];
	arguments_learn(text, payload.args_bytes, &arguments);
	for (uint8_t i = 0; i < arguments.count && next_parameter(&text, &parameter); i++) {
		const struct kind *kind = &kinds[parameter.kind];
		const uint8_t *address = args + arguments.at[i].offset;
		char *value = take_text();
		bool is_followed = kind->form == POINTER && most > 0 &&
				   write_pointee(kind, address, is_returned, value);

		if (kind->form == STRUCT)
			write_struct(kind, address, value);
		else if (!is_followed)
			write_value(kind, address, value);
		if (callback((int)record.kind, record.operation, i, address, kind->form == POINTER,
			     kind->type, parameter.name, value, is_followed, data))
			break;
	}
	return SDK_SUCCESS;
}
