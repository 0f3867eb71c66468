"""waits.py WAITS RECORDS OUTPUT WAITS.csv EVENTS.csv: what the program printed
(examples/hip/common/waits.h) against the rows: as many, each for the same record, each stream of
the program's one stream of the trace."""
import csv
import re
import sys

LINE = re.compile(r"wait (\d+) by (\S+) for "
                  r"(nothing|record (\d+) on (\S+)(?: by node (\d+) of replay (\d+))?|all(?: on (\S+))?)$")


def main():
    want_waits, want_records = int(sys.argv[1]), int(sys.argv[2])
    said = [LINE.match(line) for line in open(sys.argv[3]) if line.startswith("wait ")]
    waits = list(csv.DictReader(open(sys.argv[4])))
    records = list(csv.DictReader(open(sys.argv[5])))
    streams = {}

    def same_stream(handle, ordinal):
        assert streams.setdefault(handle, ordinal) == ordinal != "", (handle, ordinal, streams)

    assert len(said) == len(waits) == want_waits, (len(said), len(waits))
    assert len(records) == want_records, len(records)
    for line, wait in zip(said, waits):
        number, who, what, record, on, node, replay, all_on = line.groups()
        by_host = "stream" if all_on else "device" if what == "all" else "event"
        assert wait["type"] == ("stream_event" if who != "host" else by_host), (line.group(), wait)
        if who != "host":
            same_stream(who, wait["stream"])
        if all_on:
            same_stream(all_on, wait["stream"])
        if record is None:
            assert wait["producer_cid"] == "", (line.group(), wait)
            continue
        producer = records[int(record) - 1]
        assert wait["known"] == "order", (line.group(), wait)
        assert wait["producer_cid"] == producer["cid"], (line.group(), wait, producer)
        assert wait["producer_stream"] == producer["stream"], (line.group(), wait, producer)
        assert (wait["producer_node"], wait["producer_replay"]) == (node or "", replay or ""), (line.group(), wait)
        assert all(wait["producer_" + key] == producer[key] for key in ("graph", "exec", "replay", "node"))
        assert (wait["event"], wait["generation"]) == (producer["event"], producer["generation"])
        same_stream(on, producer["stream"])
    assert len(set(streams.values())) == len(streams), streams


main()
