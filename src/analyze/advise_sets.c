/* Reads what libdagpatch-preload.so has counted of sets of parameters that come back: scopes named
 * "dagpatch sets" (src/preload/virtual_sets.c). */
#include <stddef.h>
#include <string.h>

#include "analyze/advise_sets.h"
#include "base/numbers.h"

static const struct {
	const char *key;
	size_t at;
} fields[] = {
	{"executable", offsetof(struct sets_advice, executable)},
	{"launches", offsetof(struct sets_advice, launches)},
	{"changed", offsetof(struct sets_advice, changed)},
	{"came_back", offsetof(struct sets_advice, came_back)},
	{"sets", offsetof(struct sets_advice, sets)},
	{"calls", offsetof(struct sets_advice, calls)},
	{"calls_back", offsetof(struct sets_advice, calls_back)},
	{"ns", offsetof(struct sets_advice, ns)},
	{"ns_back", offsetof(struct sets_advice, ns_back)},
};

static void read_attribute(const struct trace *trace, const struct trace_scope_attribute *attribute,
			   struct sets_advice *ret_row)
{
	const char *key = trace_text(trace, attribute->key);
	bool is_number = attribute->kind == RECORD_ATTRIBUTE_UINT64 ||
			 attribute->kind == RECORD_ATTRIBUTE_INT64;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (is_number && strcmp(fields[i].key, key) == 0)
			memcpy((char *)ret_row + fields[i].at, &attribute->value.uint64,
			       sizeof(uint64_t));
}

/* A mark has all that was counted so far, so the one with the most launches is valid. */
static int add_mark(const struct trace *trace, const struct trace_scope *scope,
		    struct numbers *numbers, struct advice *advice)
{
	struct sets_advice mark = {.process = scope->process};
	int64_t number;
	void *added;

	for (uint32_t i = 0; i < scope->attribute_count; i++)
		read_attribute(trace, &trace->scope_attributes[scope->attribute_first + i], &mark);
	number = numbers_row(numbers, mark.process, mark.executable, (void **)&advice->sets,
			     &advice->set_count, sizeof(mark), &added);
	if (number < 0)
		return (int)number;
	if (mark.launches >= advice->sets[number].launches)
		advice->sets[number] = mark;
	return 0;
}

int advise_sets(const struct trace *trace, struct advice *advice)
{
	struct numbers numbers = {0};
	int err = 0;

	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		if (scope->attribute_count &&
		    strcmp(trace_text(trace, scope->name), "dagpatch sets") == 0)
			err = add_mark(trace, scope, &numbers, advice);
	}
	numbers_release(&numbers);
	return err;
}
