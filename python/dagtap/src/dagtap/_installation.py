"""Finds the parts of dagtap that are not Python: the command and the libraries.

They are looked for in the prefix that DAGTAP_PREFIX names, then inside the package (a wheel brings
them), then where the system has them. A prefix has bin/dagtap and lib, as `cmake --install` and the
build folder do.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from typing import Any

from . import _abi
from ._errors import Error

ENVIRONMENT = "DAGTAP_PREFIX"
ANNOTATE_LIBRARY = "libdagtap.so.0"
TRACE_LIBRARY = "libdagtap-trace.so.0"
_OF_ANNOTATE = ("dagtap_scope_", "dagtap_step_", "dagtap_session_")


def find_prefix() -> str:
    """The folder with bin and lib; "" where the system's search paths are used."""
    given = os.environ.get(ENVIRONMENT, "")
    if given:
        return given
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
    return inside if os.path.isdir(inside) else ""


def find_command() -> str:
    """The path of the program dagtap. Error if there is none."""
    prefix = find_prefix()
    path = os.path.join(prefix, "bin", "dagtap") if prefix else _find_on_path()
    if path and os.access(path, os.X_OK):
        return path
    raise Error(
        f"{path or 'dagtap'}: the program dagtap is not there; install the package with its "
        f"libraries (pip install .), or let {ENVIRONMENT} name the prefix of an installation"
    )


def _find_on_path() -> str:
    """The program on PATH; not the script of this package, which would call us again."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("dagtap", path=folder)
        if found and _is_binary(found):
            return found
    return ""


def _is_binary(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def load(name: str) -> Any:
    """One of the two libraries, with the types of its functions. Error if it cannot be loaded."""
    prefix = find_prefix()
    path = os.path.join(prefix, "lib", name) if prefix else name
    try:
        library = ctypes.CDLL(path)
    except OSError as cause:
        raise Error(
            f"{path}: cannot be loaded: {cause}; install the package with its libraries "
            f"(pip install .), or let {ENVIRONMENT} name the prefix of an installation"
        ) from None
    for function_name, (result, parameters) in _abi.FUNCTIONS.items():
        if function_name.startswith(_OF_ANNOTATE) != (name == ANNOTATE_LIBRARY):
            continue
        try:
            function = getattr(library, function_name)
        except AttributeError:
            raise Error(f"{path} has no {function_name}: it is older than this package") from None
        function.restype, function.argtypes = result, parameters
    return library
