"""dagtap's planes in the profiles of JAX.

After register(), what jax.profiler.trace and jax.profiler.start_server write holds the kernels,
copies and calls that dagtap recorded, beside JAX's own events. The program is started as `dagtap
record --wait -- python PROGRAM`; each profile is a recording of its own in the .dagtap file, too.

    import dagtap.jax
    dagtap.jax.register()
    with jax.profiler.trace("/tmp/profile"):
        train(3)

JAX calls initialize() by itself where the package is installed (entry point group jax_plugins), so
a program under `dagtap record` needs no change.

jaxlib's interface for plugins of its profiler is used through ctypes. Tested with jaxlib 0.10 and
0.12.
"""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from typing import Any, Optional

LIBRARY = "libdagtap-jax.so"

_lock = threading.Lock()
# What JAX refers to must stay: the library and the capsule.
_library: Optional[ctypes.CDLL] = None
_capsule: Any = None


class RegisterError(RuntimeError):
    """The library cannot be loaded, or this jaxlib takes no plugins of its profiler."""


def _path() -> str:
    """The library: in the prefix that DAGTAP_PREFIX names, inside the package, or the system's."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
    prefix = os.environ.get("DAGTAP_PREFIX", "") or (inside if os.path.isdir(inside) else "/usr")
    return os.path.join(prefix, "lib", "dagtap", LIBRARY)


def _load(path: str) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(path)
        library.dagtap_jax_pjrt_api.restype = ctypes.c_void_p
        library.dagtap_jax_pjrt_api.argtypes = []
    except (OSError, AttributeError) as cause:
        raise RegisterError(f"{path}: cannot be loaded: {cause}") from None
    return library


def _make_capsule(pointer: int) -> Any:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    # CPython keeps the name's pointer. It has to be this name.
    return make(pointer, _NAME, None)


_NAME = b"pjrt_c_api"


def register() -> None:
    """Registers the plugin with JAX's profiler; every profile from now on has dagtap's planes.

    Once for a process: a second call does nothing. In a process that is not under `dagtap record`
    the profiles say, as an error, that nothing was recorded. RegisterError if the library cannot be
    loaded or JAX is too old.
    """
    global _library, _capsule
    with _lock:
        if _capsule is not None:
            return
        try:
            from jax._src.lib import _profiler

            take = _profiler.register_plugin_profiler
        except (ImportError, AttributeError) as cause:
            raise RegisterError(f"this jaxlib takes no plugins of its profiler: {cause}") from None
        _library = _load(_path())
        _capsule = _make_capsule(_library.dagtap_jax_pjrt_api())
        take(_capsule)


def initialize() -> None:
    """What JAX calls when it looks for plugins. Registers if the process is under `dagtap record`;
    a failure is a warning, because JAX has to go on."""
    if not os.environ.get("DAGTAP_SPOOL"):
        return
    try:
        register()
    except RegisterError as cause:
        warnings.warn(f"no planes of dagtap in JAX's profiles: {cause}", RuntimeWarning, stacklevel=2)
