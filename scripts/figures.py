#!/usr/bin/env python3
"""figures.py [TREE [BUILD]]: how large the code of TREE is and how it is written: lines, comments,
long lines, files and functions, names of files that stand twice, and, of a BUILD, circles of files.
TREE is this repository if it is not given; any other version's checkout can be measured by the same
script.
"""
import collections
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOMS = ("src", "include", "tests", "bench", "fuzz", "examples")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(/\*.*?\*/|//[^\n]*)', re.S)
LONG_FILE, LONG_FUNCTION, COLUMNS, TAB = 500, 40, 100, 8


def tracked(tree, room):
    listed = subprocess.run(["git", "ls-files", room], cwd=tree, check=True, capture_output=True, text=True)
    return [tree / name for name in listed.stdout.split("\n") if name.endswith((".c", ".h")) and (tree / name).is_file()]


def comment_lines(text):
    """Lines that hold nothing but a comment, and those with code and a comment behind it, each
    counted as one."""
    return sum(found.group(1).count("\n") + 1 for found in COMMENT.finditer(text) if found.group(1))


def function_lengths(text):
    """Lines of each function body, braces not counted: from a "{" to a "}" at the left margin."""
    lines, begin = text.split("\n"), None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            yield number - begin - 1
            begin = None


def measure(files):
    texts = {path: path.read_text() for path in files}
    lines = sum(text.count("\n") for text in texts.values())
    comments = sum(map(comment_lines, texts.values()))
    blank = sum(not line.strip() for text in texts.values() for line in text.split("\n")[:-1])
    lengths = [length for path, text in texts.items() if path.suffix == ".c" for length in function_lengths(text)]
    return {
        "files": len(files), "lines": lines, "code": lines - comments - blank,
        "comments %": round(100 * comments / max(lines - blank, 1), 1),
        f"lines over {COLUMNS}": sum(len(line.expandtabs(TAB)) > COLUMNS for text in texts.values() for line in text.split("\n")),
        "longest line": max((len(line.expandtabs(TAB)) for text in texts.values() for line in text.split("\n")), default=0),
        f"files over {LONG_FILE}": sum(text.count("\n") > LONG_FILE for text in texts.values()),
        "functions": len(lengths), "median": int(statistics.median(lengths)) if lengths else 0,
        f"functions over {LONG_FUNCTION}": sum(length > LONG_FUNCTION for length in lengths),
    }


def print_table(rows):
    keys = list(next(iter(rows.values())))
    print("| |" + "|".join(keys) + "|\n|---|" + "---:|" * len(keys))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(f"{row[key]:,}" for key in keys) + " |")


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    rows = {room: measure(tracked(tree, room)) for room in ROOMS}
    src = tracked(tree, "src")
    rows["src, .c"] = measure([path for path in src if path.suffix == ".c"])
    rows["src, .h"] = measure([path for path in src if path.suffix == ".h"])
    print_table(rows)
    names = collections.Counter(path.name for room in ROOMS for path in tracked(tree, room))
    print(f"\nnames of files that stand twice: {sum(count > 1 for count in names.values())}")
    if len(sys.argv) > 2:
        found = subprocess.run([sys.executable, Path(__file__).parent / "check-circles.py", sys.argv[2]], check=False,
                               capture_output=True, text=True).stderr
        sizes = [int(size) for size in re.findall(r"a circle of (\d+) files", found)]
        print(f"circles of files: {len(sizes)}, of {sum(sizes)} files")


if __name__ == "__main__":
    main()
