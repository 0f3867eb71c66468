/* Tables and views of rocpd (see rocpd_schema.h). The order of columns is that of AMD's tables: its
 * tools unite tables of several files by their positions. What is unique in AMD's files, which have
 * one guid, is unique for each guid here.
 *
 * In the texts, what SQL says often is abbreviated:
 *
 *	column>table		a column that refers to a row of rocpd_table; with ! it is not null
 *	column{}		a column with a JSON object
 *	<A table X.column>	joins the row of rocpd_table, called A, to which X.column refers;
 *				with ? after < also if there is none
 *	{A to_}			the columns of agent A, whose names begin with to_ */
#include "format/rocpd/rocpd_schema.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *columns; /* after id and guid */
} tables[] = {
	{"rocpd_string", "string TEXT NOT NULL, UNIQUE (string, guid)"},
	{"rocpd_info_node",
	 "hash BIGINT NOT NULL, machine_id TEXT NOT NULL, system_name TEXT, hostname TEXT,"
	 "release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT,"
	 "UNIQUE (hash, guid), UNIQUE (machine_id, guid)"},
	{"rocpd_info_process",
	 "nid>info_node!, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT,"
	 "start BIGINT, \"end\" BIGINT, command TEXT, environment{}, extdata{}"},
	{"rocpd_info_thread",
	 "nid>info_node!, ppid INTEGER, pid>info_process!, tid INTEGER NOT NULL, name TEXT,"
	 "start BIGINT, \"end\" BIGINT, extdata{}"},
	{"rocpd_info_agent",
	 "nid>info_node!, pid>info_process!, type TEXT CHECK (type IN ('CPU', 'GPU', 'NIC')),"
	 "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER,"
	 "name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT,"
	 "extdata{}"},
	{"rocpd_info_queue", "nid>info_node!, pid>info_process!, name TEXT, extdata{}"},
	{"rocpd_info_stream", "nid>info_node!, pid>info_process!, name TEXT, extdata{}"},
	{"rocpd_info_pmc",
	 "nid>info_node!, pid>info_process!, agent_id>info_agent,"
	 "target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU', 'NIC')), event_code INT,"
	 "instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, description TEXT,"
	 "long_description TEXT DEFAULT '', component TEXT, units TEXT DEFAULT '',"
	 "value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')), block TEXT,"
	 "expression TEXT, is_constant INTEGER, is_derived INTEGER, extdata{}"},
	{"rocpd_info_code_object",
	 "nid>info_node!, pid>info_process!, agent_id>info_agent, uri TEXT, load_base BIGINT,"
	 "load_size BIGINT, load_delta BIGINT,"
	 "storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY')), extdata{}"},
	{"rocpd_info_kernel_symbol",
	 "nid>info_node!, pid>info_process!, code_object_id>info_code_object!, kernel_name TEXT,"
	 "display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER,"
	 "kernarg_segment_alignment INTEGER, group_segment_size INTEGER,"
	 "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER,"
	 "accum_vgpr_count INTEGER, extdata{}"},
	{"rocpd_track",
	 "nid>info_node!, pid>info_process, tid>info_thread, name_id>string, extdata{}"},
	{"rocpd_event",
	 "category_id>string, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER,"
	 "call_stack{}, line_info{}, extdata{}"},
	{"rocpd_arg", "event_id>event!, position INTEGER NOT NULL, type TEXT NOT NULL,"
		      "name TEXT NOT NULL, value TEXT, extdata{}"},
	{"rocpd_pmc_event", "event_id>event, pmc_id>info_pmc!, value REAL DEFAULT 0.0,"
			    "extdata JSONB DEFAULT '{}'"},
	{"rocpd_region", "nid>info_node!, pid>info_process!, tid>info_thread!,"
			 "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id>string!,"
			 "event_id>event, extdata{}"},
	{"rocpd_sample", "track_id>track!, timestamp BIGINT NOT NULL, event_id>event, extdata{}"},
	{"rocpd_kernel_dispatch",
	 "nid>info_node!, pid>info_process!, tid>info_thread, agent_id>info_agent!,"
	 "kernel_id>info_kernel_symbol!, dispatch_id INTEGER NOT NULL, queue_id>info_queue!,"
	 "stream_id>info_stream!, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL,"
	 "private_segment_size INTEGER, group_segment_size INTEGER,"
	 "workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,"
	 "workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL,"
	 "grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL,"
	 "graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0,"
	 "region_name_id>string, event_id>event, extdata{}"},
	{"rocpd_memory_copy",
	 "nid>info_node!, pid>info_process!, tid>info_thread, start BIGINT NOT NULL,"
	 "\"end\" BIGINT NOT NULL, name_id>string!, dst_agent_id>info_agent, dst_address INTEGER,"
	 "src_agent_id>info_agent, src_address INTEGER, size INTEGER NOT NULL,"
	 "queue_id>info_queue, stream_id>info_stream,"
	 "graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0,"
	 "region_name_id>string, event_id>event, extdata{}"},
	{"rocpd_memory_allocate",
	 "nid>info_node!, pid>info_process!, tid>info_thread, agent_id>info_agent,"
	 "type TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')),"
	 "level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')), start BIGINT NOT NULL,"
	 "\"end\" BIGINT NOT NULL, address INTEGER, size INTEGER NOT NULL, queue_id>info_queue,"
	 "stream_id>info_stream, event_id>event, extdata{}"},
	{"rocpd_graph_launch",
	 "nid>info_node!, pid>info_process!, tid>info_thread, agent_id>info_agent,"
	 "queue_id>info_queue, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL,"
	 "graph_exec_id INTEGER NOT NULL, kernel_dispatch_count INTEGER, event_id>event,"
	 "extdata{}"},
};

/* What several views begin or end with. X is the table that a view is about. */
#define HOST                                                                                       \
	"N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release,"       \
	" N.version AS system_version, X.guid, P.ppid, P.pid, "
#define ROW                                                                                        \
	"X.id, X.guid, (SELECT string FROM rocpd_string C WHERE C.id = E.category_id"              \
	" AND C.guid = E.guid) AS category, X.nid, P.pid, T.tid, X.start, X.\"end\","              \
	" X.\"end\" - X.start AS duration, "
#define STACK "E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id "
#define JOINS "<E event X.event_id><P info_process X.pid><T info_thread X.tid>;"

static const char views[] =
	"CREATE VIEW processes AS SELECT " HOST "X.init, X.start, X.\"end\", X.fini, X.command"
	" FROM rocpd_info_process X<N info_node X.nid><P info_process X.id>;"

	"CREATE VIEW threads AS SELECT " HOST "X.tid, X.start, X.\"end\", X.name"
	" FROM rocpd_info_thread X<P info_process X.pid><N info_node X.nid>;"

	"CREATE VIEW code_objects AS SELECT X.id, X.guid, X.nid, P.pid,"
	" A.absolute_index AS agent_abs_index, X.uri, X.load_base, X.load_size, X.load_delta,"
	" X.storage_type AS storage_type_str"
	" FROM rocpd_info_code_object X<A info_agent X.agent_id><P info_process X.pid>;"

	"CREATE VIEW kernel_symbols AS SELECT X.id, X.guid, X.nid, P.pid, X.code_object_id,"
	" X.kernel_name, X.display_name, X.kernel_object, X.kernarg_segment_size,"
	" X.kernarg_segment_alignment, X.group_segment_size, X.private_segment_size,"
	" X.sgpr_count, X.arch_vgpr_count, X.accum_vgpr_count,"
	" json_extract(X.extdata, '$.kernel_id') AS kernel_id,"
	" json_extract(X.extdata, '$.demangled_kernel_name') AS demangled_kernel_name"
	" FROM rocpd_info_kernel_symbol X<P info_process X.pid>;"

	"CREATE VIEW regions AS SELECT " ROW "R.string AS name, X.event_id, E.extdata,"
	" E.call_stack, E.line_info, " STACK "FROM rocpd_region X<R string X.name_id>" JOINS

	"CREATE VIEW kernels AS SELECT " ROW "R.string AS region, K.display_name AS name,"
	" {A }, K.code_object_id, X.kernel_id, X.dispatch_id, X.stream_id, X.queue_id,"
	" Q.name AS queue, S.name AS stream, X.grid_size_x AS grid_x, X.grid_size_y AS grid_y,"
	" X.grid_size_z AS grid_z, X.workgroup_size_x AS workgroup_x,"
	" X.workgroup_size_y AS workgroup_y, X.workgroup_size_z AS workgroup_z,"
	" X.group_segment_size AS lds_size, X.private_segment_size AS scratch_size,"
	" K.arch_vgpr_count AS vgpr_count, K.accum_vgpr_count, K.sgpr_count,"
	" K.group_segment_size AS static_lds_size,"
	" K.private_segment_size AS static_scratch_size, X.graph_exec_id, X.graph_node_id, " STACK
	"FROM rocpd_kernel_dispatch X<A info_agent X.agent_id><R string X.region_name_id>"
	"<K info_kernel_symbol X.kernel_id><?S info_stream X.stream_id>"
	"<?Q info_queue X.queue_id>" JOINS

	"CREATE VIEW memory_copies AS SELECT " ROW "N.string AS name, R.string AS region_name,"
	" X.stream_id, X.queue_id, S.name AS stream_name, Q.name AS queue_name, X.size,"
	" D.name AS dst_device, {D dst_}, X.dst_address, F.name AS src_device, {F src_},"
	" X.src_address, X.graph_exec_id, X.graph_node_id, " STACK
	"FROM rocpd_memory_copy X<N string X.name_id><?R string X.region_name_id>"
	"<D info_agent X.dst_agent_id><F info_agent X.src_agent_id>"
	"<?Q info_queue X.queue_id><?S info_stream X.stream_id>" JOINS

	"CREATE VIEW memory_allocations AS SELECT " ROW "X.type, X.level, A.name AS agent_name,"
	" {A }, X.address, X.size, X.queue_id, Q.name AS queue_name, X.stream_id,"
	" S.name AS stream_name, " STACK "FROM rocpd_memory_allocate X<?A info_agent X.agent_id>"
	"<?Q info_queue X.queue_id><?S info_stream X.stream_id>" JOINS

	"CREATE VIEW graph_launches AS SELECT " ROW "{A }, X.queue_id, X.graph_exec_id,"
	" X.kernel_dispatch_count, " STACK
	"FROM rocpd_graph_launch X<?A info_agent X.agent_id>" JOINS

	"CREATE VIEW top_kernels AS SELECT name, count(*) AS total_calls,"
	" sum(duration) / 1000.0 AS total_duration, avg(duration) / 1000.0 AS average,"
	" sum(duration) * 100.0 / nullif((SELECT sum(duration) FROM kernels), 0) AS percentage"
	" FROM kernels GROUP BY name ORDER BY total_duration DESC;";

/* Characters of TEXT that are part of a name. */
static int name_chars(const char *text)
{
	return (int)strspn(text, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ.");
}

/* Each of these appends what the abbreviation at AT stands for, and returns what follows it. */
static const char *put_reference(sqlite3_str *sql, const char *at, const char *suffix)
{
	int chars = name_chars(at + 1);
	bool is_needed = at[1 + chars] == '!';

	sqlite3_str_appendf(sql, " INTEGER%s REFERENCES \"rocpd_%.*s%s\" (id) ON UPDATE CASCADE",
			    is_needed ? " NOT NULL" : "", chars, at + 1, suffix);
	return at + 1 + chars + is_needed;
}

static const char *put_join(sqlite3_str *sql, const char *at)
{
	const char *name = at + 1 + (at[1] == '?');
	const char *table = name + name_chars(name) + 1;
	const char *column = table + name_chars(table) + 1;
	int chars = name_chars(name);

	sqlite3_str_appendf(sql,
			    " %s JOIN rocpd_%.*s %.*s ON %.*s.id = %.*s AND %.*s.guid = X.guid",
			    at[1] == '?' ? "LEFT" : "INNER", name_chars(table), table, chars, name,
			    chars, name, name_chars(column), column, chars, name);
	return column + name_chars(column) + 1;
}

static const char *put_braces(sqlite3_str *sql, const char *at)
{
	static const char *const columns[][2] = {
		{"absolute_index", "agent_abs_index"},
		{"logical_index", "agent_log_index"},
		{"type_index", "agent_type_index"},
		{"type", "agent_type"},
	};
	int chars = name_chars(at + 1), start = name_chars(at + 2 + chars);

	if (chars == 0) {
		sqlite3_str_appendall(sql, " JSONB DEFAULT '{}' NOT NULL");
		return at + 2;
	}
	for (int i = 0; i < 4; i++)
		sqlite3_str_appendf(sql, "%s%.*s.%s AS %.*s%s", i ? ", " : "", chars, at + 1,
				    columns[i][0], start, at + 2 + chars, columns[i][1]);
	return at + chars + start + 3;
}

/* TEXT in full; to be freed with sqlite3_free. NULL: out of memory. */
static char *fill_in(const char *text, const char *suffix)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	while (*text) {
		int chars = (int)strcspn(text, "><{'");

		sqlite3_str_append(sql, text, chars);
		text += chars;
		if (*text == '>')
			text = put_reference(sql, text, suffix);
		else if (*text == '<')
			text = put_join(sql, text);
		else if (*text == '{')
			text = put_braces(sql, text);
		else if (*text) { /* a text in quotes stays as it is */
			chars = (int)strcspn(text + 1, "'") + 2;
			sqlite3_str_append(sql, text, chars);
			text += chars;
		}
	}
	return sqlite3_str_finish(sql);
}

/* Runs SQL, which this function frees; NULL stands for lack of memory. */
static int run_and_free(struct sqlite_file *file, char *sql)
{
	int err = sql ? sqlite_file_run(file, sql)
		      : dagtap_error_set(file->error, -ENOMEM, "%s: out of memory", file->name);

	sqlite3_free(sql);
	return err;
}

static int create_table(struct sqlite_file *file, const struct rocpd_names *names, size_t table)
{
	char *columns = fill_in(tables[table].columns, names->suffix);
	int err = run_and_free(
		file,
		columns ? sqlite3_mprintf("CREATE TABLE \"%s%s\" (id INTEGER NOT NULL PRIMARY KEY "
					  "AUTOINCREMENT, guid TEXT DEFAULT '%s' NOT NULL, %s);"
					  "CREATE VIEW %s AS SELECT * FROM \"%s%s\"",
					  tables[table].name, names->suffix, names->guid, columns,
					  tables[table].name, tables[table].name, names->suffix)
			: NULL);

	sqlite3_free(columns);
	return err;
}

int rocpd_create_tables(struct sqlite_file *file, const struct rocpd_names *names)
{
	int err = run_and_free(
		file, sqlite3_mprintf(
			      "CREATE TABLE \"rocpd_metadata%s\" (id INTEGER NOT NULL PRIMARY KEY "
			      "AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL);"
			      "CREATE VIEW rocpd_metadata AS SELECT * FROM \"rocpd_metadata%s\";"
			      "INSERT INTO \"rocpd_metadata%s\" (tag, value) VALUES"
			      "('schema_version', '3.0.2'), ('uuid', '%s'), ('guid', '%s'),"
			      "('dagtap', '%s')",
			      names->suffix, names->suffix, names->suffix, names->suffix,
			      names->guid, DAGTAP_VERSION));

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && err == 0; i++)
		err = create_table(file, names, i);
	return err;
}

int rocpd_create_views(struct sqlite_file *file)
{
	return run_and_free(file, fill_in(views, ""));
}

int rocpd_prepare_insert(struct sqlite_file *file, const struct rocpd_names *names,
			 const char *table, const char *columns, const char *values,
			 sqlite3_stmt **ret_statement)
{
	sqlite3_str *sql = sqlite3_str_new(file->sqlite);
	char *text;
	int err = 0;

	sqlite3_str_appendf(sql, "INSERT INTO \"%s%s\" (%s) VALUES (", table, names->suffix,
			    columns);
	if (values)
		sqlite3_str_appendall(sql, values);
	else
		sqlite3_str_appendall(sql, "?");
	for (const char *at = columns; !values && (at = strchr(at, ',')); at++)
		sqlite3_str_appendall(sql, ", ?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return dagtap_error_set(file->error, -ENOMEM, "%s: out of memory", file->name);
	if (sqlite3_prepare_v3(file->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, ret_statement,
			       NULL) != SQLITE_OK)
		err = sqlite_file_fail(file);
	sqlite3_free(text);
	return err;
}
