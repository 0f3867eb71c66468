#!/usr/bin/env python3
"""check-language.py: fails on words in code that docs/glossary.md gives up, on comment lines of more than 100
columns, on a function of an internal or public header that has no contract, on a function that docs/internals names
in a table together with a file that does not have it, and where src/record/witnesses.h and the table of witnesses in
docs/format/spool.md differ.

The words are those of the glossary's section "Given up in code": parts of identifiers (`lane` is found in
`lane_count`), and phrases in comments and messages. Words of foreign formats and interfaces are listed there, too.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, TAB = 100, 8
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COMMENT_LINE = re.compile(r"\s*(/\*|\*( |/|$)|//)")
# A declaration of a function at the left margin of a header; its end may be on a later line.
DECLARATION = re.compile(r"^(?!(?:static|typedef|return|extern)\b)[A-Za-z_][\w \t*]*[ \t*](\w+)\([^;{]*\)[^;{()]*;", re.M)


def glossary_list(title):
    """The words in backquotes of the item TITLE of the section "Given up in code"."""
    text = (ROOT / "docs/glossary.md").read_text().split("## Given up in code\n")[1]
    item = re.search(rf"- \*\*{title}\*\*: (.*?)(?=\n- \*\*|\n\n|\Z)", text, re.S)
    return re.findall(r"`([^`]+)`", item.group(1))


def sources():
    listed = subprocess.run(["git", "ls-files", "src", "include", "tests", "bench", "fuzz", "examples"], cwd=ROOT,
                            check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name.endswith((".c", ".h"))]


def given_up(path, text, words, phrases, foreign):
    for number, line in enumerate(text.split("\n"), 1):
        for identifier in IDENTIFIER.findall(re.sub(r'"(?:\\.|[^"\\])*"', '""', line)):
            parts = set(identifier.lower().split("_"))
            if parts & words and identifier not in foreign and ("_" in identifier or not COMMENT_LINE.match(line)):
                yield number, f"the glossary gives up `{', '.join(sorted(parts & words))}`: {identifier}"
        for phrase in phrases:
            if phrase in line:
                yield number, f'the glossary gives up "{phrase}"'


def long_comments(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if COMMENT_LINE.match(line) and len(line.expandtabs(TAB)) > COLUMNS:
            yield number, f"a comment line of {len(line.expandtabs(TAB))} columns; {COLUMNS} is the most"


def bare_functions(path, text):
    """Functions without a contract: no comment behind the declaration, above it, or above the group of lines without
    an empty one that it stands in, and no "contracts" in the title of its section ("---- ... ----")."""
    for found in DECLARATION.finditer(text):
        above = text[:found.start()]
        group = above.rsplit("\n\n", 1)[-1]
        title = above.rsplit("/* ----", 1)[1].split("*/", 1)[0] if "/* ----" in above else ""
        if "/*" not in group + text[found.end():].split("\n", 1)[0] and "contracts" not in title:
            yield text.count("\n", 0, found.start()) + 1, f"{found.group(1)} has no contract"


def wrong_places(path, text):
    """Rows "| `name` | `file` |" whose file, below src/ or anywhere in it, does not have the name."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"\| `(\w+)` \| `([\w/.]+\.[ch])` \|", line)
        if not found:
            continue
        name, file = found.groups()
        places = [ROOT / "src" / file] if "/" in file else list((ROOT / "src").rglob(file))
        if not any(place.is_file() and re.search(rf"\b{name}\b", place.read_text()) for place in places):
            yield number, f"`{name}` is not in {file}"


def witness_differences():
    """Lines of one that the other lacks: the X-macro's `X(ID, "source", "key")` and the rows `| source | `key` |`."""
    listed = re.findall(r'X\(\w+, "(\w+)", "(\w+)"\)', (ROOT / "src/record/witnesses.h").read_text())
    described = re.findall(r"^\| (\w+) \| `(\w+)` \|", (ROOT / "docs/format/spool.md").read_text()
                           .split("### Witnesses: WITNESS\n")[1].split("\n#")[0], re.M)
    for source, key in sorted(set(listed) ^ set(described)):
        yield f"{source}, {key}: in one of src/record/witnesses.h and docs/format/spool.md"


def main():
    words, foreign = set(glossary_list("Parts of identifiers")), set(glossary_list("Foreign names"))
    phrases = glossary_list("Phrases")
    count = 0
    for path in sources():
        text = path.read_text()
        faults = [*given_up(path, text, words, phrases, foreign), *long_comments(path, text)]
        name = path.relative_to(ROOT)
        if name.suffix == ".h" and name.parts[0] in ("src", "include") and "vendor" not in name.parts:
            faults += bare_functions(path, text)
        for number, fault in sorted(faults):
            print(f"{name}:{number}: {fault}", file=sys.stderr)
        count += len(faults)
    for path in sorted((ROOT / "docs/internals").glob("*.md")):
        for number, fault in wrong_places(path, path.read_text()):
            print(f"{path.relative_to(ROOT)}:{number}: {fault}", file=sys.stderr)
            count += 1
    for fault in witness_differences():
        print(fault, file=sys.stderr)
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
