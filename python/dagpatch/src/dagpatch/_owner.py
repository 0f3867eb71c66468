"""What recordings and caches need of their context, so that neither has to know the other classes.

The modules import one way: _abi, _library, _owner, cache and nodes, recording, context.
"""

from __future__ import annotations

import weakref
from typing import Any

from ._library import lib


class Owner:
    """What a context's recordings and caches keep of it: it is destroyed after the last of them."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self.kept: list[Any] = []
        self.finalizer = weakref.finalize(self, lib.dagpatch_context_destroy, pointer)


class ContextBase:
    """The base of Context: the struct dagpatch_context, and what was made of it."""

    _owner: Owner

    def __init__(self) -> None:
        self._members: "weakref.WeakSet[Any]" = weakref.WeakSet()
        # by the address of the struct dagpatch_recording
        self._recordings: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()

    @property
    def pointer(self) -> int:
        """The struct dagpatch_context."""
        if not self._owner.finalizer.alive:
            raise ValueError("the context is closed")
        return self._owner.pointer
