"""A cache of captured work, and the vote that keeps ranks together."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Callable, Optional, Sequence

from . import _abi
from ._abi import CacheStats
from ._library import guard, lib, make, make_error
from ._owner import ContextBase, Owner

# (values, timeout_ns): the least of all ranks' values, one by one; an exception if it has none.
Vote = Callable[[Sequence[int], int], Sequence[int]]


def _destroy(pointer: int, owner: Owner, vote: Any) -> None:
    """OWNER and VOTE are here so that the context and the callback are alive until now."""
    lib.dagpatch_cache_destroy(pointer)


class Held:
    """What a cache and the recordings that use it keep of it: it is destroyed after the last."""

    def __init__(self, pointer: int, owner: Owner, vote: Any) -> None:
        self.pointer = pointer
        self.finalizer = weakref.finalize(self, _destroy, pointer, owner, vote)
        # At the end of the program recordings go in an order of their own.
        self.finalizer.atexit = False

    def close(self) -> None:
        """Destroys it; its recordings are closed."""
        self.finalizer()


class Cache:
    """Captured work that was patched in no way, for Recording.add_captured with RECAPTURE.

    vote(values, timeout_ns) returns the least of all ranks' values, one by one: an all-reduce with
    MIN. All ranks get the same answer, or an exception within the time. dagpatch.torch.vote is one.
    Ranks vote before they change their graphs and after: a rank that fails raises its own
    exception, the others an Error with -ECANCELED, and all keep their old graphs. When a vote
    itself raises, which the launch or apply that voted does then, other ranks may have launched;
    see dagpatch_vote_phase in dagpatch.h for what is to be done before rejoin().

    May be used by any number of threads; launches that vote come in one order on each rank.
    """

    def __init__(
        self,
        context: ContextBase,
        *,
        capacity: int = 0,
        vote: Optional[Vote] = None,
        vote_timeout_ns: int = 0,
        ranks_change_together: bool = False,
    ) -> None:
        options = make(
            _abi.CacheOptions,
            capacity=capacity,
            vote_timeout_ns=vote_timeout_ns,
            ranks_change_together=ranks_change_together,
        )
        if vote is not None:
            options.vote = _abi.VoteFn(guard(_voter(vote)))
        pointer = ctypes.c_void_p()
        code = lib.dagpatch_cache_create(context.pointer, options, ctypes.byref(pointer))
        if code < 0 or not pointer.value:
            raise make_error(code, None, "dagpatch_cache_create")
        self._held: Optional[Held] = Held(pointer.value, context._owner, options.vote)
        context._members.add(self._held)

    @property
    def pointer(self) -> int:
        """The struct dagpatch_cache."""
        return self.held.pointer

    @property
    def held(self) -> Held:
        """What a recording that uses it keeps."""
        if self._held is None or not self._held.finalizer.alive:
            raise ValueError("the cache is closed")
        return self._held

    def drop(self, key: bytes) -> int:
        """Lets go of all captured graphs of work with this key; how many. Where ranks vote all of
        them drop the same."""
        dropped: int = lib.dagpatch_cache_drop(self.pointer, ctypes.c_char_p(key), len(key))
        if dropped < 0:
            raise make_error(dropped, None, "dagpatch_cache_drop")
        return dropped

    def rejoin(self) -> None:
        """After a vote that raised: all ranks are at the same place again, which the caller has
        made sure of, and all call this equally often. What is in the cache goes. A vote that has a
        rejoin() of its own, as dagpatch.torch.vote, needs that, too."""
        code = lib.dagpatch_cache_rejoin(self.pointer)
        if code < 0:
            raise make_error(code, None, "dagpatch_cache_rejoin")

    def stats(self) -> CacheStats:
        """Counts of what it did."""
        stats = make(CacheStats)
        code = lib.dagpatch_cache_stats(self.pointer, stats)
        if code < 0:
            raise make_error(code, None, "dagpatch_cache_stats")
        return stats

    def close(self) -> None:
        """Lets it go: it is destroyed with the last recording that uses it."""
        self._held = None

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _voter(vote: Vote) -> Callable[..., int]:
    def call(_user: Any, asked: Any, ret_least: Any) -> int:
        count = asked.contents.count
        least = vote(asked.contents.values[:count], asked.contents.timeout_ns)
        if len(least) != count:
            raise ValueError(f"a vote on {count} values was answered with {len(least)}")
        for place, value in enumerate(least):
            ret_least[place] = value
        return 0

    return call
