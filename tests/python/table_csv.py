"""The tables of a recording as `dagtap export --format csv` writes them, for a comparison with
another format. The Python package dagtap is the one that Python finds, or else that of this tree
with the libraries of this build."""

import csv
import io
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
DATA = SOURCE / "tests" / "data"
RECORDINGS = [DATA / "jax-small.xplane.pb", DATA / "jax-steps.dagtap", DATA / "torch-small.json"]
NUMBERS = {"bool": int, "double": float,
           **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (32, 64)}}

try:
    from dagtap import _tables
except ImportError:
    sys.path.insert(0, str(SOURCE / "python" / "dagtap" / "src"))
    os.environ["DAGTAP_PREFIX"] = str(BUILD)
    from dagtap import _tables


def describe():
    """{table: [dagtap.Column]} as libdagtap-trace lists them."""
    library = _tables.library()
    return {table: library.list_columns(table) for table in library.tables}


def text_of_csv(value):
    """As CSV has a text, which protects it from spreadsheets and terminals."""
    if value[0] in "=+-@\t\r":
        value = "'" + value
    return "".join(c if c >= " " and not "\x7f" <= c < "\xa0" or c in "\t\r\n" else "\ufffd"
                   for c in value)


def read_csv(recording, table):
    """The rows, with numbers, and None for an empty field."""
    result = subprocess.run([BUILD / "bin" / "dagtap", "export", "--format", "csv", "--table",
                             table, "-o", "-", recording], capture_output=True, check=True)
    rows = list(csv.reader(io.StringIO(result.stdout.decode(), newline="")))
    kinds = [NUMBERS.get(column.type, str) for column in describe()[table]]
    return [[None if field == "" else kind(field) for kind, field in zip(kinds, row)]
            for row in rows[1:]]


def expect_csv(test, recording, table, rows):
    """Asserts that ROWS are those of CSV, to the last digit, and that the sums are."""
    described = describe()[table]
    expected = read_csv(recording, table)
    rows = [[text_of_csv(value) if isinstance(value, str) and value else value for value in row]
            for row in rows]
    for index, column in enumerate(described):
        if column.name == "occupancy":  # CSV has four decimals
            for row in rows:
                row[index] = row[index] and float(f"{row[index]:.4f}")
    test.assertEqual(len(rows), len(expected))
    for row, wanted in zip(rows, expected):
        test.assertEqual(row, wanted)
    for index, column in enumerate(described):
        if column.type in NUMBERS:
            test.assertEqual(sum(row[index] or 0 for row in rows),
                             sum(row[index] or 0 for row in expected), column.name)
