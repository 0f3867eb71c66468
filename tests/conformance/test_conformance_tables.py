#!/usr/bin/env python3
"""The tables of each recording in tests/data, as pyarrow, pandas, polars and DuckDB read
them, beside the CSV of the same table: equal rows and equal sums, to the last digit. Python's
sqlite3 is in tests/format/test_format_sqlite.py.

Without a network to get the readers from, the test is skipped (exit status 77), and says so.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from readers import BUILD, TABLE_READERS, dagtap, install_readers
from table_csv import RECORDINGS, expect_csv, read_csv
import columns


class Tables(unittest.TestCase):
    """Each case is one reader."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def check(self, read):
        """READ(trace, table) gives the rows, whose values are as Python has them."""
        for recording in RECORDINGS:
            with columns.Trace(recording) as trace:
                for table in columns.tables():
                    with self.subTest(recording=recording.name, table=table):
                        expect_csv(self, recording, table, read(trace, table))

    def test_pyarrow(self):
        def read(trace, table):
            stream = pyarrow.RecordBatchReader.from_stream(trace.table(table))
            whole = stream.read_all()
            whole.validate(full=True)
            self.assertEqual(whole.schema.metadata, {b"dagtap.table": table.encode(),
                                                     b"dagtap.tables_version": b"1"})
            for column in columns.tables()[table]:
                field = whole.schema.field(column.name.decode())
                self.assertEqual((field.metadata or {}).get(b"unit", b""), column.unit)
                self.assertEqual(pyarrow.types.is_dictionary(field.type), column.is_dictionary)
            return [list(row.values()) for row in whole.to_pylist()]

        self.check(read)

    def test_pandas(self):
        def read(trace, table):
            self.assertEqual(len(pandas.DataFrame.from_arrow(trace.table(table))),
                             len(read_csv(trace.path, table)))
            whole = pyarrow.RecordBatchReader.from_stream(trace.table(table)).read_all()
            frame = whole.to_pandas(types_mapper=pandas.ArrowDtype)
            return [[None if pandas.isna(value) else value for value in row]
                    for row in frame.itertuples(index=False, name=None)]

        self.check(read)

    def test_polars(self):
        self.check(lambda trace, table: polars.DataFrame(trace.table(table)).rows())

    def test_duckdb(self):
        def read(trace, table):
            stream = trace.table(table)  # DuckDB finds the variable by its name
            return duckdb.sql("select * from stream").fetchall()

        self.check(read)

    def export(self, recording, table):
        out = self.path / "table.arrows"
        dagtap(self, "export", "--force", "--format", "arrow", "--table", table, "-o", out,
               recording)
        return out

    def test_file_in_pyarrow(self):
        def read(trace, table):
            whole = pyarrow.ipc.open_stream(self.export(trace.path, table)).read_all()
            whole.validate(full=True)
            stream = pyarrow.RecordBatchReader.from_stream(trace.table(table))
            self.assertTrue(whole.schema.equals(stream.schema, check_metadata=True))
            return [list(row.values()) for row in whole.to_pylist()]

        self.check(read)

    def test_file_in_polars(self):
        self.check(lambda trace, table:
                   polars.read_ipc_stream(self.export(trace.path, table)).rows())

    def test_several_batches(self):
        """Each with dictionaries of its own."""
        recording = self.path / "reference.spool"
        subprocess.run([BUILD / "bin" / "dagtap-bench", "reference", "--scale", "0.02", "--keep",
                        recording, "--generate-only"], check=True, stdout=subprocess.DEVNULL)
        with columns.Trace(recording) as trace:
            frame = polars.DataFrame(trace.table("activities"))
            self.assertGreater(len(frame), 65536)
            expect_csv(self, recording, "activities", frame.rows())
        out = self.export(recording, "activities")
        self.assertEqual(polars.read_ipc_stream(out).rows(), frame.rows())
        batches = list(pyarrow.ipc.open_stream(out))
        self.assertEqual([len(batch) for batch in batches], [65536, len(frame) - 65536])
        self.assertEqual([name for batch in batches for name in batch["name"].to_pylist()],
                         frame["name"].to_list())

    def test_chosen_columns_in_their_order(self):
        with columns.Trace(RECORDINGS[1]) as trace:
            chosen = ["duration_ns", "name", "process"]
            frame = polars.DataFrame(trace.table("activities", chosen))
            self.assertEqual(frame.columns, chosen)
            whole = polars.DataFrame(trace.table("activities"))
            self.assertEqual(frame.rows(), whole.select(chosen).rows())

    def test_what_is_not_there_is_refused(self):
        with columns.Trace(RECORDINGS[1]) as trace:
            with self.assertRaisesRegex(ValueError, 'no table "kernels"'):
                trace.table("kernels").__arrow_c_stream__()
            with self.assertRaisesRegex(ValueError, 'table calls has no column "x"'):
                trace.table("calls", ["api", "x"]).__arrow_c_stream__()

    def test_stream_that_nobody_takes(self):
        with columns.Trace(RECORDINGS[1]) as trace:
            trace.table("activities").__arrow_c_stream__()


if __name__ == "__main__":
    install_readers("requirements-tables.txt", TABLE_READERS)
    sys.path.insert(0, str(TABLE_READERS))
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyarrow.ipc

    unittest.main(verbosity=2)
