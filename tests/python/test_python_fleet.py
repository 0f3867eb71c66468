"""dagtap.fleet writes recordings as a fleet's store: what is in it, and what replaces what. The
queries of docs/fleet.md are in tests/conformance/test_conformance_fleet.py.

Needs pyarrow (exit status 77 without); "all" gets it as the conformance tests do.
"""

import collections
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

from table_csv import DATA, RECORDINGS, SOURCE, read_csv

if sys.argv[1:] == ["all"]:
    sys.path.insert(0, str(SOURCE / "tests" / "conformance"))
    from readers import TABLE_READERS, install_readers

    install_readers("requirements-tables.txt", TABLE_READERS)
    sys.path.insert(0, str(TABLE_READERS))
    del sys.argv[1:]

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    print("skipped: there is no pyarrow")
    sys.exit(77)

# pylint: disable=wrong-import-position
import dagtap
import dagtap.fleet
from dagtap.fleet import _sort, _steps
from dagtap.fleet.__main__ import main

JAX = DATA / "jax-steps.dagtap"
DAY = "day=2026-11-22"


class Made:
    """A recording that consists of the tables it is given."""

    def __init__(self, **tables):
        self.tables = tables

    def __getitem__(self, table):
        return self.tables[table]


class MadeTable:
    """A pyarrow.Table as dagtap.Table is used."""

    def __init__(self, **columns):
        self._rows = pyarrow.table(columns)

    def select(self, *columns):
        return self._rows.select(list(columns))


def names(*values):
    return pyarrow.array(values, pyarrow.string()).dictionary_encode()


def ids(*values):
    return pyarrow.array(values, pyarrow.uint64())


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "store"

    def write(self, recordings=JAX, **options):
        dagtap.fleet.write(recordings, self.root, **{"job": "train", **options})

    def list_files(self):
        return {str(path.relative_to(self.root)): path.stat().st_ino
                for path in self.root.rglob("*") if path.is_file()}

    def read(self, table, rank=0, day=DAY):
        path = self.root / table / "job=train" / day / f"rank={rank}" / "part-0.parquet"
        return pyarrow.parquet.ParquetFile(path).read()


class Written(Folder):
    def test_layout(self):
        self.write([JAX, JAX], ranks=[7, 12])
        self.assertEqual(
            sorted(self.list_files()),
            sorted(f"{table}/job=train/{DAY}/rank={rank}/part-0.parquet"
                   for table in dagtap.fleet.TABLES for rank in (7, 12)))

    def test_schema(self):
        self.write()
        for table, columns in dagtap.fleet.TABLES.items():
            schema = self.read(table).schema
            self.assertEqual(schema.names, list(columns))
            self.assertEqual(schema.metadata[b"dagtap.fleet_version"], b"1")
            self.assertEqual(schema.metadata[b"dagtap.table"], table.encode())

    def test_rows_are_those_of_the_recordings(self):
        self.write(RECORDINGS, day="2026-11-22")
        for rank, recording in enumerate(RECORDINGS):
            activities = self.read("activities", rank).to_pylist()
            head = [column.name for column in dagtap.open(recording)["activities"].columns]
            whole = [dict(zip(head, row)) for row in read_csv(recording, "activities")]
            for name in "process", "device", "stream", "kind", "name", "duration_ns", "node":
                self.assertEqual(collections.Counter(row[name] for row in activities),
                                 collections.Counter(row[name] for row in whole), name)
            starts = [row["start_ns"] for row in activities]
            self.assertEqual(starts, sorted(starts))
            for table in "ledger", "devices", "processes":
                self.assertEqual(self.read(table, rank).num_rows,
                                 len(read_csv(recording, table)))

    def test_times_are_of_the_wall_clock(self):
        self.write()
        clock = list(dagtap.open(JAX)["processes"])[0]
        first = min(row["start_ns"] for row in dagtap.open(JAX)["activities"])
        self.assertEqual(self.read("activities")["start_ns"][0].as_py(),
                         first - clock["start_ns"] + clock["start_realtime_ns"])
        self.assertEqual(self.read("processes")["start_ns"][0].as_py(),
                         clock["start_realtime_ns"])

    def test_build_and_recording(self):
        self.write(build="a1b2c3")
        process = self.read("processes").to_pylist()[0]
        self.assertEqual((process["build"], process["recording"], process["accounted"]),
                         ("a1b2c3", "jax-steps.dagtap", True))


class Replaced(Folder):
    def test_rank_that_is_written_twice_replaces_itself_alone(self):
        self.write([JAX, JAX])
        first = self.list_files()
        self.write(RECORDINGS[2], ranks=[1], day="2026-11-22")
        second = self.list_files()
        self.assertEqual(set(first), set(second))
        for path, inode in first.items():
            self.assertEqual(second[path] == inode, "rank=0" in path, path)
        self.assertEqual(self.read("activities", 1).num_rows,
                         len(read_csv(RECORDINGS[2], "activities")))

    def test_parts_do_not_replace_each_other(self):
        self.write()
        self.write(part="evening")
        self.assertEqual(len(self.list_files()), 2 * len(dagtap.fleet.TABLES))

    def test_foreign_file_stays_and_nothing_is_written(self):
        place = self.root / "ledger" / "job=train" / DAY / "rank=0"
        foreign = place / "part-0.parquet"
        for make in (lambda: foreign.write_text("mine"),
                     lambda: pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), foreign),
                     lambda: foreign.symlink_to("elsewhere"), foreign.mkdir):
            place.mkdir(parents=True, exist_ok=True)
            make()
            before = self.list_files()
            with self.assertRaises(dagtap.ExistsError):
                self.write()
            self.assertEqual(self.list_files(), before)
            self.assertTrue(os.path.lexists(foreign))
            if foreign.is_dir():
                foreign.rmdir()
            else:
                foreign.unlink()

    def test_failure_leaves_the_files_that_were_there(self):
        self.write()
        before = self.list_files()
        recording = dagtap.open(JAX)
        broken = Made(**{table: recording[table] for table in recording.tables})
        broken.file, broken.is_accounted_for = "broken", True
        broken.tables["ledger"] = Unreadable()
        with self.assertRaises(Unreadable.Error):
            self.write([broken])
        self.assertEqual(self.list_files(), before)


class Unreadable:
    class Error(Exception):
        pass

    def select(self, *_):
        raise self.Error


class Refused(Folder):
    def test_words(self):
        for options in ({"job": "a/b"}, {"job": ""}, {"job": ".."}, {"part": "a b"},
                        {"day": "yesterday"}, {"ranks": [0, 1]}, {"ranks": [-1]}):
            with self.subTest(**options), self.assertRaises(ValueError):
                self.write(**options)
        with self.assertRaises(ValueError):
            self.write([JAX, JAX], ranks=[3, 3])
        self.assertFalse(self.root.exists())

    def test_recording_that_is_not_there(self):
        with self.assertRaises(dagtap.NotFoundError):
            self.write(self.root / "absent.dagtap")

    def test_command(self):
        main(["-o", str(self.root), "--job", "train", "--ranks", "2-3", str(JAX), str(JAX)])
        self.assertEqual(self.read("activities", 3).num_rows, 344)
        for arguments, code in ((["--job", "a/b"], 2), (["--job", "a", "--ranks", "x"], 2)):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                main(["-o", str(self.root), *arguments, str(JAX)])
            self.assertEqual(ended.exception.code, code)
        with self.assertRaises(SystemExit) as ended:
            main(["-o", str(self.root), "--job", "a", "absent"])
        self.assertIn("dagtap.fleet: absent: No such file", ended.exception.code)


class Sorted(Folder):
    def sort(self, *runs, rows=3):
        schema = pyarrow.schema([("name", names("").type), (_sort.KEY, pyarrow.int64())])
        batches = [pyarrow.record_batch([names(*(name for name, _ in run)),
                                         pyarrow.array([key for _, key in run], pyarrow.int64())],
                                        schema=schema) for run in runs]
        self.root.mkdir(exist_ok=True)
        tables = list(_sort.sort_batches(batches, schema, str(self.root), rows))
        self.assertEqual(list(self.root.iterdir()), [])
        return ["".join(table["name"].to_pylist()) for table in tables]

    def test_runs_are_merged(self):
        self.assertEqual(self.sort([("c", 3), ("a", 1)], [("d", 4), ("b", 2)]), ["abc", "d"])

    def test_equal_keys_keep_their_order(self):
        self.assertEqual(self.sort([("a", 5), ("b", 5)], [("c", 5), ("d", 5)], [("0", 1)]),
                         ["0ab", "cd"])
        self.assertEqual(self.sort([("a", 5)] * 4, [("b", 5)] * 4, rows=2), ["aa"] * 2 + ["bb"] * 2)

    def test_nothing(self):
        self.assertEqual(self.sort(), [])
        self.assertEqual(self.sort([]), [""])


class Steps(unittest.TestCase):
    """Which activities belong to which step."""

    def make(self, scopes, attributes=(), processes=((1, 0),)):
        """SCOPES: process, id, parent, kind, text, begin."""
        columns = list(zip(*scopes))
        texts = names(*columns[4])
        return _steps.Steps(Made(
            processes=MadeTable(process=[one for one, _ in processes],
                                start_ns=[begin for _, begin in processes]),
            scopes=MadeTable(
                process=pyarrow.array(columns[0], pyarrow.uint32()),
                thread=pyarrow.array(columns[0], pyarrow.uint32()),
                kind=names(*columns[3]), scope=texts, scope_id=ids(*columns[1]),
                parent_id=ids(*columns[2]), text=texts, begin_ns=list(columns[5]),
                duration_ns=[10] * len(scopes)),
            scope_attributes=MadeTable(
                process=pyarrow.array([one[0] for one in attributes], pyarrow.uint32()),
                scope_id=ids(*(one[1] for one in attributes)),
                key=names(*(one[2] for one in attributes)),
                int64=pyarrow.array([one[3] for one in attributes], pyarrow.int64()))))

    def find(self, steps, *rows):
        """ROWS: process, scope, time. The number of the step, and None."""
        process, scope, ns = zip(*rows)
        found = steps.find(pyarrow.array(process, pyarrow.uint32()), ids(*scope),
                           pyarrow.array(ns, pyarrow.int64()))
        return steps.numbers.take(found).to_pylist()

    def test_scopes_inside_a_step(self):
        """Also a parent that comes later in the table, and a step in a step."""
        steps = self.make([(1, 1, None, "step", "train", 0), (1, 2, 9, "scope", "inner", 1),
                           (1, 3, None, "scope", "alone", 2), (1, 4, 3, "scope", "inside", 3),
                           (1, 9, 1, "scope", "outer", 4), (1, 10, 9, "scope", "step 8", 5)],
                          [(1, 1, "step_num", 41)])
        self.assertEqual(self.find(steps, *((1, scope, 0) for scope in (1, 2, 3, 4, 9, 10, None))),
                         [41, 41, None, None, 41, 8, None])
        self.assertEqual([(step.number, step.name) for step in steps.steps],
                         [(41, "train"), (8, "step")])

    def test_numbers_in_texts(self):
        """As step_number_find of src/analyze/step_query.c takes them."""
        texts = {"step 12": 12, "ProfilerStep#3": 3, "train_7": 7, "Iteration: 9": 9, "step": None,
                 "step 1 of 2": None, "layer 4": None, None: None}
        steps = self.make([(1, at, None, "scope", text, at) for at, text in enumerate(texts, 1)])
        self.assertEqual(self.find(steps, *((1, at, 0) for at, _ in enumerate(texts, 1))),
                         list(texts.values()))

    def test_attributes(self):
        """The first one counts; a negative one says that it is no step; a mark is none."""
        steps = self.make([(1, 1, None, "scope", "step 1", 0), (1, 2, None, "scope", "a", 1),
                           (1, 3, None, "mark", "step 5", 2)],
                          [(1, 1, "step_num", -1), (1, 2, "layer", 8), (1, 2, "step_num", 4),
                           (1, 2, "step_num", 6)])
        self.assertEqual(self.find(steps, (1, 1, 0), (1, 2, 0), (1, 3, 0)), [None, 4, None])

    def test_processes_and_their_recordings_have_ids_of_their_own(self):
        scopes = [(process, 1, None, "step", "train", begin)
                  for process, begin in ((1, 5), (1, 105), (2, 5))]
        numbers = [(1, 1, "step_num", 10), (1, 1, "step_num", 11), (2, 1, "step_num", 12)]
        with self.subTest("two recordings of process 1"):
            # Between equal ids in one process the table has other scopes.
            scopes.insert(1, (1, 2, 1, "scope", "inside", 6))
            steps = self.make(scopes, [numbers[0], (1, 2, "x", 0), *numbers[1:]],
                              [(1, 0), (1, 100), (2, 0)])
            self.assertEqual(self.find(steps, (1, 1, 7), (1, 1, 107), (2, 1, 107), (1, 2, 8),
                                       (1, 2, 108)), [10, 11, 12, 10, None])

    def test_paths_without_the_step(self):
        steps = self.make([(1, 1, None, "step", "a/step 3", 0), (1, 2, None, "step", "step 3", 0)],
                          [(1, 1, "step_num", 3)])
        for path, left in (("step 3", ""), ("step 3/x/y", "x/y"), ("a/step 3/z", "z"),
                           ("b/step 3", "b/step 3"), ("step 34/x", "step 34/x")):
            self.assertEqual(steps.leave(path), left)

    def test_sums(self):
        steps = self.make([(1, 1, None, "step", "step 0", 0), (1, 2, None, "step", "step 1", 0)])
        for start in 100, 50:
            steps.add(pyarrow.array([0, 0, None], pyarrow.int64()), names("kernel", "copy", "copy"),
                      pyarrow.array([start, None, 3]), pyarrow.array([7, None, 3]))
        self.assertEqual(steps.sums(), {0: {"index": 0, "activities": 4, "kernels": 2,
                                            "kernel_ns": 14, "first_ns": 50, "last_ns": 107}})


if __name__ == "__main__":
    unittest.main()
