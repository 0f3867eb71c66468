#!/usr/bin/env python3
"""check-language.py: fails on

- words that docs/glossary.md gives up, in code, scripts and documents;
- lines of more than 100 columns: comments of code, scripts and build files, also those behind code;
  documents, without their tables and examples; manual pages;
- a function of a header that has no contract;
- a name that docs/internals gives together with a file that does not define it; a function that
  docs/internals/walk.md names twice; a link to a file that is not there; a room without a row in
  ARCHITECTURE.md;
- two C files with the same name;
- differences between src/record/witnesses.h and the table of witnesses in docs/format/spool.md.

The words are those of the glossary's section "Given up in code": parts of identifiers (`lane` is
found in `lane_count`), and phrases in comments and texts. Words of foreign formats and interfaces
are listed there, too. tests/checks/planted-language.sh plants each fault.
"""
import ast
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, TAB = 100, 8
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
PLACE = re.compile(r"`(\w+)` \(`([\w/.]+\.[ch])`\)")
COMMENT_LINE = re.compile(r"\s*(/\*|\*( |/|$)|//)")
TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
# Generated, from what a measurement kept: each line is one paragraph.
GENERATED = ("docs/cuda-measured.md",)
# Files that name given-up words because they are about them.
NAMING_WORDS = ("docs/glossary.md", "scripts/check-language.py",
                "tests/checks/planted-language.sh")
# Files whose comments begin with "#", by the end of their names.
SCRIPTS = (".py", ".sh", ".cmake", ".in", ".list", ".supp", ".toml", ".txt", "Makefile", ".ci/run",
           ".clang-tidy", ".clang-format")
# A declaration of a function at the left margin of a header; its end may be on a later line.
# Functions with capitals in their names are vendors' ones.
DECLARATION = re.compile(r"^(?!(?:static|typedef|return|extern)\b)[A-Za-z_][\w \t*]*[ \t*]"
                         r"([a-z0-9_]+)\([^;{]*\)[^;{()]*;", re.M)


def glossary_list(title):
    """The words in backquotes of the item TITLE of the section "Given up in code"."""
    text = (ROOT / "docs/glossary.md").read_text().split("## Given up in code\n")[1]
    item = re.search(rf"- \*\*{title}\*\*: (.*?)(?=\n- \*\*|\n\n|\Z)", text, re.S)
    return re.findall(r"`([^`]+)`", item.group(1))


def sources():
    """The files of the tree that people write: {path: name}, without data, licences and ABI. A new
    file counts before git knows it."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()]
    return {ROOT / name: name for name in names
            if name.endswith((".c", ".h", ".S", ".md", ".man", *SCRIPTS)) and
            not name.startswith(("tests/data/", "fuzz/corpus/"))}


def given_up(name, text, words, phrases, foreign):
    """In documents and comments a word alone may be plain English; in an identifier it is not."""
    is_code = name.endswith((".c", ".h"))
    for number, line in enumerate(text.split("\n"), 1):
        for identifier in IDENTIFIER.findall(TEXT.sub('""', line) if is_code else line):
            parts = set(identifier.lower().split("_"))
            if parts & words and identifier not in foreign and (
                    "_" in identifier or is_code and not COMMENT_LINE.match(line)):
                yield number, (f"the glossary gives up `{', '.join(sorted(parts & words))}`: "
                               f"{identifier}")
        for phrase in phrases:
            if phrase in line:
                yield number, f'the glossary gives up "{phrase}"'


def comment_lines(name, text):
    """Numbers and texts of the lines that are, or have behind their code, a comment or text for
    people."""
    lines = text.split("\n")
    if name.endswith((".c", ".h", ".S")):
        return [(number, line) for number, line in enumerate(lines, 1)
                if COMMENT_LINE.match(line) or re.search(r"/[*/]", TEXT.sub('""', line))]
    if name.endswith(".md"):
        code = False
        found = []
        for number, line in enumerate(lines, 1):
            code ^= line.lstrip().startswith("```")
            # Tables and examples cannot be wrapped, nor can a single long address.
            if not code and not line.startswith(("|", "    ")) and " " in line.strip():
                found.append((number, line))
        return found
    if name.endswith(".man"):
        return list(enumerate(lines, 1))
    found = [(number, line) for number, line in enumerate(lines, 1)
             if re.search(r"(^|\s)#", TEXT.sub('""', line))]
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                found += [(number, lines[number - 1])
                          for number in range(node.lineno, node.end_lineno + 1)]
    return found


def long_lines(name, text):
    for number, line in comment_lines(name, text):
        if len(line.expandtabs(TAB)) > COLUMNS and name not in GENERATED:
            yield number, f"a line of {len(line.expandtabs(TAB))} columns; {COLUMNS} is the most"


def bare_functions(text):
    """Functions without a contract: no comment behind the declaration, above it, or above the group
    of lines without an empty one that it stands in, and no "contracts" in the title of its section
    ("---- ... ----")."""
    for found in DECLARATION.finditer(text):
        above = text[:found.start()]
        group = above.rsplit("\n\n", 1)[-1]
        title = above.rsplit("/* ----", 1)[1].split("*/", 1)[0] if "/* ----" in above else ""
        if "/*" not in group + text[found.end():].split("\n", 1)[0] and "contracts" not in title:
            yield text.count("\n", 0, found.start()) + 1, f"{found.group(1)} has no contract"


def source_files(name):
    """The files of src/ that a page means by NAME: a path in it, or the name alone."""
    name = name.removeprefix("src/")
    found = [ROOT / "src" / name] if "/" in name else (ROOT / "src").rglob(name)
    return [path for path in found if path.is_file()]


def defines(path, name):
    """Whether a file has NAME in its code at the left margin: defined there, or declared."""
    code = COMMENT.sub("", path.read_text())
    return re.search(rf"^(?!#include)\S.*?\b{name}\b|^{name}\b", code, re.M) is not None


def wrong_places(text, is_walk):
    """Rows "| `name`, ... | `file`, ... |" and words "`name` (`file`)" with a name that none of the
    files, below src/ or anywhere in it, defines; rows of the walk that name a function again."""
    seen = set()
    for number, line in enumerate(text.split("\n"), 1):
        named = [([name], [file]) for name, file in PLACE.findall(line)]
        row = re.match(r"\| ((?:`\w+`(?:, )?)+) \| ((?:`[\w/.]+\.[ch]`(?:, )?)+) \|", line)
        if row:
            names, files = (re.findall("`([^`]+)`", cell) for cell in row.groups())
            named.append((names, files))
            if is_walk and row.groups() in seen:
                yield number, f"{row.group(1)} is named twice"
            seen.add(row.groups())
        for names, files in named:
            for name in names:
                if not any(defines(place, name) for file in files for place in source_files(file)):
                    yield number, f"`{name}` is not in {', '.join(files)}"


def wrong_paths(name, text):
    """Links to files that are not there, and in docs/internals and ARCHITECTURE.md words in
    backquotes, too, that begin like a path of the tree."""
    folder = (ROOT / name).parent
    for number, line in enumerate(text.split("\n"), 1):
        for target in re.findall(r"\]\(([^)#:\s]+)\)", line):
            if not (folder / target).exists():
                yield number, f"a link to {target}, which is not there"
        if name != "ARCHITECTURE.md" and not name.startswith("docs/internals/"):
            continue
        for path in re.findall(r"`((?:src|docs|tests|scripts|include)/[\w./-]+)`", line):
            if not (ROOT / path).exists():
                yield number, f"{path} is not there"


def rooms_without_row():
    """Folders of src/ that have no row in ARCHITECTURE.md."""
    page = ROOT / "ARCHITECTURE.md"
    rooms = sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())
    for room in rooms if page.is_file() else ():
        if f"[`src/{room}`](docs/internals/" not in page.read_text():
            yield f"ARCHITECTURE.md: the table of rooms does not have src/{room}"


def names_that_stand_twice(names):
    """C files of the same name, in different folders: a name alone must say which file is meant."""
    places = collections.defaultdict(list)
    for name in names:
        if name.endswith((".c", ".h")):
            places[Path(name).name].append(name)
    for found in places.values():
        if len(found) > 1:
            yield f"{', '.join(sorted(found))}: files of one name"


def witness_differences():
    """Lines of one that the other lacks: the X-macro's `X(ID, "source", "key")` and the rows `|
    source | `key` |`."""
    listed = re.findall(r'X\(\w+, "(\w+)", "(\w+)"\)', (ROOT / "src/record/witnesses.h").read_text())
    described = re.findall(r"^\| (\w+) \| `(\w+)` \|", (ROOT / "docs/format/spool.md").read_text()
                           .split("### Witnesses: WITNESS\n")[1].split("\n#")[0], re.M)
    for source, key in sorted(set(listed) ^ set(described)):
        yield f"{source}, {key}: in one of src/record/witnesses.h and docs/format/spool.md"


def main():
    words, foreign = set(glossary_list("Parts of identifiers")), set(glossary_list("Foreign names"))
    phrases = glossary_list("Phrases")
    count = 0
    for path, name in sources().items():
        text = path.read_text()
        faults = [*long_lines(name, text)]
        if name not in NAMING_WORDS:
            faults += given_up(name, text, words, phrases, foreign)
        if name.endswith(".h") and "/vendor/" not in name:
            faults += bare_functions(text)
        if name.startswith("docs/internals/"):
            faults += wrong_places(text, name.endswith("/walk.md"))
        if name.endswith(".md"):
            faults += wrong_paths(name, text)
        for number, fault in sorted(faults):
            print(f"{name}:{number}: {fault}", file=sys.stderr)
        count += len(faults)
    for fault in [*witness_differences(), *rooms_without_row(),
                  *names_that_stand_twice(sources().values())]:
        print(fault, file=sys.stderr)
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
