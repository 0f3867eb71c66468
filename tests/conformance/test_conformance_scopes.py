#!/usr/bin/env python3
"""`dagtap scopes` beside pandas, over the CSV of the same file: a recording of JAX on an H200.

Without a network to get pandas from, the test is skipped (exit status 77), and says so.
"""

import io
import json
import os
import pathlib
import sys
import unittest

from readers import READERS, dagtap, install_readers

RECORDING = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests" / "data" / "jax-steps.dagtap"
PATTERNS = ["Thunk:#hlo_op=command_buffer_", "XlaModule:#hlo_module=jit_train",
            "XlaModule:#hlo_module=jit_looped"]


class Pandas(unittest.TestCase):
    def read(self, table):
        text = dagtap(self, "export", "--format", "csv", "--table", table, "-o", "-", RECORDING)
        return pandas.read_csv(io.StringIO(text))

    def projections(self, prefix):
        """By instance: host time, and first start and last end of its work. Of these scopes none is
        in another."""
        scopes = self.read("scopes").set_index("scope_id")
        work = self.read("activities")
        work = work[work.untimed.isna()]
        parents = scopes.parent_id.to_dict()
        meant = scopes[scopes.text.str.startswith(prefix)]

        def instance(scope):
            while scope in parents and scope not in meant.index:
                scope = parents[scope]
            return scope

        work = work.assign(instance=work.launch_scope_id.map(instance))
        spans = work[work.instance.isin(meant.index)].groupby("instance").agg(
            begin=("start_ns", "min"), end=("end_ns", "max"), activities=("start_ns", "size"))
        return meant.join(spans).sort_values("begin_ns")

    def expect(self, found, series):
        self.assertEqual(found["count"], series.count())
        for key, value in (("mean_ns", series.mean()), ("stddev_ns", series.std()),
                           ("min_ns", series.min()), ("max_ns", series.max()),
                           ("p50_ns", series.quantile(0.5)), ("p90_ns", series.quantile(0.9)),
                           ("p99_ns", series.quantile(0.99))):
            self.assertAlmostEqual(found[key], value, delta=1e-6 * value, msg=key)

    def test_instances_are_those_of_pandas(self):
        for prefix in PATTERNS:
            with self.subTest(prefix=prefix):
                wanted = self.projections(prefix)
                found = json.loads(dagtap(self, "scopes", "--json", RECORDING, prefix + "*"))
                self.assertGreater(len(wanted), 1)
                self.assertEqual([row["begin_ns"] for row in found["instances"]],
                                 list(wanted.begin_ns))
                self.assertEqual([row["projection"]["duration_ns"] for row in found["instances"]
                                  if row["projection"]],
                                 list((wanted.end - wanted.begin).dropna()))
                self.expect(found["host"], wanted.end_ns - wanted.begin_ns)
                self.expect(found["projection"], (wanted.end - wanted.begin).dropna())


if __name__ == "__main__":
    install_readers()
    sys.path.insert(0, str(READERS))
    import pandas
    unittest.main(verbosity=2)
