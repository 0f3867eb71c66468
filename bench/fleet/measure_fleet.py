#!/usr/bin/env python3
"""Generates a fleet of many ranks from one recording, through dagtap.fleet.write, and measures the
queries of docs/fleet.md in DuckDB and ClickHouse (chdb): on the Parquet files, and on the same
tables in the engine's own format.

    BUILD_DIR=build measure_fleet.py generate ROOT RECORDING RANKS DAYS
    BUILD_DIR=build measure_fleet.py query duckdb|chdb ROOT
    BUILD_DIR=build measure_fleet.py own duckdb|chdb ROOT FOLDER

`generate` goes on where it stopped. RECORDING: `dagtap-bench reference --scale 0.27 --keep
RECORDING --generate-only` makes one of 1.02 M activities. README.md says what is measured.
"""

import decimal
import hashlib
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "conformance"))
sys.path.insert(0, str(SOURCE / "python" / "dagtap" / "src"))
os.environ.setdefault("DAGTAP_PREFIX", os.environ["BUILD_DIR"])
from readers import TABLE_READERS  # pylint: disable=wrong-import-position

sys.path.insert(0, str(TABLE_READERS))

# Which rank is slow, which one lost records, and on which day a build came that is slower.
SLOW_RANK, LOSSY_RANK, SLOW_BUILD_DAY = 1, 2, 4
BUILDS = ("a1b2c3", "d4e5f6")
MEMORY = 4  # GB that an engine may take
THREADS = 1  # of an engine: the CPU time of more threads depends on how they share the cores
ROUNDS = 1


def generate(root, recording, ranks, days):
    """Writes DAYS days of RANKS ranks, unless they are there."""
    import many_ranks
    import dagtap.fleet

    kept = many_ranks.Kept(dagtap.open(recording))
    root.mkdir(parents=True, exist_ok=True)
    for rank in range(int(ranks)):
        for day in range(int(days)):
            part = f"activities/job=train/day=2025-01-{day + 1:02}/rank={rank}/part-0.parquet"
            if (root / part).exists():
                continue
            new = day >= SLOW_BUILD_DAY
            slower = (1.15 if rank == SLOW_RANK else 1) * (1.05 if new else 1)
            lost = 1000 if rank == LOSSY_RANK and day == 2 else 0
            one = many_ranks.Rank(kept, rank, day, slower=slower, lost=lost)
            began = time.process_time()
            dagtap.fleet.write([one], root, job="train", ranks=[rank], build=BUILDS[new])
            print(rank, day, f"{time.process_time() - began:.2f} s of CPU", flush=True)


def open_engine(engine, path=None):
    import fleet_page

    if engine == "duckdb":
        database = fleet_page.DuckDb(path or ":memory:")
        database.run(f"set memory_limit = '{MEMORY}GB'")
        database.run(f"set threads = {THREADS}")
        return database
    database = fleet_page.ClickHouse(path)
    database.run(f"set max_memory_usage = {MEMORY}000000000")
    database.run(f"set max_threads = {THREADS}")
    database.run(f"set max_insert_threads = {THREADS}")
    return database


def query(engine, root):
    """The queries on the Parquet files."""
    import fleet_page

    database = open_engine(engine)
    for view in fleet_page.views("duckdb" if engine == "duckdb" else "clickhouse", root):
        database.run(view)
    measure(database)


def own(engine, root, folder):
    """The queries on tables of the engine, which are made first."""
    from dagtap.fleet import TABLES

    folder.mkdir(parents=True, exist_ok=True)
    database = open_engine(engine, folder / "fleet.duckdb" if engine == "duckdb" else folder)
    began, cpu = time.monotonic(), time.process_time()
    for table in TABLES:
        files = f"'{root}/{table}/**/*.parquet'"
        if engine == "duckdb":
            database.run(f"create table {table} as select * from read_parquet({files}, "
                         "hive_partitioning = true)")
            continue
        texts = [name for name in ("device", "kind", "name", "direction", "scope")
                 if name in TABLES[table]]
        replaced = ", ".join(f"toLowCardinality({name}) as {name}" for name in texts)
        ordered = "job, day, rank" + (", start_ns" if table == "activities" else "")
        replace = f"replace ({replaced})" if texts else ""
        database.run(f"create table {table} engine = MergeTree partition by day "
                     f"order by ({ordered}) settings allow_nullable_key = 1 "
                     f"as select * {replace} from file({files}, Parquet)")
    if engine == "duckdb":
        database.run("checkpoint")
    print(f"loaded in {time.monotonic() - began:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size / 1e9:.2f} GB on disk")
    measure(database)


def measure(database):
    """Each query; of each the least of ROUNDS."""
    import fleet_page

    print(f"{database.run('select count(*) from activities')[0][0]} activities", flush=True)
    for name, sql in fleet_page.QUERIES.items():
        walls, cpus = [], []
        for _ in range(ROUNDS):
            began, cpu = time.monotonic(), time.process_time()
            rows = database.run(sql)
            walls.append(time.monotonic() - began)
            cpus.append(time.process_time() - cpu)
        answer = hashlib.sha256(repr([tuple(map(plain, row)) for row in rows]).encode())
        print(f"{name:16} {min(walls):8.2f} s {min(cpus):8.2f} s of CPU  {len(rows)} rows, "
              f"{answer.hexdigest()[:12]}", flush=True)


def plain(value):
    """VALUE as both engines give it, but for the last digits of a mean."""
    return f"{value:.9g}" if isinstance(value, (float, decimal.Decimal)) else str(value)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "generate":
        generate(pathlib.Path(rest[0]), *rest[1:])
    elif what == "query":
        query(rest[0], pathlib.Path(rest[1]))
    elif what == "own":
        own(rest[0], pathlib.Path(rest[1]), pathlib.Path(rest[2]))
    else:
        sys.exit(__doc__)
