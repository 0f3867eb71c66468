#!/usr/bin/env python3
"""The queries of docs/fleet.md, as they stand there, in DuckDB, in ClickHouse (chdb) and in Spark,
if `make check-spark` has installed it: the rows are equal to what pandas makes of the same files.

The store has three ranks on days with an old and a new build (bench/fleet), one of them slow and
one with lost records, and another job with the recordings of tests/data.

Without a network to get the readers from, the test is skipped (exit status 77), and says so.
"""

import decimal
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from readers import BUILD, HERE, TABLE_READERS, install_readers
import fleet_page

SOURCE = HERE.parent.parent
sys.path[:0] = [str(SOURCE / "tests" / "python"), str(SOURCE / "bench" / "fleet")]
# pylint: disable=wrong-import-position
from table_csv import RECORDINGS

RANKS, DAYS = 3, 5
WEEK = [f"2025-01-{day:02}" for day in range(1, 8)]
COLLECTIVES = "nccl"
OLD, NEW = "a1b2c3", "d4e5f6"


def make_store(root):
    recording = root.parent / "reference.spool"
    subprocess.run([BUILD / "bin" / "dagtap-bench", "reference", "--scale", "0.02", "--keep",
                    recording, "--generate-only"], check=True, stdout=subprocess.DEVNULL)
    measure_fleet.generate(root, recording, RANKS, DAYS)
    dagtap.fleet.write(RECORDINGS, root, job="other", day="2025-01-02", build=OLD)


def read(root, table):
    """The rows of the job."""
    frame = pyarrow.dataset.dataset(
        root / table, partitioning=pyarrow.dataset.partitioning(
            pyarrow.schema([("job", pyarrow.string()), ("day", pyarrow.string()),
                            ("rank", pyarrow.int64())]), flavor="hive")).to_table()
    texts = [field.with_type(pyarrow.string()) if pyarrow.types.is_dictionary(field.type)
             else field for field in frame.schema]
    frame = frame.cast(pyarrow.schema(texts)).to_pandas(types_mapper=pandas.ArrowDtype)
    return frame[(frame["job"] == "train") & frame["day"].isin(WEEK)]


def nearest_rank(values, numerator, denominator):
    """The least value that at least so many of VALUES do not exceed."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * numerator // denominator) - 1]


def by_last(frame, column, *names, limit=None):
    """The rows of FRAME, the greatest COLUMN first, then by NAMES, as tuples."""
    keys = [column, *names]
    ordered = frame.sort_values(keys, ascending=[False] + [True] * len(names))
    return list(ordered.head(limit or len(ordered)).itertuples(index=False, name=None))


class Expected:
    """The answer of each query by pandas."""

    def __init__(self, root):
        self.tables = {table: read(root, table) for table in dagtap.fleet.TABLES}
        activities = self.tables["activities"]
        self.kernels = activities[activities["kind"] == "kernel"]
        is_collective = self.kernels["name"].str.startswith(COLLECTIVES)
        self.computing = self.kernels[~is_collective]

    def step_times(self):
        steps = self.tables["steps"].dropna(subset=["gpu_begin_ns"])
        steps = steps.assign(gpu_end_ns=steps["gpu_begin_ns"] + steps["gpu_duration_ns"])
        times = steps.groupby(["rank", "day", "step"]).agg(
            begin=("gpu_begin_ns", "min"), end=("gpu_end_ns", "max"))
        rows = []
        for rank, of_rank in (times["end"] - times["begin"]).groupby(level="rank"):
            values = of_rank.to_list()
            rows.append((rank, len(values), nearest_rank(values, 1, 2),
                         nearest_rank(values, 99, 100), max(values)))
        return sorted(rows, key=lambda row: (-row[3], row[0]))

    def slowest_kernels(self):
        rows = self.kernels.groupby("name")["duration_ns"].agg(["size", "sum", "mean", "max"])
        return by_last(rows.reset_index(), "sum", "name", limit=20)

    def slower_build(self):
        builds = self.tables["processes"][["day", "rank", "process", "build"]].drop_duplicates()
        work = self.kernels.merge(builds, on=["day", "rank", "process"])
        durations = work.groupby(["name", "build"])["duration_ns"]
        means, counts = durations.mean().unstack(), durations.count().unstack()
        rows = pandas.DataFrame({"old": means[OLD], "new": means[NEW]}).reset_index()
        rows["more"] = ((means[NEW] - means[OLD]) * counts[NEW]).to_numpy()
        return by_last(rows.dropna(), "more", "name", limit=20)

    def stragglers(self):
        stepped = self.computing.dropna(subset=["step"])
        work = stepped.groupby(["day", "step", "rank"])["duration_ns"].sum().reset_index()
        behind = {rank: [0, 0, 0] for rank in work["rank"]}
        for _, of_step in work.groupby(["day", "step"]):
            median = nearest_rank(of_step["duration_ns"], 1, 2)
            last = max(zip(of_step["duration_ns"], of_step["rank"]))[1]
            for rank, ns in zip(of_step["rank"], of_step["duration_ns"]):
                row = behind[rank]
                row[:] = row[0] + 1, row[1] + ns - median, row[2] + (rank == last)
        rows = [(rank, *row) for rank, row in behind.items()]
        return sorted(rows, key=lambda row: (-row[2], row[0]))

    def lost_records(self):
        rows = self.tables["ledger"].merge(self.tables["processes"],
                                           on=["job", "day", "rank", "process"])
        rows = rows[(rows["dropped"] > 0) | (rows["unexplained"] > 0) | ~rows["complete"]]
        rows = rows.sort_values(["day", "rank", "recording", "source"])
        columns = ["day", "rank", "host", "recording", "source", "expected", "received", "dropped",
                   "unexplained", "complete"]
        return list(rows[columns].itertuples(index=False, name=None))

    def scopes(self):
        rows = self.tables["activities"].dropna(subset=["step"])
        rows = rows.groupby("scope", dropna=False)["duration_ns"].agg(["size", "sum"])
        return by_last(rows.reset_index(), "sum", "scope", limit=20)

    def timeline(self):
        rows = self.tables["activities"]
        rows = rows[(rows["day"] == "2025-01-01") & (rows["rank"] == 1) &
                    rows["start_ns"].between(1735689600100000000, 1735689600101000000)]
        rows = rows.sort_values(["start_ns", "device", "stream", "duration_ns", "name"])
        columns = ["start_ns", "duration_ns", "device", "stream", "kind", "name", "scope", "step"]
        return list(rows[columns].itertuples(index=False, name=None))


class Mean(float):
    """A number that three programs calculate in three orders: equal but for the last digits."""

    def __eq__(self, other):
        return math.isclose(self, other, rel_tol=1e-9)

    __hash__ = None


def plain(value):
    """VALUE in the type that it has for all three."""
    if value is None or value is pandas.NA:
        return None
    if isinstance(value, (float, decimal.Decimal)):
        return Mean(value)
    return str(value) if hasattr(value, "isoformat") else value


class Queries(unittest.TestCase):
    """Each case is one engine, and each query a part of it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "store"
        make_store(cls.root)
        cls.expected = Expected(cls.root)

    def check(self, engine, database):
        for view in fleet_page.views(engine, self.root):
            database.run(view)
        for name, sql in fleet_page.QUERIES.items():
            with self.subTest(query=name):
                rows = [tuple(map(plain, row)) for row in database.run(sql)]
                expected = [tuple(map(plain, row)) for row in getattr(self.expected, name)()]
                self.assertEqual(rows, expected)
                self.assertGreater(len(rows), 0)

    def test_duckdb(self):
        self.check("duckdb", fleet_page.DuckDb())

    def test_clickhouse(self):
        self.check("clickhouse", fleet_page.ClickHouse())

    @unittest.skipUnless(fleet_page.has_spark() or os.environ.get("FLEET_NEEDS_SPARK"),
                         "there is no Spark, which make check-spark installs, or no Java")
    def test_spark(self):
        """Spark's own reader of Parquet, and that of parquet-java, which it has besides."""
        spark = fleet_page.Spark()
        self.addCleanup(spark.close)
        for own in ("true", "false"):
            with self.subTest(own_reader=own):
                spark.run(f"set spark.sql.parquet.enableVectorizedReader = {own}")
                self.check("spark", spark)

    def test_answers_name_who_is_slow_and_who_lost(self):
        """What was put into the store is found again."""
        self.assertEqual(self.expected.step_times()[0][0], measure_fleet.SLOW_RANK)
        self.assertEqual(self.expected.stragglers()[0][0], measure_fleet.SLOW_RANK)
        self.assertEqual([(row[1], row[7]) for row in self.expected.lost_records()],
                         [(measure_fleet.LOSSY_RANK, 1000)])
        for row in self.expected.slower_build():
            self.assertGreater(row[2], row[1])

    def test_steps_have_the_sums_of_their_activities(self):
        columns = ["day", "rank", "process", "step"]
        of_kernels = self.expected.kernels.dropna(subset=["step"]).groupby(columns)["duration_ns"]
        of_steps = self.expected.tables["steps"].groupby(columns)
        self.assertEqual(of_steps["kernels"].sum().to_dict(), of_kernels.size().to_dict())
        self.assertEqual(of_steps["kernel_ns"].sum().to_dict(), of_kernels.sum().to_dict())


if __name__ == "__main__":
    install_readers("requirements-tables.txt", TABLE_READERS)
    install_readers(fleet_page.CHDB_REQUIREMENTS, fleet_page.CHDB)
    sys.path.insert(0, str(TABLE_READERS))
    os.environ["DAGTAP_PREFIX"] = str(BUILD)
    import pandas
    import pyarrow
    import pyarrow.dataset
    import dagtap.fleet
    import measure_fleet

    unittest.main(verbosity=2)
