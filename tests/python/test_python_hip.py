"""The Python package on the real HIP runtime over the software GPU, with nothing of PyTorch's: its
graphs are played by HIP's own (hip.Graph has the methods of torch.cuda.CUDAGraph)."""

import ctypes
import errno
import gc
import os
import random
import sys
import unittest
import unittest.mock

import hip

import dagpatch
import dagpatch.torch

COUNT = 100
REBINDS = 50
MASK = 0xFFFFFFFF

hip.skip_without_gpu()
generator = random.Random(int(os.environ.get("DAGTAP_TEST_SEED", "1")))


def values():
    return [generator.getrandbits(32) for _ in range(COUNT)]


def branch(source, factor):
    return [(value * factor + 1) & MASK for value in source]


def mix(source, term):
    return [(value * 3 + term) & MASK for value in source]


def submit(stream, at, factor=5, term=7):
    """at[1] = at[0] * factor + 1, then * 3 + term."""
    hip.work.work_submit_branch(stream, at[1], at[0], factor, COUNT)
    hip.work.work_submit_mix(stream, at[1], term, COUNT)


def expected(source, factor=5, term=7):
    return mix(branch(source, factor), term)


class OnHip(unittest.TestCase):
    def setUp(self):
        self.stream = hip.Stream()
        self.memory = [hip.Memory(values()) for _ in range(8)]
        self.context = dagpatch.Context("hip")

    def tearDown(self):
        self.stream.synchronize()
        self.context.close()
        for memory in self.memory:
            memory.close()

    def recording(self):
        recording = dagpatch.Recording(self.context)
        return recording, recording.add_slot("in", 4 * COUNT), recording.add_slot("out", 4 * COUNT)

    def pair(self):
        return generator.sample(self.memory, 2)

    def graph(self, at):
        return hip.captured(self.stream, lambda stream: submit(stream, [m.data_ptr() for m in at]))

    def rebind(self, bind, launch, want):
        """Only what is bound is written, and rightly."""
        for _ in range(REBINDS):
            source, out = self.pair()
            before = [memory.read() for memory in self.memory]
            bind(source, out)
            launch()
            self.stream.synchronize()
            for memory, was in zip(self.memory, before):
                now = want(before[self.memory.index(source)]) if memory is out else was
                self.assertEqual(memory.read(), now)
            out.write(values())


class Recordings(OnHip):
    def test_recorded_and_captured_nodes_move(self):
        recording, source, out = self.recording()
        first = recording.add_kernel(
            hip.work.work_branch(),
            [2],
            [64],
            [
                dagpatch.Pointer(out),
                dagpatch.Pointer(source),
                ctypes.c_uint32(9),
                ctypes.c_uint32(COUNT),
            ],
        )
        second = recording.add_captured(
            lambda stream, at: hip.work.work_submit_mix(stream, at[0], 7, COUNT),
            [out],
            after=[first],
        )
        recording.add_memset(out, 3, 1, element_bytes=4, after=[second])
        recording.finalize()

        def bind(source, out):
            recording.bind_all([source, out])

        self.rebind(
            bind, lambda: recording.launch(self.stream), lambda was: [3] + expected(was, 9)[1:]
        )
        self.assertEqual(recording.stats().launches, REBINDS)

    def test_what_a_capture_raises(self):
        """The stream is in no capture afterwards, and the recording takes other work."""
        recording, source, out = self.recording()

        def record(stream, addresses):
            submit(stream, addresses)
            raise OSError(errno.EDOM, "half way")

        with self.assertRaisesRegex(OSError, "half way"):
            recording.add_captured(record, [source, out])
        recording.add_captured(submit, [source, out])
        recording.finalize()
        source, out = self.memory[:2]
        recording.bind_all([source, out])
        recording.launch(self.stream)
        self.stream.synchronize()
        self.assertEqual(out.read(), expected(source.read()))

    def test_what_the_driver_cannot_do_is_said(self):
        recording, source, out = self.recording()
        predicate = recording.add_slot("predicate", 4)
        with self.assertRaises(dagpatch.NotSupported):
            nested = dagpatch.Recording(self.context, nested=True)
            nested.add_empty()
            nested.finalize()
            recording.add_conditional(
                dagpatch.Condition.IF, predicate, [dagpatch.Child(nested, [])]
            )
            recording.finalize()


class Adopted(OnHip):
    """dagpatch.torch.adopt: the owner of the graph launches it."""

    def adopt(self, slots, others, **more):
        graph = self.graph(slots)
        other = self.graph(others)
        named = {"in": slots[0], "out": slots[1]}
        adopted = dagpatch.torch.adopt(
            graph, named, other=other, other_slots=others, context=self.context, **more
        )
        return graph, adopted

    def test_replays_where_it_is_bound(self):
        graph, adopted = self.adopt(self.memory[:2], [self.memory[3], self.memory[2]])

        def bind(source, out):
            if generator.random() < 0.5:
                adopted.bind_all({"out": out, "in": source})
            else:
                adopted.bind("in", source)
                adopted.bind(1, out)

        self.rebind(bind, adopted.replay, expected)
        # By the graph's own replay, each of them.
        self.assertEqual(graph.replays, REBINDS)
        self.assertEqual(adopted.recording.stats().launches, 0)
        # Whoever else launches it gets what was applied last.
        source, out = self.memory[4], self.memory[5]
        adopted.bind_all([source, out])
        adopted.apply()
        graph.replay()
        self.stream.synchronize()
        self.assertEqual(out.read(), expected(source.read()))
        adopted.close()

    def test_unchanged_tensors_are_not_applied_again(self):
        graph, adopted = self.adopt(self.memory[:2], [self.memory[3], self.memory[2]])
        adopted.replay()
        nodes = sum(adopted.recording.stats().nodes)
        for _ in range(3):
            adopted.replay()
        self.assertEqual(sum(adopted.recording.stats().nodes), nodes)
        self.assertEqual(graph.replays, 4)
        adopted.close()

    def test_declared_addresses_need_no_other_capture(self):
        graph = self.graph(self.memory[:2])
        adopted = dagpatch.torch.adopt(
            graph,
            self.memory[:2],
            context=self.context,
            declared=[
                dagpatch.Declared(0, 0, 1),
                dagpatch.Declared(0, 8, 0),
                dagpatch.Declared(1, 0, 1),
            ],
        )
        self.rebind(lambda source, out: adopted.bind_all([source, out]), adopted.replay, expected)
        adopted.close()

    def test_a_graph_that_was_instantiated_again_is_not_replayed(self):
        graph, adopted = self.adopt(self.memory[:2], [self.memory[3], self.memory[2]])
        adopted.replay()
        graph.instantiate()
        self.assertRaisesRegex(RuntimeError, "instantiated again", adopted.replay)
        self.assertRaisesRegex(RuntimeError, "instantiated again", adopted.apply)
        self.assertEqual(graph.replays, 1)
        adopted.close()

    def test_what_cannot_be_a_slot_is_refused(self):
        graph, adopted = self.adopt(self.memory[:2], [self.memory[3], self.memory[2]])
        small = hip.Memory([1])
        self.assertRaises(dagpatch.Error, adopted.bind, "in", small)
        self.assertRaises(ValueError, adopted.bind_all, [small, self.memory[1]])
        self.assertRaises(ValueError, adopted.bind_all, self.memory[:1])
        self.assertRaises(KeyError, adopted.bind_all, {"in": self.memory[0]})
        small.is_contiguous = lambda: False
        self.assertRaises(ValueError, adopted.bind, "in", small)
        small.close()
        adopted.close()

    def test_captures_that_differ_are_refused(self):
        graph = self.graph(self.memory[:2])
        other = hip.captured(
            self.stream, lambda stream: submit(stream, [m.data_ptr() for m in self.memory[2:4]], 6)
        )
        with self.assertRaises(dagpatch.Mismatch):
            dagpatch.torch.adopt(
                graph,
                self.memory[:2],
                other=other,
                other_slots=self.memory[2:4],
                context=self.context,
            )

    def test_capture_captures_as_often_as_it_takes(self):
        torch, asked = hip.torch_on(self.stream)
        seen = []

        def work(*tensors):
            at = [tensor.data_ptr() for tensor in tensors]
            seen.append(at)
            submit(self.stream.handle, at)

        slots = {"in": self.memory[0], "out": self.memory[1]}
        with unittest.mock.patch.dict(sys.modules, {"torch": torch}):
            adopted = dagpatch.torch.capture(work, slots, capture_error_mode="relaxed")
            self.assertRaises(ValueError, dagpatch.torch.capture, work, slots, captures=3)
        # One for the pool, then at the slots and elsewhere, in changing order.
        first = [memory.data_ptr() for memory in self.memory[:2]]
        self.assertEqual(
            [at == first for at in seen], [True, True, False, False, True, False, True]
        )
        self.assertEqual(
            asked,
            [{"capture_error_mode": "relaxed"}]
            + [{"capture_error_mode": "relaxed", "pool": (0, 1)}] * 6,
        )
        self.rebind(lambda source, out: adopted.bind_all([source, out]), adopted.replay, expected)
        adopted.close()
        dagpatch.torch._contexts.pop(("hip", 0)).close()

    def capture_with_terms(self, terms):
        """Captures work whose kernel has another one of TERMS in each capture."""
        torch, asked = hip.torch_on(self.stream)

        def work(*tensors):
            submit(self.stream.handle, [m.data_ptr() for m in tensors], term=terms[len(asked) - 1])

        with unittest.mock.patch.dict(sys.modules, {"torch": torch}):
            try:
                return dagpatch.torch.capture(work, self.memory[:2]), len(asked)
            finally:
                dagpatch.torch._contexts.pop(("hip", 0))

    def test_capture_goes_on_while_a_difference_goes_with_the_tensors(self):
        # At the tensors, elsewhere, elsewhere, at the tensors and so on, after one for the pool.
        adopted, count = self.capture_with_terms([0, 7, 9, 9, 7, 9, 7] + [9, 7, 7, 9, 9, 7])
        self.assertEqual(count, 13)
        self.rebind(lambda source, out: adopted.bind_all([source, out]), adopted.replay, expected)
        adopted.close()

    def test_a_difference_that_always_goes_with_the_tensors_is_refused(self):
        turns = [7 if bin(i).count("1") % 2 == 0 else 9 for i in range(32)]
        with self.assertRaisesRegex(dagpatch.Mismatch, "no slot explains it: .*7.* and .*9"):
            self.capture_with_terms([0] + turns)

    def test_bound_tensors_are_kept_alive(self):
        graph, adopted = self.adopt(self.memory[:2], [self.memory[3], self.memory[2]])
        freed = []

        class Tensor(hip.Memory):
            def __del__(self):
                freed.append(self.at.value)
                self.close()

        tensor = Tensor(values())
        at, want = tensor.data_ptr(), expected(tensor.read())
        adopted.bind("in", tensor)
        del tensor
        gc.collect()
        self.assertEqual(freed, [])
        adopted.replay()
        self.stream.synchronize()
        self.assertEqual(self.memory[1].read(), want)
        # Until another one was applied: whoever launches the graph before that uses it.
        adopted.bind("in", self.memory[0])
        gc.collect()
        self.assertEqual(freed, [])
        adopted.apply()
        gc.collect()
        self.assertEqual(freed, [at])
        adopted.close()


if __name__ == "__main__":
    unittest.main()
