/* What people ask of the tables of a SQLite file: indexes for joins and intervals, and views. */
#include "format/sqlite/sqlite_schema.h"

const char sqlite_indexes[] =
	"CREATE INDEX activities_by_start ON activities (start_ns);"
	"CREATE INDEX activities_by_name ON activities (name);"
	"CREATE INDEX activities_by_cid ON activities (process, cid);"
	"CREATE INDEX activities_by_node ON activities (process, graph, node);"
	"CREATE INDEX activities_by_launch ON activities (process, exec, replay);"
	"CREATE INDEX activities_by_scope ON activities (process, launch_scope_id);"
	"CREATE INDEX calls_by_cid ON calls (process, cid);"
	"CREATE INDEX calls_by_begin ON calls (begin_ns);"
	"CREATE INDEX scopes_by_id ON scopes (process, scope_id);"
	"CREATE INDEX scopes_by_text ON scopes (text);"
	"CREATE INDEX scope_attributes_by_scope ON scope_attributes (process, scope_id);"
	"CREATE INDEX graph_nodes_by_node ON graph_nodes (process, graph, node);"
	"CREATE INDEX events_by_cid ON events (process, cid);"
	"CREATE INDEX waits_by_cid ON waits (process, cid);"
	"CREATE INDEX memory_by_address ON memory (process, address);";

/* The figures of durations that several views have. */
#define TIMES                                                                                      \
	"sum(duration_ns) AS total_ns, avg(duration_ns) AS average_ns, "                           \
	"min(duration_ns) AS least_ns, max(duration_ns) AS most_ns "

const char sqlite_views[] =
	"CREATE VIEW kernel_summary AS"
	" SELECT name, count(*) AS count, " TIMES
	" FROM activities WHERE kind = 'kernel' GROUP BY name ORDER BY total_ns DESC;"

	"CREATE VIEW copy_summary AS"
	" SELECT kind, direction, count(*) AS count, sum(bytes) AS bytes, " TIMES ","
	" sum(CASE WHEN duration_ns IS NOT NULL THEN bytes END) * 1e9 / nullif(sum(CASE WHEN bytes "
	"IS NOT NULL THEN duration_ns END), 0)"
	" AS bytes_per_s"
	" FROM activities WHERE kind <> 'kernel' GROUP BY kind, direction ORDER BY total_ns DESC;"

	"CREATE VIEW api_summary AS"
	" SELECT api, count(*) AS count, " TIMES ", sum(result <> 0) AS failed"
	" FROM calls GROUP BY api ORDER BY total_ns DESC;"

	/* Each activity with its call. */
	"CREATE VIEW launched AS"
	" SELECT a.*, c.begin_ns AS call_begin_ns, c.end_ns AS call_end_ns,"
	" c.thread AS call_thread, a.start_ns - c.begin_ns AS since_call_ns"
	" FROM activities a LEFT JOIN calls c ON c.process = a.process AND c.cid = a.cid;"

	/* Host time of the scopes with one path, and work that was launched right inside them. */
	"CREATE VIEW scope_summary AS"
	" WITH work AS (SELECT process, launch_scope_id AS scope_id, count(*) AS activities,"
	" sum(duration_ns) AS gpu_ns FROM activities GROUP BY process, launch_scope_id)"
	" SELECT s.scope, s.kind, count(*) AS count, " TIMES ","
	" coalesce(sum(w.activities), 0) AS activities, coalesce(sum(w.gpu_ns), 0) AS gpu_ns"
	" FROM scopes s LEFT JOIN work w ON w.process = s.process AND w.scope_id = s.scope_id"
	" GROUP BY s.scope, s.kind ORDER BY total_ns DESC;"

	"CREATE VIEW steps AS"
	" SELECT process, thread, scope_id, text, begin_ns, end_ns, duration_ns"
	" FROM scopes WHERE kind = 'step' ORDER BY begin_ns;"

	/* Each node over all replays. */
	"CREATE VIEW graph_node_summary AS"
	" SELECT n.process, n.graph, n.node, n.type, n.name, count(a.process) AS count, " TIMES
	" FROM graph_nodes n LEFT JOIN activities a"
	" ON a.process = n.process AND a.graph = n.graph AND a.node = n.node"
	" GROUP BY n.process, n.graph, n.node;"

	"CREATE VIEW replays AS"
	" SELECT l.process, l.exec, l.replay, l.graph, l.cid, count(a.process) AS activities,"
	" min(a.start_ns) AS start_ns, max(a.end_ns) AS end_ns,"
	" max(a.end_ns) - min(a.start_ns) AS duration_ns, sum(a.duration_ns) AS work_ns"
	" FROM launches l LEFT JOIN activities a"
	" ON a.process = l.process AND a.exec = l.exec AND a.replay = l.replay"
	" GROUP BY l.process, l.exec, l.replay;"

	/* Times between the activities of a stream. Negative where activities overlap. */
	"CREATE VIEW stream_gaps AS"
	" SELECT process, device, stream, name, kind, start_ns,"
	" start_ns - max(end_ns) OVER before AS gap_ns, cid"
	" FROM activities WHERE start_ns IS NOT NULL"
	" WINDOW before AS (PARTITION BY process, device, stream ORDER BY start_ns, end_ns"
	" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);"

	/* What waited for which record of an event. */
	"CREATE VIEW wait_producers AS"
	" SELECT w.*, p.api AS producer_api, p.begin_ns AS producer_begin_ns"
	" FROM waits w LEFT JOIN calls p ON p.process = w.process AND p.cid = w.producer_cid;";
