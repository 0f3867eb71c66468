#!/usr/bin/env python3
"""Keeps the output in docs/questions.md what dagtap prints.

    gen-questions.py check DAGTAP PAGE    fails when an output on the page is another than DAGTAP's
    gen-questions.py write DAGTAP PAGE    writes the outputs into the page

A block of the page that begins with "$ dagtap ..." has the command, as typed in tests/data, and
what it prints on a terminal of 98 columns. A line "[...]" stands for the rest of a long output.
"""

import difflib
import fcntl
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
import threading

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
COLUMNS = 98
CUT = "[...]"
BLOCK = re.compile(r"^```console\n\$ dagtap (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
END = b"\x01"


def read_until_end(terminal, chunks):
    """Linux may report a hang-up before what was written last: END is written behind the output."""
    while not chunks or not chunks[-1].endswith(END):
        chunks.append(os.read(terminal, 65536))


def run(dagtap, arguments):
    """What the command prints on a terminal, without colours and progress."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    chunks = []
    reader = threading.Thread(target=read_until_end, args=(terminal, chunks), daemon=True)
    reader.start()
    result = subprocess.run([dagtap, *shlex.split(arguments)], cwd=DATA, stdin=subprocess.DEVNULL, stdout=end,
                            stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"}, check=False)
    os.write(end, END)
    reader.join()
    os.close(end)
    os.close(terminal)
    if result.returncode != 0:
        sys.exit(f"dagtap {arguments}: {result.stderr.decode()}")
    lines = b"".join(chunks)[:-1].decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def renew(dagtap, match):
    arguments, shown = match.group(1), match.group(2)
    output = run(dagtap, arguments)
    if shown.endswith(f"{CUT}\n"):
        output = "".join(output.splitlines(True)[:shown.count("\n") - 1]) + f"{CUT}\n"
    return f"```console\n$ dagtap {arguments}\n{output}```"


def main():
    action, dagtap, page = sys.argv[1], os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3])
    old = page.read_text()
    new = BLOCK.sub(lambda match: renew(dagtap, match), old)
    if not BLOCK.search(old) or len(BLOCK.findall(old)) != old.count("$ dagtap "):
        sys.exit(f"{page}: not every command is in a block of its own")
    if action == "write":
        page.write_text(new)
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "the page", "dagtap"))
        sys.exit(f"{page} is not what dagtap prints; scripts/gen-questions.py write renews it")


main()
