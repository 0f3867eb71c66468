"""dagpatch.torch.vote among processes, over PyTorch's gloo on this machine, and through a cache of
dagpatch's.

Skipped (exit status 77) where there is no torch. Any will do, without a GPU:

    export PYTHONPATH=python/dagpatch/src DAGPATCH_LIBRARY=build/lib/libdagpatch.so
    python3 tests/python/test_python_vote.py
"""

import errno
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import sys
import tempfile
import unittest

RANKS = 3
ROUNDS = 40
HOUR_NS = 3600 * 10**9  # of no test's time: what ends a wait is an event


def open_group(rank, ranks, path):
    import torch.distributed as distributed

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    distributed.init_process_group(
        "gloo", init_method=f"file://{path}", rank=rank, world_size=ranks
    )


def process(work, rank, ranks, path, line):
    open_group(rank, ranks, path)
    try:
        line.send(work(rank, ranks, line))
    except BaseException as failure:
        line.send(failure)


def in_processes(work, ranks=RANKS, talk=None):
    """What WORK(rank, ranks, line) has come to in each of so many processes; EOFError if one dies,
    for which the others would wait."""
    # A program that has torch's threads cannot be forked.
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        lines, processes = [], []
        for rank in range(ranks):
            here, there = context.Pipe()
            processes.append(
                context.Process(target=process, args=(work, rank, ranks, f"{folder}/store", there))
            )
            lines.append(here)
            processes[-1].start()
            there.close()
        try:
            if talk:
                talk(lines)
            results = {}
            while len(results) < ranks:
                ready = multiprocessing.connection.wait(set(lines) - set(results))
                results.update((line, line.recv()) for line in ready)
        except BaseException:
            for one in processes:
                one.kill()
            raise
        finally:
            for one in processes:
                one.join()
    return [results[line] for line in lines]


def has(rank, number):
    """1 if a rank has what it needs in a round: all do in one of four."""
    return int(number % 4 == 0 or (rank + number) % RANKS != 0)


def rounds(rank, ranks, line):
    import dagpatch.torch

    first, second = dagpatch.torch.vote(), dagpatch.torch.vote(name="of another cache")
    return [
        (first([has(rank, number)], HOUR_NS), second([rank, number * rank, -7], HOUR_NS))
        for number in range(ROUNDS)
    ]


def with_a_subgroup(rank, ranks, line):
    import torch.distributed as distributed
    import dagpatch.torch

    group = distributed.new_group([0, 1])
    return dagpatch.torch.vote(group)([5 - rank], HOUR_NS) if rank < 2 else None


def one_is_late(rank, ranks, line):
    """Rank 0 looks once, and gives up; the others come afterwards. Then all begin again."""
    import torch.distributed as distributed
    import dagpatch.torch

    vote, seen = dagpatch.torch.vote(), []
    seen.append(attempt(vote, [rank], HOUR_NS))
    if rank == 0:
        seen.append(attempt(vote, [1], 0))
        line.send("gave up")
    else:
        line.recv()
        seen.append(attempt(vote, [1], HOUR_NS))
    seen.append(attempt(vote, [1], HOUR_NS))
    distributed.barrier()
    vote.rejoin()
    return seen + [attempt(vote, [rank + number], HOUR_NS) for number in (1, 2)]


def of_two_kinds(rank, ranks, line):
    import dagpatch.torch

    return attempt(dagpatch.torch.vote(), [1] * (1 + rank % 2), HOUR_NS)


def attempt(vote, values, timeout_ns):
    try:
        return vote(values, timeout_ns)
    except OSError as failure:
        return errno.errorcode[failure.errno]


def in_a_cache(rank, ranks, line):
    """Each rank captures, or none does: rank 0 meets addresses that it had before while the others
    do not, and what it captured then is not launched with what they captured earlier."""
    import dagpatch
    import dagpatch.torch
    from dagpatch import model

    with model.Stream() as stream, dagpatch.Context("model") as context:
        cache = dagpatch.Cache(context, vote=dagpatch.torch.vote(), vote_timeout_ns=HOUR_NS)
        recording, captures = dagpatch.Recording(context), []
        slot = recording.add_slot("buffer", 64)

        def record(on, addresses):
            captures.append(1)
            model.raw_stream(on).memset(addresses[0], rank + 1, 64)

        recording.add_captured(
            record,
            [slot],
            recapture=True,
            cache=cache,
            collective=dagpatch.Collective(1, 0, 0, 64, True),
        )
        recording.finalize()
        memory, counts = [model.Memory(64) for _ in range(4)], []
        ways = [0, 1, 0 if rank == 0 else 2, 0, 1]
        right = True
        for way in ways:
            memory[way].view()[:] = [0] * 64
            recording.bind(slot, memory[way])
            recording.launch(stream)
            stream.synchronize()
            right &= set(memory[way].view()) == {rank + 1}
            counts.append(len(captures))
        return right, [after - before for before, after in zip([0] + counts, counts)]


class Votes(unittest.TestCase):
    def test_all_get_the_same_answer(self):
        results = in_processes(rounds)
        want = [
            ([min(has(rank, number) for rank in range(RANKS))], [0, 0, -7])
            for number in range(ROUNDS)
        ]
        self.assertEqual(results, [want] * RANKS)
        self.assertEqual({first[0] for first, _ in want}, {0, 1})

    def test_a_group_of_some(self):
        self.assertEqual(in_processes(with_a_subgroup), [[4], [4], None])

    def test_ranks_that_are_not_at_the_same_vote(self):
        self.assertEqual(in_processes(of_two_kinds), ["EPROTO"] * RANKS)

    def test_nobody_goes_on_where_one_has_given_up(self):
        def talk(lines):
            self.assertEqual(lines[0].recv(), "gave up")
            for line in lines[1:]:
                line.send("now")

        self.assertEqual(
            in_processes(one_is_late, talk=talk), [[[0], "ETIMEDOUT", "EPIPE", [1], [2]]] * RANKS
        )

    def test_ranks_capture_together(self):
        """The third launch: rank 0 has it, the others miss, so all capture. The fourth: all have
        it, but not of one time."""
        self.assertEqual(in_processes(in_a_cache), [(True, [1, 1, 1, 1, 0])] * RANKS)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("skipped: there is no torch here")
        sys.exit(77)
    unittest.main()
