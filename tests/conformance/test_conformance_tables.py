#!/usr/bin/env python3
"""The tables of each recording in tests/data, as pyarrow, pandas, polars and DuckDB read
them, beside the CSV of the same table: equal rows and equal sums, to the last digit. Python's
sqlite3 is in tests/format/test_format_sqlite.py.

Without a network to get the readers from, the test is skipped (exit status 77), and says so.
"""

import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from readers import BUILD, HERE, TABLE_READERS, dagtap, install_readers

sys.path.insert(0, str(HERE.parent / "python"))
# pylint: disable=wrong-import-position
from table_csv import RECORDINGS, SOURCE, expect_csv, read_csv
from dagtap import Error, open as open_recording


class Tables(unittest.TestCase):
    """Each case is one reader."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def check(self, read):
        """READ(table, recording) gives the rows, whose values are as Python has them."""
        for recording in RECORDINGS:
            for table in open_recording(recording).tables.values():
                with self.subTest(recording=recording.name, table=table.name):
                    expect_csv(self, recording, table.name, read(table, recording))

    def test_pyarrow(self):
        def read(table, _):
            stream = pyarrow.RecordBatchReader.from_stream(table)
            whole = stream.read_all()
            whole.validate(full=True)
            self.assertEqual(pyarrow.schema(table), whole.schema)
            self.assertEqual(whole.schema.metadata, {b"dagtap.table": table.name.encode(),
                                                     b"dagtap.tables_version": b"1"})
            for column in table.columns:
                field = whole.schema.field(column.name)
                self.assertEqual((field.metadata or {}).get(b"unit", b""), column.unit.encode())
                self.assertEqual(pyarrow.types.is_dictionary(field.type), column.type == "name")
            return [list(row.values()) for row in whole.to_pylist()]

        self.check(read)

    def test_pandas(self):
        def read(table, recording):
            self.assertEqual(len(pandas.DataFrame.from_arrow(table)),
                             len(read_csv(recording, table.name)))
            frame = table.to_pandas()
            return [[None if pandas.isna(value) else value for value in row]
                    for row in frame.itertuples(index=False, name=None)]

        self.check(read)

    def test_polars(self):
        self.check(lambda table, _: polars.DataFrame(table).rows())

    def test_duckdb(self):
        def read(table, _):
            stream = table  # DuckDB finds the variable by its name
            self.assertIs(stream, table)
            return duckdb.sql("select * from stream").fetchall()

        self.check(read)

    def export(self, recording, table, form="arrow", *options):
        out = self.path / f"table.{form}"
        paths = os.pathsep.join([str(TABLE_READERS), str(SOURCE / "python" / "dagtap" / "src")])
        dagtap(self, "export", "--force", "--format", form, "--table", table, "-o", out, *options,
               recording, environment={"PYTHONPATH": paths, "DAGTAP_PYTHON": sys.executable})
        return out

    def test_file_in_pyarrow(self):
        def read(table, recording):
            whole = pyarrow.ipc.open_stream(self.export(recording, table.name)).read_all()
            whole.validate(full=True)
            stream = pyarrow.RecordBatchReader.from_stream(table)
            self.assertTrue(whole.schema.equals(stream.schema, check_metadata=True))
            return [list(row.values()) for row in whole.to_pylist()]

        self.check(read)

    def test_file_in_polars(self):
        self.check(lambda table, recording:
                   polars.read_ipc_stream(self.export(recording, table.name)).rows())

    def test_parquet_in_pyarrow(self):
        def read(table, recording):
            whole = pyarrow.parquet.read_table(self.export(recording, table.name, "parquet"))
            stream = pyarrow.RecordBatchReader.from_stream(table)
            self.assertTrue(whole.schema.equals(stream.schema, check_metadata=True))
            return [list(row.values()) for row in whole.to_pylist()]

        self.check(read)

    def test_parquet_in_polars(self):
        self.check(lambda table, recording:
                   polars.read_parquet(self.export(recording, table.name, "parquet")).rows())

    def test_parquet_in_duckdb(self):
        def read(table, recording):
            out = self.path / "own.parquet"
            open_recording(recording).export("parquet", out, table=table.name, replace=True)
            return duckdb.sql(f"select * from '{out}'").fetchall()

        self.check(read)

    def test_parquet_of_what_is_selected(self):
        out = self.export(RECORDINGS[1], "activities", "parquet", "--kernel=loop_add_fusion")
        rows = polars.read_parquet(out)
        self.assertEqual(rows["name"].to_list(), ["loop_add_fusion"] * 30)

    def test_parquet_has_row_groups_of_bounded_size(self):
        recording = self.reference()
        table = open_recording(recording)["activities"]
        out = self.path / "large.parquet"
        with unittest.mock.patch.object(parquet, "ROW_GROUP", 100000):
            parquet.write(table, out)
        file = pyarrow.parquet.ParquetFile(out)
        groups = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
        self.assertEqual([rows <= 2 * 65536 for rows in groups], [True] * len(groups))
        self.assertEqual(polars.read_parquet(out).rows(), polars.DataFrame(table).rows())

    def test_parquet_replaces_nothing_unasked(self):
        calls, out = open_recording(RECORDINGS[1])["calls"], self.path / "calls.parquet"
        out.write_text("mine")
        with self.assertRaises(FileExistsError):
            parquet.write(calls, out)
        self.assertEqual(out.read_text(), "mine")
        parquet.write(calls, out, replace=True)
        self.assertEqual(len(polars.read_parquet(out)), 5107)
        self.assertEqual(os.listdir(self.path), ["calls.parquet"])
        with self.assertRaises(FileNotFoundError):
            parquet.write(calls, self.path / "absent" / "calls.parquet")

    def test_parquet_does_not_replace_the_input(self):
        recording = self.path / "run.xplane.pb"
        recording.write_bytes(RECORDINGS[0].read_bytes())
        opened = open_recording(recording)
        with self.assertRaisesRegex(Error, "is the input"):
            parquet.write(opened["calls"], recording, replace=True)
        with self.assertRaisesRegex(Error, "is the input"):
            opened.export("parquet", recording, replace=True)
        self.assertEqual(recording.read_bytes(), RECORDINGS[0].read_bytes())

    def reference(self):
        """A recording of more than two batches of activities."""
        recording = self.path / "reference.spool"
        subprocess.run([BUILD / "bin" / "dagtap-bench", "reference", "--scale", "0.04", "--keep",
                        recording, "--generate-only"], check=True, stdout=subprocess.DEVNULL)
        return recording

    def test_several_batches(self):
        """Each with dictionaries of its own."""
        recording = self.path / "reference.spool"
        subprocess.run([BUILD / "bin" / "dagtap-bench", "reference", "--scale", "0.02", "--keep",
                        recording, "--generate-only"], check=True, stdout=subprocess.DEVNULL)
        frame = polars.DataFrame(open_recording(recording)["activities"])
        self.assertGreater(len(frame), 65536)
        expect_csv(self, recording, "activities", frame.rows())
        out = self.export(recording, "activities")
        self.assertEqual(polars.read_ipc_stream(out).rows(), frame.rows())
        batches = list(pyarrow.ipc.open_stream(out))
        self.assertEqual([len(batch) for batch in batches], [65536, len(frame) - 65536])
        self.assertEqual([name for batch in batches for name in batch["name"].to_pylist()],
                         frame["name"].to_list())

    def test_selected_columns_in_their_order(self):
        activities = open_recording(RECORDINGS[1])["activities"]
        chosen = ["duration_ns", "name", "process"]
        frame = polars.DataFrame(activities.select(*chosen))
        self.assertEqual(frame.columns, chosen)
        self.assertEqual(frame.rows(), polars.DataFrame(activities).select(chosen).rows())

    def test_tables_and_streams_outlive_the_recording(self):
        """What reads a stream releases it, in C++ or Rust and on its own threads."""
        expected = len(read_csv(RECORDINGS[1], "calls"))
        calls = open_recording(RECORDINGS[1])["calls"]
        reader = pyarrow.RecordBatchReader.from_stream(calls)
        lazy = pyarrow.RecordBatchReader.from_stream(open_recording(RECORDINGS[1])["calls"])
        self.assertEqual(len(polars.DataFrame(calls)), expected)
        del calls
        gc.collect()
        self.assertEqual(len(reader.read_all()), expected)
        self.assertEqual(len(lazy.read_next_batch()), expected)


if __name__ == "__main__":
    install_readers("requirements-tables.txt", TABLE_READERS)
    sys.path.insert(0, str(TABLE_READERS))
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet
    from dagtap import parquet

    unittest.main(verbosity=2)
