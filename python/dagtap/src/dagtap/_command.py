"""Runs the program dagtap and gives what it prints.

The answers of the package are the JSON that the program prints, which docs/json.md describes and
which programs in other languages read, too: there is one source of truth, and a Python program gets
every key that a new version adds.
"""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import warnings
from typing import Any, Mapping, Union

from . import _installation
from ._errors import DamageWarning, make_error

_LOSS = 3

Option = Union[bool, int, str, None]


def options(given: Mapping[str, Option]) -> list[str]:
    """The command's options: step_of="x" is --step-of x, and from_ is --from. None and False are
    left out."""
    made: list[str] = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        made += [option] if value is True else [f"{option}={value}"]
    return made


def ask(command: str, file: str, *operands: str, warns: bool = True, **given: Option) -> Any:
    """What `dagtap COMMAND --json ... FILE OPERANDS` prints. Error if it prints nothing, with its
    message; DamageWarning, if WARNS, if FILE is damaged and the command printed what is left."""
    if not os.path.exists(file):
        raise make_error(errno.ENOENT, f"{file}: is gone; answers read the file again")
    words = [
        _installation.find_command(),
        command,
        "--json",
        *options(given),
        "--",
        file,
        *operands,
    ]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode not in (0, _LOSS) or not done.stdout:
        raise _failure(said, command, done.returncode)
    if done.returncode == _LOSS and warns:
        warnings.warn(said or f"{file}: damaged", DamageWarning, stacklevel=3)
    return json.loads(done.stdout)


def _failure(said: str, command: str, code: int) -> Exception:
    """The first line says what failed; after a wrong option the usage follows."""
    line = said.split("\n", 1)[0]
    message = re.sub(r"^dagtap( [a-z]+)?: ", "", line)
    if code == 2:
        return ValueError(message)
    return make_error(0, message or f"dagtap {command} ended with exit status {code}")
