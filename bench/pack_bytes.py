#!/usr/bin/env python3
"""pack_bytes.py FILE.dagtap...: where a recording's bytes go, by record type and field
(docs/format/dagtap.md).

Counts the stored bytes of each series, as they are compressed; nothing is unpacked. Fields are
named by their offset in the record."""
import collections
import pathlib
import re
import struct
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PACKED = 3


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def u8(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def blob(self, size):
        """Passes a blob of SIZE unpacked bytes; returns them if they are not compressed."""
        if not size:
            return b""
        form = self.u8()
        if form == 0:
            return bytes([self.u8()]) * size
        stored = size if form == 1 else self.varint()
        self.at += stored
        return self.data[self.at - stored:self.at] if form == 1 else None

    def series(self, rows):
        """Passes a series; returns its bytes and how its numbers are predicted."""
        begin, what = self.at, self.u8()
        if what % 16 == 1:
            self.varint()
        if what % 16:
            self.blob(self.varint())
        for _ in range(self.u8()):
            self.blob(rows)
        return self.at - begin, ("plain", "lag", "keyed", "template", "dictionary")[what % 16] + (f" {what // 16}" if what // 16 else "")


def type_names():
    """By number, from the list of src/record/record_types.h."""
    text = (SOURCE / "src/record/record_types.h").read_text()
    listed = text[text.index("#define RECORD_TYPES(X)"):text.index("enum record_type {")]
    return {number + 1: name for number, name in enumerate(re.findall(r"^\tX\((\w+), \w+\)", listed, re.M))}


def group_rows(shapes, counts):
    """Rows of each group, from the block's counts by type. Types are of one group only."""
    rows, seen = collections.Counter(), set()
    for kind, _, group in shapes:
        if group and kind not in seen:
            rows[group] += counts[kind]
            seen.add(kind)
    return rows


def read_group(reader, rows, name, found):
    begin, counted = reader.at, 0
    reader.varint()
    fields = reader.varint()
    reader.u8()
    for _ in range(fields):
        offset, end = reader.varint(), reader.varint()
        reader.u8(), reader.u8()
        for what in (["length", "begin"] if end else [""]):
            size, how = reader.series(rows)
            counted += size
            found[name, f"{offset} {what}".strip()][0] += size
            found[name, f"{offset} {what}".strip()][1][how] += 1
    found["(descriptions)", ""][0] += 4 + reader.at - begin - counted


def read_block(data, entry_counts, names, found, rows_by_type):
    reader = Reader(data)
    count, shape_count = reader.varint(), reader.varint()
    shapes = [(reader.varint(), reader.varint(), reader.varint()) for _ in range(shape_count)]
    for _ in range(2 if shape_count > 256 else 1):
        reader.blob(count)
    found["(order of types)", ""][0] += reader.at
    for kind, total in enumerate(entry_counts):
        rows_by_type[names.get(kind, "unknown")] += total
    rows = group_rows(shapes, entry_counts)
    if not all(group for _, _, group in shapes):
        # Group 0 is one blob whose size follows from the records: what is left before the first
        # group.
        begin = reader.at
        form = reader.u8()
        if form == 0:
            reader.u8()
        elif form == 2:
            size = reader.varint()
            reader.at += size
        else:
            # Stored as they are, with a size that only the unpacked shapes tell.
            found["(small blocks)", ""][0] += len(data) - begin
            return
        found["(records without fields)", ""][0] += reader.at - begin
    for group in sorted(rows):
        if not rows[group]:
            continue
        size = struct.unpack_from("<I", data, reader.at)[0]
        inner = Reader(data, reader.at + 4)
        name = "+".join(sorted({names.get(kind, str(kind)) for kind, _, at in shapes if at == group}))
        read_group(inner, rows[group], name, found)
        found[name, "tail"][0] += reader.at + 4 + size - inner.at
        reader.at += 4 + size


def read_section(data, names, found, rows):
    facts, facts_bytes, blocks, entry_bytes, types = struct.unpack_from("<QIIII", data, len(data) - 48)
    found["(facts and index)", ""][0] += len(data) - facts
    index = len(data) - 48 - blocks * entry_bytes
    for block in range(blocks):
        at = index + block * entry_bytes
        offset = struct.unpack_from("<Q", data, at)[0]
        stored = struct.unpack_from("<I", data, at + 32)[0]
        read_block(data[offset:offset + stored], struct.unpack_from(f"<{types}I", data, at + 56), names, found, rows)


def print_table(found, rows):
    by_type = collections.Counter()
    for (name, _), (size, _) in found.items():
        by_type[name] += size
    for name, size in by_type.most_common():
        total = sum(rows[part] for part in name.split("+"))
        print(f"  {name:28} {size:10}" + (f" {total:10} rows {size / total:8.2f} a row" if total else ""))
        for (of, field), (part, hows) in sorted(found.items(), key=lambda item: -item[1][0]):
            if of == name and field and part * 100 > size:
                how = ", ".join(f"{how} x{times}" for how, times in hows.most_common(3))
                print(f"    {field:14} {part:10}" + (f" {part / total:8.2f}" if total else "") + f"  {how}")


def main():
    names, status = type_names(), 0
    for path in sys.argv[1:]:
        data = pathlib.Path(path).read_bytes()
        count, = struct.unpack_from("<I", data, 12)
        index, = struct.unpack_from("<Q", data, 24)
        found, rows, packed = collections.defaultdict(lambda: [0, collections.Counter()]), collections.Counter(), 0
        for section in range(count):
            kind, _, offset, size = struct.unpack_from("<IIQQ", data, index + 64 * section)
            if kind == PACKED:
                packed += size
                read_section(data[offset:offset + size], names, found, rows)
        counted = sum(size for size, _ in found.values())
        print(f"{path}: {len(data)} bytes, packed {packed}")
        print_table(found, rows)
        if counted != packed:
            print(f"{counted} bytes were counted", file=sys.stderr)
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
