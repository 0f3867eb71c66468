"""What an OTF2 archive of dagtap must hold: each row of the CSV tables, once. The readers that are
not ours give lists of Region, which expect_rows compares."""

import collections
import dataclasses
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
# pylint: disable=wrong-import-position
from table_csv import describe, read_csv, text_of_csv


@dataclasses.dataclass
class Region:
    location: str
    is_thread: bool
    name: str
    begin: int
    attributes: dict
    end: int = None


class Stacks:
    """Makes Regions of the events of all locations, and fails where they do not nest."""

    def __init__(self, test):
        self.test = test
        self.regions = []
        self.open = collections.defaultdict(list)
        self.last = {}

    def see(self, location, ns):
        self.test.assertGreaterEqual(ns, self.last.get(location, 0))
        self.last[location] = ns

    def enter(self, location, region):
        self.see(location, region.begin)
        self.open[location].append(region)
        self.regions.append(region)

    def leave(self, location, ns, name):
        self.see(location, ns)
        region = self.open[location].pop()
        self.test.assertEqual(region.name, name)
        region.end = ns

    def finish(self):
        self.test.assertEqual([rows for rows in self.open.values() if rows], [])
        return self.regions


EVENT = re.compile(r'(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>')
ATTRIBUTE = re.compile(r'\("(\w+)" <\d+>; \w+; (?:"(.*?)" <\d+>|(-?\d+))\)(?=, \("|$)')
LOCATION = re.compile(r'LOCATION +(\d+)  Name: "(.*)" <\d+>, Type: (\w+), # Events: (\d+), Group')


def read_printed(test, archive):
    """The regions as otf2-print has them; it must have nothing to complain of."""
    def run(*options):
        result = subprocess.run(["otf2-print", "-Werror", *options, archive / "traces.otf2"],
                                capture_output=True, text=True, check=False)
        test.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    locations = {int(match[1]): match.groups()[1:] for match in map(LOCATION.match, run("-G"))
                 if match}
    stacks = Stacks(test)
    counts = collections.Counter()
    for line in run():
        match = EVENT.match(line)
        if match:
            kind, number, ns, name = match[1], int(match[2]), int(match[3]), match[4]
            counts[number] += 1
            if kind == "ENTER":
                place = locations[number]
                stacks.enter(number, Region(place[0], place[1] == "CPU_THREAD", name, ns, {}))
            else:
                stacks.leave(number, ns, name)
        elif "ADDITIONAL ATTRIBUTES" in line:
            for key, text, value in ATTRIBUTE.findall(line):
                stacks.open[number][-1].attributes[key] = int(value) if value else text
    test.assertEqual(dict(counts), {number: int(place[2]) for number, place in locations.items()})
    return stacks.finish()


def table(recording, name):
    names = [column.name for column in describe()[name]]
    return [dict(zip(names, row)) for row in read_csv(recording, name)]


def known(row, *keys):
    return {key: row[key] for key in keys if row[key] is not None}


def expected_activity(row):
    attributes = {"category": row["kind"],
                  **known(row, "cid", "graph", "exec", "replay", "node", "scope", "bytes",
                          "untimed")}
    if row["confidence"] not in (None, "exact"):
        attributes["confidence"] = row["confidence"]
    stream = "no stream" if row["stream"] is None else f"stream {row['stream']}"
    return (row["name"] if row["kind"] == "kernel" else None,
            "untimed, at submission" if row["untimed"] else stream,
            row["submit_ns"] if row["untimed"] else row["start_ns"],
            row["submit_ns"] if row["untimed"] else row["end_ns"], sorted(attributes.items()))


def found_activity(region):
    """The same of a region."""
    attributes = {key: text_of_csv(value) if isinstance(value, str) else value
                  for key, value in region.attributes.items()}
    is_kernel = attributes["category"] == "kernel"
    return (text_of_csv(region.name) if is_kernel else None,
            region.location.split(", overlapping")[0], region.begin, region.end,
            sorted(attributes.items()))


def expect_rows(test, recording, regions):
    """Asserts that REGIONS are the activities, the calls and the timed scopes of RECORDING."""
    work = [region for region in regions if not region.is_thread]
    host = [region for region in regions if region.is_thread]
    test.assertEqual(sorted(map(repr, map(found_activity, work))),
                     sorted(repr(expected_activity(row)) for row in table(recording, "activities")))
    calls = [region for region in host if "cid" in region.attributes]
    test.assertEqual(
        sorted((text_of_csv(region.name), region.begin, region.end, region.attributes["cid"],
                region.attributes.get("result", 0)) for region in calls),
        sorted((row["api"], row["begin_ns"], row["end_ns"], row["cid"], row["result"])
               for row in table(recording, "calls")))
    scopes = [region for region in host if region.attributes["category"] == "scope"]
    test.assertEqual(
        sorted((region.attributes["scope_id"], region.begin, region.end) for region in scopes),
        sorted((row["scope_id"], row["begin_ns"], row["end_ns"])
               for row in table(recording, "scopes") if row["begin_ns"] is not None))
    test.assertEqual(len(work) + len(calls) + len(scopes), len(regions))
