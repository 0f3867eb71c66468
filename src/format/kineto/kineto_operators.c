/* Operators of frameworks: scopes that say which operator ran, and on which shapes. PyTorch's
 * profiler has them as rows of cpu_op, and readers look for the shapes there. */
#include <string.h>

#include "format/kineto/kineto_writer.h"

/* An upper bound for the parts of a row that are no pieces. */
#define ROW_BYTES 512
#define DEPTH_MOST                                                                                 \
	1024 /* of scopes that are looked at; the parents in a damaged file may be a circle */
#define OPERATORS_MOST 32 /* inside each other that begin at one node; more are left out */

static const char *const other_categories[] = {"cpu_op", "python_function", "user_annotation"};

/* The category that the row had in another tool's file, if it is one of scopes; or NULL. */
static const char *category_in_file(const struct trace *trace,
				    const struct trace_scope_attribute *attribute)
{
	const char *text = attribute->kind == RECORD_ATTRIBUTE_TEXT
				   ? trace_text(trace, attribute->value.text)
				   : "";

	for (size_t i = 0; i < sizeof(other_categories) / sizeof(*other_categories); i++)
		if (strcmp(text, other_categories[i]) == 0)
			return other_categories[i];
	return NULL;
}

const char *kineto_scope_category(struct kineto *kineto, uint32_t scope)
{
	const struct trace *trace = kineto->trace;
	const struct trace_scope *row = &trace->scopes[scope];
	bool is_operator = false, is_module = false;

	for (uint32_t i = 0; i < row->attribute_count; i++) {
		const struct trace_scope_attribute *attribute =
			&trace->scope_attributes[row->attribute_first + i];
		enum kineto_key key = kineto_key_of(kineto, attribute->key);
		const char *category =
			key == KINETO_KEY_CATEGORY ? category_in_file(trace, attribute) : NULL;

		if (category)
			return category;
		is_module |= key == KINETO_KEY_MODULE;
		is_operator |= key == KINETO_KEY_DIMS || key == KINETO_KEY_SEQUENCE ||
			       key == KINETO_KEY_FUNCTION;
	}
	return is_operator && !is_module ? "cpu_op" : "user_annotation";
}

/* ---- operators of a replay ---- */

static uint32_t scope_of(const struct trace *trace, const struct kineto_turn *turn)
{
	return turn->node == TRACE_NONE ? TRACE_NONE : trace->nodes[turn->node].scope;
}

static bool is_inside(const struct trace *trace, uint32_t scope, uint32_t around)
{
	uint32_t depth = 0;

	for (; scope != TRACE_NONE && depth < DEPTH_MOST; scope = trace->scopes[scope].parent) {
		if (scope == around)
			return true;
		depth++;
	}
	return false;
}

/* The rows of one launch that are written. What is inside begins later and ends earlier by
 * `step`: readers do not agree on which of two rows with the same times is inside, and those that
 * read times as doubles see rows overlap that touch. */
struct replay {
	struct kineto *kineto;
	const struct kineto_turn *turns;
	uint32_t count;
	int64_t begin_ns;
	uint64_t share;
	uint64_t step; /* ns; a stand-in keeps half of its share */
	struct piece place;
};

static bool is_operator(const struct replay *replay, uint32_t scope)
{
	return strcmp(kineto_scope_category(replay->kineto, scope), "cpu_op") == 0;
}

/* The number of operators around the nodes of SCOPE, SCOPE included; OPERATORS_MOST at most. */
static uint32_t depth_of(const struct replay *replay, uint32_t scope)
{
	uint32_t count = 0;

	for (uint32_t i = 0; scope != TRACE_NONE && i < DEPTH_MOST && count < OPERATORS_MOST; i++) {
		count += is_operator(replay, scope);
		scope = replay->kineto->trace->scopes[scope].parent;
	}
	return count;
}

static void put_operator(const struct replay *replay, uint32_t scope, uint32_t first, uint32_t end)
{
	uint64_t margin = replay->step * depth_of(replay, scope), most = replay->share / 4;
	struct kineto *kineto = replay->kineto;
	const struct trace_scope *row = &kineto->trace->scopes[scope];
	struct piece name = kineto_scope_name(kineto, scope), attributes;
	char *at;

	/* From a scope that is deeper than DEPTH_MOST, more operators are seen than from a node. */
	if (margin > most)
		margin = most;
	kineto_put_attributes(kineto, row->attribute_first, row->attribute_count);
	attributes = pieces_since(&kineto->row, 0);
	at = kineto_out_begin(&kineto->out, (size_t)name.bytes + attributes.bytes + ROW_BYTES);
	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":");
	at = pieces_copy(at, &kineto->text, name);
	at = pieces_copy(at, &kineto->text, replay->place);
	at = kineto_put_time(&kineto->out, at,
			     replay->begin_ns + (int64_t)(replay->share * first + margin));
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, replay->share * (end - first) - 2 * margin);
	at = KINETO_PUT(at, ",\"args\":{\"graph node External id\":");
	at = kineto_put_u64(at, kineto_external_id(scope));
	at = pieces_copy(at, &kineto->row, attributes);
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
	kineto->row.used = 0;
}

/* Writes the operators that begin at turn NUMBER: those around its node in which the node of the
 * turn before is not; the outermost one first. */
static void put_operators_from(const struct replay *replay, uint32_t number)
{
	const struct trace *trace = replay->kineto->trace;
	const struct kineto_turn *turns = replay->turns;
	uint32_t scopes[OPERATORS_MOST], count = 0, depth = 0;
	uint32_t scope = scope_of(trace, &turns[number]);

	for (; scope != TRACE_NONE && count < OPERATORS_MOST && depth < DEPTH_MOST;
	     scope = trace->scopes[scope].parent) {
		depth++;
		if (number && is_inside(trace, scope_of(trace, &turns[number - 1]), scope))
			break;
		if (is_operator(replay, scope))
			scopes[count++] = scope;
	}
	while (count-- > 0) {
		uint32_t end = number + 1;

		while (end < replay->count &&
		       is_inside(trace, scope_of(trace, &turns[end]), scopes[count]))
			end++;
		put_operator(replay, scopes[count], number, end);
	}
}

uint64_t kineto_put_replayed_operators(struct kineto *kineto, const struct kineto_turn *turns,
				       uint32_t count, int64_t begin_ns, uint64_t share,
				       struct piece place)
{
	struct replay replay = {kineto, turns, count, begin_ns, share, 0, place};
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t depth = depth_of(&replay, scope_of(kineto->trace, &turns[i]));

		deepest = depth > deepest ? depth : deepest;
	}
	if (deepest == 0)
		return 0;
	replay.step = share / (4 * (deepest + 1ull));
	for (uint32_t i = 0; i < count; i++)
		put_operators_from(&replay, i);
	return replay.step * (deepest + 1ull);
}
