"""Makes the recordings of a fleet of one: each with its own times and durations. They are given to
dagtap.fleet.write in the place of recordings."""

import numpy
import pyarrow
import pyarrow.compute

DAY_NS = 86400 * 10**9
# What a rank's time stamps are moved by at random, and its durations stretched by.
JITTER_NS = 200
NOISE = 0.02


class Rank:
    """RECORDING as rank RANK recorded it on the DAY-th day. SLOWER: what its kernels' durations are
    multiplied by; LOST: how many records its ledger misses."""

    def __init__(self, recording, rank, day, *, slower=1.0, lost=0):
        self.file = f"rank{rank}-day{day}.dagtap"
        self.is_accounted_for = lost == 0
        self._recording = recording
        self._random = numpy.random.default_rng([rank, day])
        self._day_ns = day * DAY_NS
        # Hosts begin and keep their clocks alike to some ms.
        self._begin_ns = int(self._random.integers(0, 5 * 10**6))
        self._slower = slower
        self._lost = lost

    def __getitem__(self, table):
        return RankTable(self, table, None)

    def read(self, table, columns):
        """The rows as a pyarrow.Table with COLUMNS."""
        rows = self._recording.read(table).select(columns)
        if table == "processes":
            wall = pyarrow.compute.add(rows["start_realtime_ns"], self._day_ns) \
                if "start_realtime_ns" in columns else None
            return rows if wall is None else _replace(rows, start_realtime_ns=wall)
        if table == "ledger" and self._lost:
            lost = pyarrow.array([self._lost] + [0] * (len(rows) - 1), pyarrow.uint64())
            return _replace(rows, dropped=lost)
        times = {}
        for name in ("start_ns", "begin_ns"):
            if name in columns:
                times[name] = self._move(rows[name])
        if "duration_ns" in columns:
            times["duration_ns"] = self._stretch(rows["duration_ns"])
        return _replace(rows, **times)

    def _move(self, column):
        jitter = self._random.integers(0, JITTER_NS, len(column))
        since = pyarrow.compute.subtract(column, self._recording.origin_ns)
        later = pyarrow.array(jitter + (self._recording.origin_ns + self._begin_ns))
        return pyarrow.compute.add(_multiply(since, self._slower), later)

    def _stretch(self, column):
        noise = 1 + NOISE * numpy.abs(self._random.standard_normal(len(column)))
        return _multiply(column, pyarrow.array(self._slower * noise))


class RankTable:
    """Hands its rows out as a dagtap.Table does."""

    def __init__(self, rank, table, columns):
        self._rank, self._table, self._columns = rank, table, columns

    def select(self, *columns):
        return RankTable(self._rank, self._table, list(columns))

    def __arrow_c_stream__(self, requested_schema=None):
        rows = self._rank.read(self._table, self._columns)
        batches = pyarrow.RecordBatchReader.from_batches(rows.schema, rows.to_batches(65536))
        return batches.__arrow_c_stream__(requested_schema)


class Kept:
    """The tables of a recording in memory, with the columns that dagtap.fleet reads."""

    def __init__(self, recording):
        self._recording = recording
        self._tables = {}
        self.origin_ns = self.read("processes")["start_ns"][0].as_py()

    def read(self, table):
        if table not in self._tables:
            whole = pyarrow.table(self._recording[table])
            self._tables[table] = whole.unify_dictionaries()
        return self._tables[table]


def _multiply(column, factor):
    return pyarrow.compute.multiply(column, factor).cast(pyarrow.int64(), safe=False)


def _replace(rows, **columns):
    for name, column in columns.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows
