#!/usr/bin/env python3
"""`dagtap report` in headless Chromium: the page shows the numbers of the commands' --json.

Without Chromium the test is skipped (exit status 77), and says so.
"""

import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from readers import dagtap

DATA = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests" / "data"
RECORDING, OTHER = DATA / "jax-steps.dagtap", DATA / "torch-small.json"
# By first word of a table's data-source: the command whose --json has its rows.
COMMANDS = {
    "summary": ["summary"], "by_scope": ["summary", "--by", "scope"], "by_stream": ["summary", "--by", "stream"],
    "by_api": ["summary", "--by", "api"], "graph": ["graph"], "path": ["path"], "check": ["check"],
    "gaps": ["gaps", "--limit", "100"], "memory": ["memory"],
}


class Shown(html.parser.HTMLParser):
    """The rows, {key: value}, of each table with a data-source; the numbers of the cards."""

    def __init__(self):
        super().__init__()
        self.tables, self.cards, self.rows, self.is_ready = {}, {}, None, False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.is_ready |= attributes.get("data-ready") == "yes"
        if tag == "table":
            self.rows = self.tables.setdefault(attributes.get("data-source"), [])
        elif tag == "tr" and self.rows is not None:
            self.rows.append({})
        elif "data-value" in attributes and tag == "td":
            self.rows[-1][attributes["data-key"]] = float(attributes["data-value"])
        elif "data-value" in attributes:
            self.cards[attributes["data-key"]] = float(attributes["data-value"])


def at(value, path):
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


class Chromium(unittest.TestCase):
    def show(self, *files):
        with tempfile.TemporaryDirectory() as work:
            page = pathlib.Path(work) / "page.html"
            dagtap(self, "report", "-o", page, *files)
            done = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work}/profile",
                 "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True)
        shown = Shown()
        shown.feed(done.stdout)
        self.assertTrue(shown.is_ready, "the page's script did not come to its end")
        return shown

    def expect_rows(self, source, rows, wanted):
        """Each row that is shown is, in order, one of those wanted."""
        shown = [row for row in rows if row]
        self.assertLessEqual(len(shown), len(wanted))
        for row, want in zip(shown, wanted):
            for key, value in row.items():
                self.assertEqual(value, at(want, key.split(".")), f"{source}: {key}")

    def test_a_recording(self):
        shown = self.show(RECORDING)
        steps = json.loads(dagtap(self, "report", "--json", RECORDING))["holds"]["steps_of"]
        answers = {name: json.loads(dagtap(self, *command, "--json", RECORDING)) for name, command in COMMANDS.items()}
        answers["steps"] = json.loads(dagtap(self, "scopes", "--json", RECORDING, steps))
        for key, value in shown.cards.items():
            self.assertEqual(value, at(answers, key.split(".")), key)
        self.assertIn("summary.totals.kernels", shown.cards)
        for source, rows in shown.tables.items():
            if source and source != "steps":
                self.expect_rows(source, rows, at(answers, source.split(".")))
        for source in ("summary.kernels", "summary.copies", "by_scope.rows", "by_api.rows", "steps.instances",
                       "path.streams", "memory.devices", "check.sources"):
            self.assertTrue(any(shown.tables[source]), source)
        figures = [answers["steps"][figure] for figure in ("host", "projection", "busy", "idle")]
        self.expect_rows("steps", shown.tables["steps"], figures)

    def test_a_comparison(self):
        shown = self.show(RECORDING, OTHER)
        for source, by in (("diff", "kernel"), ("diff_scope", "scope"), ("diff_api", "api")):
            wanted = json.loads(dagtap(self, "diff", "--by", by, "--json", RECORDING, OTHER))
            self.expect_rows(source, shown.tables[f"{source}.rows"], wanted["rows"])
            self.assertTrue(any(shown.tables[f"{source}.rows"]), source)


if __name__ == "__main__":
    if not shutil.which("chromium"):
        print("skipped: chromium is not installed")
        sys.exit(77)
    unittest.main(verbosity=2)
