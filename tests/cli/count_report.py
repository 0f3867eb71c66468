#!/usr/bin/env python3
"""count_report.py recording|comparison|large DAGTAP WORK FILE [B]: judges `dagtap report`.

The data in the page is parsed as a browser parses it, and compared with what the commands print,
and with sums over the CSV of the same file.
"""

import collections
import csv
import html.parser
import json
import pathlib
import subprocess
import sys

PAGE_BYTES = 20_000_000
# By member of the data: the command that prints the same.
COMMANDS = {
    "info": ["info"], "check": ["check"], "summary": ["summary"], "by_scope": ["summary", "--by", "scope"],
    "by_stream": ["summary", "--by", "stream"], "by_api": ["summary", "--by", "api"], "graph": ["graph"],
    "scopes": ["scopes"], "path": ["path"], "gaps": ["gaps", "--limit", "100"], "memory": ["memory"],
}


class Page(html.parser.HTMLParser):
    """Keeps the data, and every address that the page would fetch."""

    def __init__(self):
        super().__init__()
        self.data, self.addresses, self.is_data = "", [], False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.is_data = tag == "script" and attributes.get("id") == "data"
        self.addresses += [value for key, value in attributes.items() if key in ("src", "href") and value[:1] != "#"]

    def handle_data(self, data):
        if self.is_data:
            self.data += data


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {str(got)[:500]}, not {str(want)[:500]}")


def read_page(path):
    page = Page()
    page.feed(path.read_text())
    expect("addresses", page.addresses, [])
    if path.stat().st_size > PAGE_BYTES:
        sys.exit(f"{path}: {path.stat().st_size} bytes")
    return json.loads(page.data)


def command(dagtap, *arguments):
    return json.loads(subprocess.run([dagtap, *arguments], check=True, capture_output=True).stdout)


def is_head(part, whole):
    """Whether PART is WHOLE with lists that may be shorter."""
    if isinstance(part, list) and isinstance(whole, list):
        return part == whole[:len(part)]
    if isinstance(part, dict) and isinstance(whole, dict):
        return part.keys() == whole.keys() and all(is_head(part[key], whole[key]) for key in part)
    return part == whole


def busy_by_csv(work):
    """The time of all timed activities by kind."""
    sums = collections.Counter()
    with open(work / "activities.csv", newline="") as file:
        for row in csv.DictReader(file):
            if not row["untimed"]:
                sums[row["kind"]] += int(row["end_ns"]) - int(row["start_ns"])
    return +sums


def check_timeline(timeline, work):
    sums = collections.Counter()
    for track in timeline["tracks"]:
        for kind, busy in track["busy_ns"].items():
            expect("bins", len(busy), timeline["bin_count"])
            if min(busy) < 0 or max(busy) > timeline["bin_ns"]:
                sys.exit(f"a bin of {timeline['bin_ns']} ns with {min(busy)} to {max(busy)} ns")
            if track["kind"] == "stream":
                sums[kind] += sum(busy)
    expect("busy times", +sums, busy_by_csv(work))
    expect("rows of tracks", sum(track["row_count"] for track in timeline["tracks"]), timeline["row_count"])
    for window in timeline["windows"]:
        check_window(timeline, window)


def check_window(timeline, window):
    count = window["row_count"]
    for column in ("table", "track", "start_ns", "duration_ns", "name", "scope", "node", "call"):
        expect(f"column {column}", len(window[column]), count)
    span = window["end_ns"] - window["begin_ns"]
    for i in range(count):
        if window["start_ns"][i] > span or window["start_ns"][i] + window["duration_ns"][i] < 0:
            sys.exit(f"row {i} is not in its window")
        call = window["call"][i]
        if call >= 0 and (window["table"][call], window["table"][i]) != (1, 0):
            sys.exit(f"row {i}: its call is no call")
    for edge in window["edges"]:
        if window["table"][edge["from"]] != 0 or edge["to"] >= count:
            sys.exit(f"not an edge: {edge}")


def check_recording(dagtap, work, path):
    data = read_page(work / "page.html")
    expect("--json", json.loads((work / "data.json").read_text()), data)
    for member, arguments in COMMANDS.items():
        expect(member, data[member], command(dagtap, *arguments, "--json", path))
    expect("steps", data["steps"], command(dagtap, "scopes", "--json", path, data["holds"]["steps_of"]))
    expect("the same", data["steps"], command(dagtap, "scopes", "--json", path, "--step-of", data["holds"]["step_of"]))
    expect("windows", [window["why"] for window in data["timeline"]["windows"]], ["all of it"])
    expect("rows", data["timeline"]["windows"][0]["row_count"], data["timeline"]["row_count"])
    check_timeline(data["timeline"], work)
    # Of each graph launch the edges that lie within one replay's row order are in the window.
    kinds = collections.Counter(edge["kind"] for edge in data["timeline"]["windows"][0]["edges"])
    if not kinds["graph_edge"]:
        sys.exit(f"no edge of a graph: {kinds}")


def check_graphs(dagtap, work, path):
    """Of a program without scopes: its only graph, replayed six times."""
    data = json.loads((work / "data.json").read_text())
    graphs = [row for row in command(dagtap, "graph", "--json", path)["graphs"] if row["replays"] >= 3]
    longest = max(graphs, key=lambda row: row["work_ns"])
    expect("step_of", data["holds"]["step_of"], f"graph:{longest['id']}")
    expect("steps_of", data["holds"]["steps_of"], f"graph {longest['id']} step *")
    expect("steps", data["steps"], command(dagtap, "scopes", "--json", path, "--step-of", data["holds"]["step_of"]))
    expect("instances", data["steps"]["instance_count"], longest["replays"])


def check_large(dagtap, work, path):
    data = read_page(work / "page.html")
    for member, arguments in COMMANDS.items():
        if data[member] is not None and not is_head(data[member], command(dagtap, *arguments, "--json", path)):
            if member != "graph":  # graphs with less work may be left out
                sys.exit(f"{member} is not the head of what the command prints")
    timeline = data["timeline"]
    whys = [window["why"] for window in timeline["windows"]]
    expect("windows", whys[-2:], ["the begin of the GPUs' work", "the end of the GPUs' work"])
    held = sum(window["row_count"] for window in timeline["windows"])
    if not 0 < held <= data["holds"]["sections"]["timeline"]["limit"] < timeline["row_count"]:
        sys.exit(f"{held} rows of {timeline['row_count']}")
    check_timeline(timeline, work)


def check_comparison(dagtap, work, a, b):
    data = read_page(work / "pair.html")
    expect("kind", data["kind"], "comparison")
    for member, by in (("diff", "kernel"), ("diff_node", "node"), ("diff_scope", "scope"), ("diff_api", "api")):
        expect(member, data[member], command(dagtap, "diff", "--by", by, "--json", a, b))
    for member, path in (("summary_a", a), ("summary_b", b)):
        expect(member, data[member], command(dagtap, "summary", "--json", path))


if __name__ == "__main__":
    check = {"recording": check_recording, "graphs": check_graphs, "large": check_large, "comparison": check_comparison}[sys.argv[1]]
    check(sys.argv[2], pathlib.Path(sys.argv[3]), *sys.argv[4:])
