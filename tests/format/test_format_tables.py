#!/usr/bin/env python3
"""docs/tables.md lists the tables, columns, types and units that libdagtap-trace has, and the first
line of each table in CSV has the same columns."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAGTAP = pathlib.Path(os.environ["BUILD_DIR"]) / "bin" / "dagtap"

sys.path.insert(0, str(SOURCE / "tests" / "python"))
from table_csv import describe  # pylint: disable=wrong-import-position


def documented():
    """{table: [(column, type, unit)]}"""
    result = {}
    for section in (SOURCE / "docs" / "tables.md").read_text().split("\n## ")[1:]:
        rows = re.findall(r"^\| (\w+) \| (\w+) \| (\S*) ?\|$", section, re.M)
        result[section.split("\n")[0]] = [row for row in rows if row[0] != "column"]
    return result


def described():
    """The same from the library."""
    return {table: [(column.name, column.type, column.unit) for column in of_table]
            for table, of_table in describe().items()}


class Description(unittest.TestCase):
    def test_page_lists_all_tables(self):
        self.assertEqual(documented(), described())

    def test_csv_has_the_same_columns(self):
        recording = SOURCE / "tests" / "data" / "torch-small.json"
        for table, of_table in described().items():
            result = subprocess.run([DAGTAP, "export", "--format", "csv", "--table", table, "-o",
                                     "-", recording], capture_output=True, text=True, check=True)
            self.assertEqual(result.stdout.split("\n")[0],
                             ",".join(name for name, _, _ in of_table))


if __name__ == "__main__":
    unittest.main(verbosity=2)
