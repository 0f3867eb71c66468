"""The SQL of docs/fleet.md: what it says is what tests and bench/fleet run."""

import os
import pathlib
import re
import shutil
import sys

from readers import BUILD

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# ClickHouse as a library, apart because it is large and only these tests use it.
CHDB = BUILD / "conformance" / "chdb"
CHDB_REQUIREMENTS = "requirements-chdb.txt"
# Spark as a library, which `make check-spark` installs: 0.5 GB, and it needs Java.
SPARK = BUILD / "conformance" / "spark"
BLOCK = re.compile(r"^```sql (\w+)\n(.*?)^```$", re.M | re.S)
BLOCKS = dict(BLOCK.findall((SOURCE / "docs" / "fleet.md").read_text()))
ENGINES = ("duckdb", "clickhouse", "spark")
QUERIES = {name: sql for name, sql in BLOCKS.items() if name not in ENGINES}


def has_spark():
    """Whether Spark is installed as a whole, which the copy of its requirements marks, and Java."""
    return (SPARK / "requirements.txt").exists() and bool(shutil.which("java"))


def views(engine, root):
    """The statements that open the store ROOT in ENGINE, one of ENGINES."""
    assert "/store/" in BLOCKS[engine]
    text = BLOCKS[engine].replace("'/store/", f"'{os.fspath(root)}/")
    return [statement for statement in text.split(";") if statement.strip()]


class DuckDb:
    """A database in memory, or in the file PATH."""

    def __init__(self, path=":memory:"):
        import duckdb

        self._connection = duckdb.connect(str(path))

    def run(self, sql):
        """The rows, as tuples."""
        return self._connection.execute(sql).fetchall()


class ClickHouse:
    """A session of chdb, which has its tables in memory or in the folder PATH. One in a process."""

    def __init__(self, path=None):
        sys.path.append(str(CHDB))
        from chdb.session import Session

        self._session = Session(path and str(path))

    def run(self, sql):
        """The rows, as tuples."""
        done = self._session.query(sql.rstrip().rstrip(";"), "ArrowTable")
        return [tuple(row.values()) for row in done.to_pylist()] if done is not None else []


class Spark:
    """A session of Spark on the loopback interface. One in a process; close() ends its Java."""

    SETTINGS = {"spark.ui.enabled": "false", "spark.driver.memory": "2g",
                "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                "spark.sql.shuffle.partitions": "2"}

    def __init__(self, settings=None):
        sys.path.append(str(SPARK))
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]")
        self._session = builder.config(map={**self.SETTINGS, **(settings or {})}).getOrCreate()
        self._session.sparkContext.setLogLevel("ERROR")

    def run(self, sql):
        """The rows, as tuples."""
        return [tuple(row) for row in self._session.sql(sql.rstrip().rstrip(";")).collect()]

    def close(self):
        self._session.stop()
