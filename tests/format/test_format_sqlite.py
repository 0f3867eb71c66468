#!/usr/bin/env python3
"""dagtap export --format sqlite, read by Python's sqlite3: tables equal CSV's, views say what their
names say."""

import collections
import gzip
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
DAGTAP = BUILD / "bin" / "dagtap"

sys.path.insert(0, str(SOURCE / "tests" / "python"))
from table_csv import RECORDINGS, describe, expect_csv  # pylint: disable=wrong-import-position


def export(recording, out, **options):
    return subprocess.run([DAGTAP, "export", "--format", "sqlite", "--force", "-o", out, recording],
                          check=False, stderr=subprocess.PIPE, **options)


class Database(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.databases = {}
        for recording in RECORDINGS:
            path = cls.path / (recording.name + ".sqlite")
            result = export(recording, path)
            assert result.returncode == 0, result.stderr
            cls.databases[recording] = sqlite3.connect(path)
        cls.jax = cls.databases[RECORDINGS[1]]

    @classmethod
    def tearDownClass(cls):
        for database in cls.databases.values():
            database.close()
        cls.folder.cleanup()

    def test_tables_equal_csv(self):
        for recording, database in self.databases.items():
            self.assertEqual(database.execute("pragma integrity_check").fetchall(), [("ok",)])
            for table, described in describe().items():
                with self.subTest(recording=recording.name, table=table):
                    rows = database.execute(f"select * from {table} order by rowid").fetchall()
                    # SQLite's integers are signed.
                    unsigned = [column.type == "uint64" for column in described]
                    rows = [[value % 2 ** 64 if is_unsigned and value is not None else value
                             for value, is_unsigned in zip(row, unsigned)] for row in rows]
                    expect_csv(self, recording, table, rows)

    def test_columns_have_names_types_and_units(self):
        types = {"double": "REAL", "name": "TEXT", "text": "TEXT"}
        for table, described in describe().items():
            stored = self.jax.execute(f"pragma table_info({table})").fetchall()
            self.assertEqual([(row[1], row[2]) for row in stored],
                             [(column.name, types.get(column.type, "INTEGER"))
                              for column in described])
            units = self.jax.execute("select column_name, ifnull(unit, '') from columns "
                                     "where table_name = ? order by rowid", (table,)).fetchall()
            self.assertEqual(units, [(column.name, column.unit)
                                     for column in described])

    def test_version(self):
        self.assertEqual(self.jax.execute(
            "select value from dagtap where key = 'tables_version'").fetchone(), ("1",))

    def test_joins_use_indexes(self):
        plan = self.jax.execute("explain query plan select * from launched "
                                "where start_ns between 1 and 2").fetchall()
        text = " ".join(row[3] for row in plan)
        self.assertIn("activities_by_start", text)
        self.assertIn("calls_by_cid", text)

    def rows(self, query):
        cursor = self.jax.execute(query)
        return [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]

    def test_every_view_can_be_read(self):
        for database in self.databases.values():
            views = database.execute("select name from sqlite_master where type = 'view'")
            for view, in views.fetchall():
                with self.subTest(view=view):
                    database.execute(f"select * from {view}").fetchall()

    def test_kernel_summary(self):
        by_name = collections.defaultdict(list)
        for row in self.rows("select * from activities where kind = 'kernel'"):
            by_name[row["name"]].append(row["duration_ns"])
        expected = {name: (len(times), sum(times), min(times), max(times))
                    for name, times in by_name.items()}
        view = self.rows("select * from kernel_summary")
        self.assertEqual({row["name"]: (row["count"], row["total_ns"], row["least_ns"],
                                        row["most_ns"]) for row in view}, expected)
        totals = [row["total_ns"] for row in view]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_copy_and_call_summaries(self):
        copies = self.rows("select * from activities where kind <> 'kernel'")
        self.assertEqual(sum(row["count"] for row in self.rows("select * from copy_summary")),
                         len(copies))
        self.assertEqual(sum(row["bytes"] or 0 for row in self.rows("select * from copy_summary")),
                         sum(row["bytes"] or 0 for row in copies))
        calls = self.rows("select * from calls")
        summary = self.rows("select * from api_summary")
        self.assertEqual(sum(row["count"] for row in summary), len(calls))
        self.assertEqual(sum(row["failed"] for row in summary),
                         sum(row["result"] != 0 for row in calls))

    def test_launched_has_each_activity_once(self):
        launched = self.rows("select * from launched order by process, cid, ordinal")
        self.assertEqual(len(launched), len(self.rows("select * from activities")))
        begins = {(row["process"], row["cid"]): row["begin_ns"]
                  for row in self.rows("select * from calls")}
        for row in launched:
            self.assertEqual(row["call_begin_ns"], begins.get((row["process"], row["cid"])))

    def test_replays_and_nodes_have_the_work_of_graphs(self):
        work = [row for row in self.rows("select * from activities") if row["exec"] is not None]
        replays = self.rows("select * from replays")
        self.assertEqual(len(replays), len(self.rows("select * from launches")))
        self.assertEqual(sum(row["activities"] for row in replays), len(work))
        self.assertEqual(sum(row["work_ns"] or 0 for row in replays),
                         sum(row["duration_ns"] or 0 for row in work))
        nodes = self.rows("select * from graph_node_summary")
        self.assertEqual(len(nodes), len(self.rows("select * from graph_nodes")))
        self.assertEqual(sum(row["count"] for row in nodes),
                         sum(row["node"] is not None for row in work))

    def test_stream_gaps(self):
        last = {}
        expected = []
        for row in self.rows("select * from activities where start_ns is not null "
                             "order by start_ns, end_ns, rowid"):
            stream = row["process"], row["device"], row["stream"]
            expected.append(row["start_ns"] - last[stream] if stream in last else None)
            last[stream] = max(row["end_ns"], last.get(stream, row["end_ns"]))
        view = self.rows("select * from stream_gaps")
        self.assertEqual(sorted(row["gap_ns"] for row in view if row["gap_ns"] is not None),
                         sorted(gap for gap in expected if gap is not None))
        self.assertEqual(len(view), len(expected))

    def test_same_recording_gives_same_bytes(self):
        one, two = self.path / "one", self.path / "two"
        export(RECORDINGS[2], one)
        with open(two, "wb") as out:
            export(RECORDINGS[2], "-", stdout=out)
        self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_no_temporary_file_stays(self):
        folder = self.path / "temporary"
        folder.mkdir()
        result = export(RECORDINGS[2], self.path / "x", env={**os.environ, "TMPDIR": str(folder)})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(list(folder.iterdir()), [])

    def test_pipe_needs_a_folder_for_temporary_files(self):
        environment = {**os.environ, "TMPDIR": str(self.path / "absent")}
        result = export(RECORDINGS[2], "-", stdout=subprocess.PIPE, env=environment)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(b"absent/dagtap-sqlite-", result.stderr)
        self.assertIn(b"No such file or directory", result.stderr)

    def test_file_needs_none(self):
        out = self.path / "direct"
        result = export(RECORDINGS[2], out, env={**os.environ, "TMPDIR": str(self.path / "absent")})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(sqlite3.connect(out).execute("pragma integrity_check").fetchall(),
                         [("ok",)])

    def test_compressed_file_is_a_copy(self):
        plain, packed = self.path / "plain", self.path / "packed.gz"
        self.assertEqual([export(RECORDINGS[2], out).returncode for out in (plain, packed)], [0, 0])
        self.assertEqual(gzip.decompress(packed.read_bytes()), plain.read_bytes())

    def test_full_disk_is_reported(self):
        with open("/dev/full", "wb") as full:
            result = export(RECORDINGS[2], "-", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"No space left on device", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
