#!/usr/bin/env python3
"""rocpd, written and read: the views of AMD's schema show each row, reading gives back what the
schema holds, older and damaged files are read as far as they go or refused."""

import collections
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
SEED = int(os.environ.get("DAGTAP_TEST_SEED", "1"))

sys.path.insert(0, str(SOURCE / "tests" / "python"))
# pylint: disable=wrong-import-position
from table_csv import RECORDINGS, describe, read_csv

JAX = RECORDINGS[1]
VIEWS = {"rocpd_kernel_dispatch": "kernels", "rocpd_memory_copy": "memory_copies",
         "rocpd_region": "regions", "rocpd_memory_allocate": "memory_allocations",
         "rocpd_graph_launch": "graph_launches", "rocpd_info_process": "processes",
         "rocpd_info_thread": "threads", "rocpd_info_code_object": "code_objects",
         "rocpd_info_kernel_symbol": "kernel_symbols"}

# What the schema holds of each table's columns.
HELD = {
    "activities": ["device", "stream", "thread", "kind", "name", "start_ns", "end_ns", "grid_x",
                   "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "bytes",
                   "direction", "cid", "api", "exec", "node", "untimed", "registers",
                   "group_bytes", "private_bytes", "scalar_registers", "queue"],
    "calls": ["thread", "cid", "api", "begin_ns", "end_ns", "exec", "activities"],
    "scopes": ["thread", "kind", "text", "begin_ns", "end_ns", "open"],
    "memory": ["cid", "api", "operation", "address", "bytes"],
    "threads": ["thread", "name"],
    "processes": ["process", "parent_process", "session", "start_realtime_ns", "host", "exe"],
}


def dagtap(*arguments):
    return subprocess.run([BUILD / "bin" / "dagtap", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def rows_of(recording, table):
    names = [column.name for column in describe()[table]]
    return [dict(zip(names, row)) for row in read_csv(recording, table)]


def held(recording, table):
    rows = rows_of(recording, table)
    if table == "scopes":  # scopes without times, of another tool's file, are not written
        rows = [row for row in rows if row["begin_ns"] is not None]
    for row in rows:
        if row.get("kind") in ("copy", "memset"):  # Kineto's names of copies
            row["name"] = None
    return collections.Counter(tuple(row[name] for name in HELD[table]) for row in rows)


class Rocpd(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def export(self, recording):
        out = self.path / (recording.name + ".db")
        result = dagtap("export", "--force", "--format", "rocpd", "-o", out, recording)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return out

    def sample(self):
        out = self.path / "sample.db"
        with open(out, "wb") as file:
            subprocess.run([BUILD / "tests" / "write_sample", "rocpd"], stdout=file, check=True)
        return out

    def open(self, path):
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        return database

    def change(self, path, *statements):
        """A copy of the database, changed; {} is its suffix."""
        changed = self.path / "changed.db"
        shutil.copy(path, changed)
        database = sqlite3.connect(changed)
        suffix = database.execute("select value from rocpd_metadata where tag = 'uuid'").fetchone()[0]
        database.execute("pragma writable_schema = on")
        for statement in statements:
            database.execute(statement.replace("{}", suffix))
        database.commit()
        database.close()
        return changed

    def two_processes(self):
        """A program and its fork child, which run the same kernels."""
        out = self.path / "fork.dagtap"
        result = dagtap("record", "--force", "--softgpu", "-o", out, "--",
                        BUILD / "examples" / "fork-exec", "100")
        self.assertEqual(result.returncode, 0, result.stderr)
        return out

    def files(self):
        return [self.export(recording) for recording in [*RECORDINGS, self.two_processes()]] + [
            self.sample()]

    def test_views_show_every_row(self):
        for path in self.files():
            database = self.open(path)
            self.assertEqual(database.execute("pragma integrity_check").fetchall(), [("ok",)])
            self.assertEqual(database.execute("pragma foreign_key_check").fetchall(), [])
            for table, view in VIEWS.items():
                counts = [database.execute(f"select count(*) from {name}").fetchone()[0]
                          for name in (table, view)]
                with self.subTest(file=path.name, view=view):
                    self.assertEqual(*counts)

    def test_tables_have_the_suffix(self):
        database = self.open(self.sample())
        meta = dict(database.execute("select tag, value from rocpd_metadata").fetchall())
        self.assertEqual(meta["schema_version"], "3.0.2")
        self.assertRegex(meta["guid"],
                         "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assertEqual(meta["uuid"], "_" + meta["guid"].replace("-", "_"))
        for table, in database.execute("select name from sqlite_master where type = 'table' "
                                       "and name like 'rocpd%'").fetchall():
            self.assertTrue(table.endswith(meta["uuid"]), table)
            if not table.startswith("rocpd_metadata"):
                self.assertEqual(database.execute(
                    f"select count(*) from \"{table}\" where guid <> ?",
                    (meta["guid"],)).fetchone(), (0,))

    def test_sums_equal_the_tables(self):
        for recording in RECORDINGS:
            database = self.open(self.export(recording))
            kernels = collections.Counter()
            for row in rows_of(recording, "activities"):
                if row["kind"] == "kernel":
                    kernels[row["name"] or "unknown_kernel"] += row["duration_ns"] or 0
            self.assertEqual(dict(database.execute(
                "select name, sum(duration) from kernels group by name").fetchall()), kernels)
            joined = database.execute(
                "select count(*) from kernels k join regions r on r.stack_id = k.stack_id "
                "and r.guid = k.guid and r.category not like 'MARKER%'").fetchone()[0]
            self.assertEqual(joined, sum(row["api"] is not None and row["kind"] == "kernel"
                                         for row in rows_of(recording, "activities")))

    def test_processes_have_guids_of_their_own(self):
        """AMD's summary by rank groups by guid, and takes the process of any row of the group."""
        recording = self.two_processes()
        database = self.open(self.export(recording))
        for view, table in (("kernels", "activities"), ("regions", "calls")):
            expected = collections.Counter(row["process"] for row in rows_of(recording, table)
                                           if row.get("kind", "kernel") == "kernel")
            self.assertEqual(len(expected), 2)
            with self.subTest(view=view):
                self.assertEqual(dict(database.execute(
                    f"select min(pid), count(*) from {view} group by guid").fetchall()), expected)
        self.assertEqual(database.execute(
            "select count(*), count(distinct guid), count(distinct nid) from processes"
            ).fetchone(), (2, 2, 2))

    def test_agents_have_what_converters_read(self):
        """AMD's converters to OTF2 and Perfetto load an agent from its extdata."""
        for path in self.files():
            rows = self.open(path).execute(
                "select name, type, absolute_index, type_index, extdata from rocpd_info_agent"
                ).fetchall()
            self.assertGreater(len(rows), 0)
            for name, kind, index, type_index, extdata in rows:
                agent = json.loads(extdata)
                self.assertEqual(
                    (agent["name"], agent["type"], agent["node_id"], agent["logical_node_type_id"]),
                    (name or "", {"CPU": 1, "GPU": 2}[kind], index, type_index))
                self.assertEqual(agent["gpu_index"], type_index if kind == "GPU" else -1)
                self.assertEqual(agent["capability"]["VALimit"], 0)
                self.assertEqual((agent["mem_banks"], agent["caches"], agent["io_links"]), ([],) * 3)

    def test_sample(self):
        database = self.open(self.sample())
        self.assertEqual(database.execute(
            "select name, start - 1000000, \"end\" - 1000000, stack_id, queue, stream, region, "
            "graph_exec_id, graph_node_id, grid_x, workgroup_x from kernels "
            "where stack_id = 1").fetchall(), [
                ("void a<int, 4>(int*)", 1200, 1500, 1, "Queue 1", "Stream 1",
                 'step "1"/layer', 9, 1, 1000, 256),
                ("b", 1300, 1700, 1, "Queue 1", "Stream 1", 'step "1"/layer', 9, 2, 1000, 256),
                ("void a<int, 4>(int*)", 1400, 1450, 1, "Queue 1", "Stream 1",
                 'step "1"/layer', 9, 3, 1000, 256)])
        self.assertEqual(database.execute(
            "select k.name, k.stream, d.extdata from kernels k join rocpd_kernel_dispatch d "
            "using (id) where k.stack_id = 0").fetchall(), [
                ("orphan", "(no stream)", '{"untimed":"not finished when tracing ended"}')])
        self.assertEqual(database.execute(
            "select graph_exec_id, kernel_dispatch_count, start - 1000000, \"end\" - 1000000 "
            "from graph_launches").fetchall(), [(9, 3, 1200, 1700), (9, 3, 1700, 1900)])
        self.assertEqual(database.execute(
            "select name, size, dst_agent_type, src_agent_type, stream_name "
            "from memory_copies").fetchall(), [
                ("MEMORY_COPY_HOST_TO_DEVICE", 4096, "GPU", "CPU", "Stream 0"),
                ("MEMORY_SET", 4096, "GPU", "GPU", "Stream 0")])

    def test_round_trip(self):
        for recording in RECORDINGS:
            out = self.export(recording)
            for table in HELD:
                with self.subTest(recording=recording.name, table=table):
                    self.assertEqual(held(out, table), held(recording, table))

    def test_second_round_gives_the_same(self):
        out = self.export(JAX)
        again = self.export(out)
        for table in HELD:
            self.assertEqual(held(again, table), held(out, table))

    def test_every_command_reads_it(self):
        out = self.export(JAX)
        for command in ("summary", "path", "graph", "scopes", "info", "gaps", "memory"):
            result = dagtap(command, out)
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)
        self.assertEqual(dagtap("report", out, "-o", self.path / "report.html").returncode, 0)
        self.assertIn("nothing changed", dagtap("diff", JAX, out).stdout)

    def test_same_recording_gives_same_bytes(self):
        first = self.export(JAX).read_bytes()
        self.assertEqual(self.export(JAX).read_bytes(), first)

    def test_older_versions(self):
        """3.0.0 has no columns and no table for graphs, and says "3"."""
        out = self.change(
            self.export(JAX), 'drop view kernels', 'drop view memory_copies',
            'drop view graph_launches', 'drop view rocpd_graph_launch', 'drop view top_kernels',
            'alter table "rocpd_kernel_dispatch{}" drop column graph_exec_id',
            'alter table "rocpd_kernel_dispatch{}" drop column graph_node_id',
            'alter table "rocpd_memory_copy{}" drop column graph_exec_id',
            'alter table "rocpd_memory_copy{}" drop column graph_node_id',
            'drop table "rocpd_graph_launch{}"',
            "update \"rocpd_metadata{}\" set value = '3' where tag = 'schema_version'",
            "delete from \"rocpd_metadata{}\" where tag = 'dagtap'")
        rows = rows_of(out, "activities")
        self.assertEqual(len(rows), len(rows_of(JAX, "activities")))
        self.assertEqual({row["exec"] for row in rows}, {None})

    def test_other_versions_are_refused(self):
        for version, text in (("4.1.0", "rocpd of version 4.1.0; 3 can be read"),
                              ("30", "rocpd of version 30; 3 can be read")):
            out = self.change(self.sample(), 'update "rocpd_metadata{}" set value = '
                              f"'{version}' where tag = 'schema_version'")
            result = dagtap("summary", out)
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)
        out = self.change(self.sample(), 'delete from "rocpd_metadata{}"')
        self.assertIn("rocpd without a version", dagtap("summary", out).stderr)

    def test_other_databases_are_refused(self):
        out = self.path / "tables.sqlite"
        dagtap("export", "--format", "sqlite", "-o", out, JAX)
        self.assertIn("a SQLite database, but not of rocpd", dagtap("summary", out).stderr)
        (self.path / "text.db").write_text("no database")
        self.assertIn("no SQLite database", dagtap("summary", self.path / "text.db").stderr)

    def test_roctx_before_10_1(self):
        """The region is named after roctx's function, and the event has the text."""
        sample = self.sample()
        out = self.change(
            sample, "delete from \"rocpd_metadata{}\" where tag = 'dagtap'",
            'insert into "rocpd_string{}" (id, string) values (9000, \'roctxRangePushA\')',
            'update "rocpd_region{}" set name_id = 9000 where event_id in '
            '(select event_id from regions where category like \'MARKER%\')',
            'update "rocpd_event{}" set extdata = json_object(\'message\', '
            'json_extract(extdata, \'$.message\'))')
        self.assertEqual(sorted((row["text"], row["kind"]) for row in rows_of(out, "scopes")),
                         [(text, "roctx") for text in
                          ("layer", "mark", "range 1", "range 2", 'step "1"')])

    def test_merged_file(self):
        """Tables of two recordings, as AMD's tools merge them."""
        out = self.change(self.export(JAX))
        other = self.sample()
        database = sqlite3.connect(out)
        database.execute("attach ? as other", (str(other),))
        for name, sql in database.execute(
                "select name, sql from other.sqlite_master where type = 'table' "
                "and name like 'rocpd%'").fetchall():
            database.execute(sql)
            database.execute(f'insert into main."{name}" select * from other."{name}"')
        database.commit()
        database.close()
        for table in ("activities", "calls", "scopes", "processes"):
            self.assertEqual(len(rows_of(out, table)),
                             len(rows_of(JAX, table)) + len(rows_of(other, table)))

    def test_write_ahead_log(self):
        out = self.change(self.sample(), "pragma user_version = 1")
        database = sqlite3.connect(out)
        self.assertEqual(database.execute("pragma journal_mode = wal").fetchone(), ("wal",))
        database.execute("pragma wal_checkpoint(truncate)")
        shutil.copy(out, self.path / "wal.db")
        database.close()
        self.assertEqual((self.path / "wal.db").read_bytes()[18], 2)
        self.assertEqual(held(self.path / "wal.db", "activities"), held(out, "activities"))

    def survives(self, path):
        for command in (["path"], ["export", "--format", "csv", "-o", "-"]):
            result = dagtap(*command, path)
            self.assertIn(result.returncode, (0, 1, 3), result.stderr)
            if result.returncode == 1:
                self.assertIn(path.name, result.stderr)

    def test_missing_tables(self):
        sample = self.sample()
        names = [name for name, in self.open(sample).execute(
            "select name from sqlite_master where type = 'table' and name like 'rocpd%'")]
        for name in names:
            with self.subTest(table=name):
                self.survives(self.change(
                    sample, f"delete from sqlite_master where tbl_name = '{name}'"))

    def test_null_everywhere(self):
        sample = self.sample()
        database = self.open(sample)
        tables = database.execute("select name, sql from sqlite_master where type = 'table' "
                                  "and name like 'rocpd%'").fetchall()
        for name, sql in tables:
            if name.startswith("rocpd_metadata"):
                continue
            loose = sql.replace("NOT NULL", "").replace("'", "''")
            names = [row[1] for row in database.execute(f'pragma table_info("{name}")')][1:]
            for nulls in [names] + [[column] for column in names if column.endswith("id")]:
                with self.subTest(table=name, columns=nulls):
                    path = self.change(
                        sample, f"update sqlite_master set sql = '{loose}' where name = '{name}'",
                        "pragma schema_version = 9999")
                    changed = sqlite3.connect(path)
                    sets = ", ".join(f'"{column}" = null' for column in nulls)
                    changed.execute(f'update "{name}" set {sets}')
                    changed.commit()
                    changed.close()
                    self.assertIn(dagtap("summary", path).returncode, (0, 1, 3))

    def test_view_in_place_of_a_table(self):
        out = self.change(
            self.sample(), 'drop table "rocpd_region{}"',
            'create view "rocpd_region{}" as with recursive r(id) as '
            '(select 1 union all select id + 1 from r) select * from r')
        self.assertEqual(rows_of(out, "calls"), [])

    def test_damaged_bytes(self):
        whole = bytearray(self.sample().read_bytes())
        chance = random.Random(SEED)
        path = self.path / "damaged.db"
        for _ in range(60):
            damaged = whole[:]
            for _ in range(chance.choice((1, 4, 32))):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            if chance.random() < 0.2:
                del damaged[chance.randrange(len(damaged)):]
            path.write_bytes(damaged)
            self.survives(path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
