/* The tables of calls, of scopes, and of the attributes of scopes. */
#include <stdio.h>

#include "format/tables/table_cells.h"

#define ROW_TYPE trace_call

TABLE_READ(call_cid)
{
	return cell_of(((const struct trace_call *)row)->cid);
}

TABLE_READ(call_api)
{
	return cell_of(reader->trace->apis[((const struct trace_call *)row)->api].name);
}

TABLE_READ(parent_cid)
{
	uint32_t parent = cell_field_u32(row, field);

	return parent == TRACE_NONE ? CELL_UNKNOWN
				    : cell_of_known(reader->trace->calls[parent].cid);
}

TABLE_READ(call_duration)
{
	const struct trace_call *call = row;

	return cell_of((uint64_t)words_span_ns(call->begin_ns, call->end_ns));
}

TABLE_READ(call_graph)
{
	uint32_t launch = cell_field_u32(row, field);

	if (launch == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_graph(reader, &reader->trace->execs[reader->trace->launches[launch].exec].graph,
			  0);
}

TABLE_READ(call_args)
{
	return cell_of((uint64_t)((const struct trace_call *)row - reader->trace->calls));
}

/* All arguments of call NUMBER, cut off at the size of the text: "dst=0x7f00 sizeBytes=4096". */
static TABLE_TEXT_OF(text_args)
{
	const struct trace_call *call = &reader->trace->calls[number];
	char value[WORDS_ARG_CHARS];
	struct words_arg arg;
	size_t used = 0, size = sizeof(reader->text);

	reader->text[0] = '\0';
	for (uint32_t i = 0; used < size && words_call_arg(reader->trace, call, i, &arg); i++)
		used += (size_t)snprintf(reader->text + used, size - used, "%s%s=%s", i ? " " : "",
					 arg.name, words_arg_text(&arg, value));
	return reader->text;
}

static const struct table_column calls_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("thread", NULL, UINT32, cell_tid, FIELD(thread)),
	COLUMN("cid", NULL, UINT64, call_cid, 0),
	NAME_COLUMN("api", call_api, 0, text_string),
	COLUMN("parent_cid", NULL, UINT64, parent_cid, FIELD(parent)),
	COLUMN("begin_ns", "ns", INT64, cell_u64, FIELD(begin_ns)),
	COLUMN("end_ns", "ns", INT64, cell_u64, FIELD(end_ns)),
	COLUMN("duration_ns", "ns", INT64, call_duration, 0),
	COLUMN("result", NULL, INT32, cell_i32, FIELD(result)),
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	COLUMN("activities", "rows", UINT32, cell_u32, FIELD(activity_count)),
	COLUMN("activities_expected", "rows", UINT32, cell_u32_counted, FIELD(activities_expected)),
	SCOPE_COLUMN("scope", cell_scope, FIELD(scope), text_scope),
	COLUMN("scope_id", NULL, UINT64, cell_scope_id, FIELD(scope)),
	COLUMN("graph", NULL, UINT64, call_graph, FIELD(launch)),
	COLUMN("exec", NULL, UINT64, cell_exec, FIELD(launch)),
	COLUMN("replay", NULL, UINT64, cell_replay, FIELD(launch)),
	TEXT_COLUMN("args", call_args, 0, text_args),
};

TABLE_OF_ARRAY(calls, calls_columns, calls);

#undef ROW_TYPE
#define ROW_TYPE trace_scope

TABLE_READ(scope_self)
{
	return cell_of((uint64_t)((const struct trace_scope *)row - reader->trace->scopes));
}

TABLE_READ(parent_id)
{
	uint32_t parent = cell_field_u32(row, field);

	return parent == TRACE_NONE ? CELL_UNKNOWN
				    : cell_of_known(reader->trace->scopes[parent].id);
}

TABLE_READ(scope_ns)
{
	return ((const struct trace_scope *)row)->untimed ? CELL_UNKNOWN
							  : cell_u64(reader, row, field);
}

TABLE_READ(scope_duration)
{
	const struct trace_scope *scope = row;

	if (scope->untimed)
		return CELL_UNKNOWN;
	return cell_of((uint64_t)words_span_ns(scope->begin_ns, scope->end_ns));
}

static TABLE_TEXT_OF(text_scope_kind)
{
	return words_scope_kind((enum record_scope_kind)number);
}

static const struct table_column scopes_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("thread", NULL, UINT32, cell_tid, FIELD(thread)),
	NAME_COLUMN("kind", cell_word, FIELD(kind), text_scope_kind),
	SCOPE_COLUMN("scope", scope_self, 0, text_scope),
	COLUMN("scope_id", NULL, UINT64, cell_u64, FIELD(id)),
	COLUMN("parent_id", NULL, UINT64, parent_id, FIELD(parent)),
	NAME_COLUMN("text", cell_string, FIELD(text), text_string),
	COLUMN("begin_ns", "ns", INT64, scope_ns, FIELD(begin_ns)),
	COLUMN("end_ns", "ns", INT64, scope_ns, FIELD(end_ns)),
	COLUMN("duration_ns", "ns", INT64, scope_duration, 0),
	COLUMN("open", NULL, BOOL, cell_bool, FIELD(open)),
};

TABLE_OF_ARRAY(scopes, scopes_columns, scopes);

/* scope_attributes: scopes may share the rows of their attributes in the model, so a row of the
 * table is a pair of a scope and an attribute (struct table_attribute). */
static uint64_t count_scope_attributes(const struct trace *trace)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < trace->scopes_count; i++)
		count += trace->scopes[i].attribute_count;
	return count;
}

static const void *row_scope_attributes(struct table_reader *reader, uint64_t number)
{
	const struct trace_scope *scopes = reader->trace->scopes;
	uint32_t scope;

	while (number < reader->attribute_first)
		reader->attribute_first -= scopes[--reader->attribute_scope].attribute_count;
	while (number - reader->attribute_first >= scopes[reader->attribute_scope].attribute_count)
		reader->attribute_first += scopes[reader->attribute_scope++].attribute_count;
	scope = reader->attribute_scope;
	reader->attribute = (struct table_attribute){
		.scope = scope,
		.attribute = reader->trace->scope_attributes + scopes[scope].attribute_first +
			     (number - reader->attribute_first),
	};
	return &reader->attribute;
}

#undef ROW_TYPE
#define ROW_TYPE table_attribute

TABLE_READ(attribute_pid)
{
	const struct table_attribute *pair = row;

	return cell_pid(reader, &reader->trace->scopes[pair->scope],
			offsetof(struct trace_scope, process));
}

TABLE_READ(attribute_key)
{
	return cell_of(((const struct table_attribute *)row)->attribute->key);
}

TABLE_READ(attribute_kind)
{
	return cell_word(reader, ((const struct table_attribute *)row)->attribute,
			 offsetof(struct trace_scope_attribute, kind));
}

/* FIELD is the kind for which the column has a value. */
TABLE_READ(attribute_value)
{
	const struct trace_scope_attribute *attribute =
		((const struct table_attribute *)row)->attribute;

	if (attribute->kind != field)
		return CELL_UNKNOWN;
	return cell_of(field == RECORD_ATTRIBUTE_TEXT ? attribute->value.text
						      : attribute->value.uint64);
}

static TABLE_TEXT_OF(text_attribute_kind)
{
	static const char *const kinds[] = {
#define X(name, text) [RECORD_ATTRIBUTE_##name] = (text),
		RECORD_ATTRIBUTE_KINDS(X)
#undef X
	};

	if (number >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[number])
		return "";
	return kinds[number];
}

static const struct table_column scope_attributes_columns[] = {
	COLUMN("process", NULL, UINT32, attribute_pid, 0),
	COLUMN("scope_id", NULL, UINT64, cell_scope_id, FIELD(scope)),
	NAME_COLUMN("key", attribute_key, 0, text_string),
	NAME_COLUMN("kind", attribute_kind, 0, text_attribute_kind),
	COLUMN("int64", NULL, INT64, attribute_value, RECORD_ATTRIBUTE_INT64),
	COLUMN("uint64", NULL, UINT64, attribute_value, RECORD_ATTRIBUTE_UINT64),
	COLUMN("double", NULL, DOUBLE, attribute_value, RECORD_ATTRIBUTE_DOUBLE),
	NAME_COLUMN("text", attribute_value, RECORD_ATTRIBUTE_TEXT, text_string),
};

const struct table table_scope_attributes = {
	.name = "scope_attributes",
	.columns = scope_attributes_columns,
	.columns_count = sizeof(scope_attributes_columns) / sizeof(scope_attributes_columns[0]),
	.count = count_scope_attributes,
	.row = row_scope_attributes,
};
