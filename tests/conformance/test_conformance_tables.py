#!/usr/bin/env python3
"""The tables of each recording in tests/data, as pyarrow, pandas, polars, DuckDB and Python's
sqlite3 read them, beside the CSV of the same table: equal rows and equal sums, to the last digit.

Without a network to get the readers from, the test is skipped (exit status 77), and says so.
"""

import csv
import io
import os
import pathlib
import sys
import unittest

from readers import TABLE_READERS, dagtap, install_readers

DATA = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests" / "data"
RECORDINGS = ["jax-small.xplane.pb", "jax-steps.dagtap", "torch-small.json"]
NUMBERS = {"b": int, "i": int, "I": int, "l": int, "L": int, "g": float}


def csv_field(value):
    """As CSV has a text, which protects it from spreadsheets and terminals."""
    if value[0] in "=+-@\t\r":
        value = "'" + value
    return "".join(c if c >= " " and not "\x7f" <= c < "\xa0" or c in "\t\r\n" else "\ufffd"
                   for c in value)


class Tables(unittest.TestCase):
    """Each case is one reader."""

    def check(self, read, take=lambda value: value):
        """READ(trace, table) gives the rows, whose values are as Python has them; TAKE is applied
        to the numbers of CSV."""
        for recording in RECORDINGS:
            with columns.Trace(DATA / recording) as trace:
                for table, described in columns.tables().items():
                    with self.subTest(recording=recording, table=table):
                        expected = self.read_csv(recording, table, described, take)
                        self.compare(expected, read(trace, table), described)

    def read_csv(self, recording, table, described, take):
        text = dagtap(self, "export", "--format", "csv", "--table", table, "-o", "-",
                      DATA / recording)
        rows = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual(rows[0], [column.name.decode() for column in described])
        types = [NUMBERS.get(column.format.decode(), str) for column in described]
        return [[None if field == "" else field if kind is str else take(kind(field))
                 for kind, field in zip(types, row)] for row in rows[1:]]

    def compare(self, expected, rows, described):
        rows = [[csv_field(value) if isinstance(value, str) and value else value for value in row]
                for row in rows]
        for index, column in enumerate(described):
            if column.name == b"occupancy":  # CSV has four decimals
                for row in rows:
                    row[index] = row[index] and float(f"{row[index]:.4f}")
        self.assertEqual(len(rows), len(expected))
        for row, wanted in zip(rows, expected):
            self.assertEqual(row, wanted)
        for index, column in enumerate(described):
            if column.format.decode() in NUMBERS:
                self.assertEqual(sum(row[index] or 0 for row in rows),
                                 sum(row[index] or 0 for row in expected), column.name)

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

    def test_chosen_columns_in_their_order(self):
        with columns.Trace(DATA / RECORDINGS[1]) as trace:
            chosen = ["duration_ns", "name", "process"]
            frame = polars.DataFrame(trace.table("activities", chosen))
            self.assertEqual(frame.columns, chosen)
            whole = polars.DataFrame(trace.table("activities"))
            self.assertEqual(frame.rows(), whole.select(chosen).rows())

    def test_what_is_not_there_is_refused(self):
        with columns.Trace(DATA / RECORDINGS[1]) as trace:
            with self.assertRaisesRegex(ValueError, 'no table "kernels"'):
                trace.table("kernels").__arrow_c_stream__()
            with self.assertRaisesRegex(ValueError, 'table calls has no column "x"'):
                trace.table("calls", ["api", "x"]).__arrow_c_stream__()

    def test_stream_that_nobody_takes(self):
        with columns.Trace(DATA / RECORDINGS[1]) as trace:
            trace.table("activities").__arrow_c_stream__()


if __name__ == "__main__":
    install_readers("requirements-tables.txt", TABLE_READERS)
    sys.path.insert(0, str(TABLE_READERS))
    import duckdb
    import pandas
    import polars
    import pyarrow

    import columns
    unittest.main(verbosity=2)
