"""The Python package on the model of a GPU: the calls."""

import ctypes
import errno
import struct
import unittest

import dagpatch
from dagpatch import model, nodes
from on_model import BYTES, SCALE, WORDS, OnModel, scale, times, u32, words


class Calls(OnModel):
    def test_kernels_move(self):
        recording, source, out = self.recording(derive_dependencies=True)
        kernel = self.scaled(recording, source, out)
        recording.finalize()
        self.assertEqual(recording.state, dagpatch.State.READY)
        for value in range(5):
            self.assertEqual(self.run_at(recording, words(value), words(0)), times(3, value))
        recording.set_argument(kernel, 2, u32(5))
        self.assertEqual(self.run_at(recording, words(9), words(0)), times(5, 9))
        self.assertEqual(
            [(r.node, r.byte, r.slot) for r in recording.relocations()], [(0, 8, 0), (0, 0, 1)]
        )
        self.assertTrue(recording.exec and recording.node_handle(kernel))
        self.assertEqual(recording.stats().launches, 6)
        self.assertTrue(recording.verify())

    def test_all_kinds_of_nodes(self):
        recording, source, out = self.recording()
        event, calls = model.Event(), []
        first = recording.add_memset(out, 0, BYTES)
        copied = recording.add_copy(
            dagpatch.End(out), dagpatch.End(source), 16, height=2, after=[first]
        )
        scaled = self.scaled(recording, source, out, after=[copied])
        host = recording.add_host(lambda: calls.append(1), after=[scaled])
        empty = recording.add_empty(after=[host])
        recorded = recording.add_event_record(event, after=[empty])
        recording.add_event_wait(event, after=[recorded])
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(4), words(0)), times(3, 4))
        self.assertEqual((calls, event.count), ([1], 1))
        event.close()

    def test_an_argument_with_addresses_inside(self):
        recording, source, out = self.recording()
        block = struct.pack("QQII", 0, 0, 7, WORDS)
        kernel = model.Kernel(
            scale, [dagpatch.Parameter(0, 24, dagpatch.ParameterKind.PARAMETER_VALUE)]
        )
        recording.add_kernel(
            kernel,
            [WORDS],
            [1],
            [dagpatch.Argument(block, [dagpatch.Pointer(out), dagpatch.Pointer(source, byte=8)])],
        )
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(2), words(0)), times(7, 2))
        kernel.close()

    def test_nested_and_conditional(self):
        inner, source, out = self.recording(nested=True)
        self.scaled(inner, source, out, 11)
        inner.finalize()
        recording, source, out = self.recording()
        predicate = recording.add_slot("predicate", 4)
        child = recording.add_child(dagpatch.Child(inner, [source, out]))
        recording.add_conditional(
            dagpatch.Condition.IF,
            predicate,
            [dagpatch.Child(inner, [dagpatch.Mapping(out), out])],
            after=[child],
        )
        inner.close()
        recording.finalize()
        flag = model.Memory(256)
        recording.bind(predicate, flag, 4)
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(11, 1))
        flag.view(ctypes.c_int32)[0] = 1
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(121, 1))

    def test_captured_work_moves(self):
        recording, source, out = self.recording()
        recording.add_captured(self.submit, [source, out])
        recording.finalize()
        for value in range(4):
            self.assertEqual(self.run_at(recording, words(value), words(0)), times(3, value))

    def test_a_graph_of_somebody_else(self):
        sets = [(words(1), words(0)) for _ in range(3)]
        graphs = []
        for source, out in sets[:2]:
            self.stream.capture_begin()
            self.submit(self.stream.handle, [source.handle, out.handle])
            graphs.append(self.stream.capture_end())
        exec_ = graphs[0].instantiate()
        recording, _, _ = self.recording()
        recording.adopt(
            graphs[0], sets[0], other_graph=graphs[1], other_addresses=sets[1], exec=exec_
        )
        recording.finalize()
        recording.bind_all(sets[2])
        recording.apply()
        exec_.launch(self.stream)  # whoever launches it gets what was applied last
        self.stream.synchronize()
        self.assertEqual(list(sets[2][1].view(ctypes.c_uint32)), times(3, 1))
        self.assertEqual(list(sets[0][1].view(ctypes.c_uint32)), times(1, 0))
        recording.close()
        exec_.close()
        for graph in graphs:
            graph.close()

    def test_nodes_are_set(self):
        inner, other = self.recording(nested=True), self.recording(nested=True)
        self.scaled(*inner, 2)
        self.scaled(*other, 7)
        inner[0].finalize()
        other[0].finalize()
        recording, source, out = self.recording()
        cleared = recording.add_memset(out, 1, BYTES)
        copied = recording.add_copy(
            dagpatch.End(out), dagpatch.End(source), BYTES, after=[cleared]
        )
        kernel = self.scaled(recording, source, out, after=[copied])
        child = recording.add_child(dagpatch.Child(inner[0], [out, out]), after=[kernel])
        recording.finalize()
        inner[0].close()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(6, 1))
        recording.set_child(child, dagpatch.Child(other[0], [out, out]))
        other[0].close()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(21, 1))
        scaled = [dagpatch.Pointer(out), dagpatch.Pointer(out), u32(5), u32(WORDS)]
        recording.set_kernel(kernel, self.kernel, [WORDS], [1], scaled)
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(35, 1))
        recording.set_copy(copied, dagpatch.End(out), dagpatch.End(source, offset=4), 4)
        recording.set_memset(cleared, out, 1, WORDS, element_bytes=4)
        self.assertEqual(self.run_at(recording, words(1), words(0)), [70] + [35] * (WORDS - 1))
        with self.assertRaises(dagpatch.Error) as raised:
            recording.set_memset(kernel, out, 1, 4)
        self.assertEqual(raised.exception.code, -errno.EINVAL)

    def test_attributes_of_a_launch(self):
        """Which of them the driver has is its own matter; what was not given is not asked for."""
        recording, source, out = self.recording()
        attributes = dagpatch.Attributes(
            priority=-2, cooperative=True, cluster=2, programmatic=dagpatch.Programmatic.ON_TRIGGER
        )
        made = nodes.make_attributes(attributes).contents
        self.assertEqual(
            (made.given, made.priority, made.cooperative, list(made.cluster), made.programmatic),
            (15, -2, 1, [2, 1, 1], 1),
        )
        self.assertEqual(nodes.make_attributes(dagpatch.Attributes(priority=0)).contents.given, 1)
        self.scaled(recording, source, out, attributes=dagpatch.Attributes())
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))

    def test_a_graph_is_evicted(self):
        recording, source, out = self.recording()
        self.scaled(recording, source, out)
        recording.finalize()
        at = words(1), words(0)
        self.run_at(recording, *at)
        recording.launch(self.stream)  # in flight
        held = model.held()
        recording.evict()
        self.assertIsNone(recording.exec)
        self.stream.synchronize()
        self.assertEqual(self.run_at(recording, words(2), words(0)), times(3, 2))
        self.assertEqual((model.held(), recording.stats().evictions), (held, 1))
        self.assertEqual(model.stale_replays(), 0)

    def test_memory_that_is_short_is_taken_from_graphs_at_rest(self):
        first, second = self.recording(), self.recording()
        for recording, source, out in (first, second):
            self.scaled(recording, source, out)
            recording.finalize()
        self.assertEqual(self.run_at(first[0], words(1), words(0)), times(3, 1))
        model.limit(model.held())
        try:
            self.assertEqual(self.run_at(second[0], words(2), words(0)), times(3, 2))
        finally:
            model.limit(0)
        self.assertEqual(first[0].stats().evictions, 1)
        self.assertEqual(second[0].stats().memory_retries, 1)

    def test_graphs_of_somebody_else_as_nodes(self):
        sets = [(words(1), words(0)) for _ in range(3)]
        with model.Kernel(scale, SCALE, "scale") as kernel:
            graphs = []
            for source, out in sets[:2]:
                self.stream.capture_begin()
                at = [ctypes.c_uint64(out.handle), ctypes.c_uint64(source.handle)]
                self.stream.launch(kernel, [WORDS], [1], [*at, u32(3), u32(WORDS)])
                graphs.append(self.stream.capture_end())
            recording, source, out = self.recording()
            twice = [
                recording.add_graph(
                    graphs[0],
                    [source, out],
                    sets[0],
                    other_graph=graphs[1],
                    other_addresses=sets[1],
                ),
                recording.add_graph(
                    graphs[0],
                    [out, source],
                    sets[0],
                    declared=[dagpatch.Declared(0, 0, source), dagpatch.Declared(0, 8, out)],
                    after=[0],
                ),
            ]
            for graph in graphs:
                graph.close()
            recording.finalize()
            self.assertEqual(twice, [0, 2])
            recording.bind_all(sets[2])
            recording.launch(self.stream)
            self.stream.synchronize()
            self.assertEqual(list(sets[2][0].view(ctypes.c_uint32)), times(9, 1))
            self.assertIn("scale", recording.dump())
            drawing = recording.dump(dagpatch.DumpFormat.DUMP_GRAPHVIZ)
            self.assertRegex(drawing, r"(?s)^digraph .*}\n$")
            recording.close()

    def test_a_launch_into_a_capture(self):
        recording, source, out = self.recording()
        self.scaled(recording, source, out)
        recording.finalize()
        at = words(2), words(0)
        recording.bind_all(at)
        self.stream.capture_begin()
        recording.launch(self.stream)
        with self.stream.capture_end() as graph, graph.instantiate() as exec_:
            recording.bind_all([words(7), words(0)])
            exec_.launch(self.stream)
            self.stream.synchronize()
        self.assertEqual(list(at[1].view(ctypes.c_uint32)), times(3, 2))
        self.assertEqual((recording.stats().captured_launches, recording.stats().launches), (1, 0))

    def test_a_cache_and_its_vote(self):
        votes = []
        with dagpatch.Cache(
            self.context,
            vote=lambda values, ns: votes.append((values, ns)) or values,
            vote_timeout_ns=7,
        ) as cache:
            recording = self.cached(cache, collective=dagpatch.Collective(1, 2, 3, WORDS, True))
            first, second = (words(1), words(0)), (words(2), words(0))
            for source, out in (first, second, first):
                self.run_at(recording, source, out)
            # Before and after each change.
            self.assertEqual((len(votes), cache.stats().votes), (6, 6))
            self.assertEqual({ns for _, ns in votes}, {7})
            self.assertEqual((cache.stats().hits, cache.stats().misses), (1, 2))

    def test_work_of_one_key(self):
        cache, captures = dagpatch.Cache(self.context), []

        def record(stream, addresses):
            captures.append(1)
            self.submit(stream, addresses)

        one, other = (self.cached(cache, record, key=b"scale\0by 3") for _ in range(2))
        unknown = self.cached(cache, record)
        at = words(4), words(0)
        for recording, count in ((one, 1), (other, 1), (unknown, 2)):
            self.assertEqual(self.run_at(recording, *at), times(3, 4))
            self.assertEqual(len(captures), count)
        self.assertEqual((cache.drop(b"scale"), cache.drop(b"scale\0by 3")), (0, 1))
        self.run_at(one, words(1), words(0))
        self.run_at(one, *at)
        self.assertEqual(len(captures), 4)
        self.assertRaises(TypeError, cache.drop, "a text")
        self.assertRaises(dagpatch.Error, cache.drop, b"")
        self.assertRaises(dagpatch.Error, cache.rejoin)

    def test_a_context_is_of_a_device(self):
        model.set_device(1)
        try:
            with dagpatch.Context("model") as context, model.Stream() as stream:
                model.set_device(2)
                recording, source, out = self.recording(context)
                self.scaled(recording, source, out)
                recording.finalize()
                at = words(1), words(0)
                recording.bind_all(at)
                with self.assertRaises(dagpatch.Error) as raised:
                    recording.launch(self.stream)
                self.assertEqual(raised.exception.code, -errno.EINVAL)
                recording.launch(stream)
                stream.synchronize()
                self.assertEqual(list(at[1].view(ctypes.c_uint32)), times(3, 1))
                self.assertEqual((model.current_device(), model.misplaced()), (2, 0))
                self.assertRaises(dagpatch.Error, model.set_device, model.DEVICES)
        finally:
            model.set_device(0)

    def test_what_is_observed(self):
        seen = []
        with dagpatch.Context(
            "model", strategy=dagpatch.Strategy.SET_PARAMS, observe=seen.append
        ) as context:
            recording, source, out = self.recording(context)
            self.scaled(recording, source, out)
            recording.finalize()
            memory = [words(i) for i in range(3)]
            self.run_at(recording, memory[0], memory[1])
            del seen[:]
            recording.bind(0, memory[2])
            recording.apply()
            self.assertEqual(
                [
                    (c.recording, c.slot, c.node, c.byte, c.old_address, c.new_address, c.strategy)
                    for c in seen
                ],
                [
                    (
                        recording,
                        0,
                        0,
                        8,
                        memory[0].handle,
                        memory[2].handle,
                        dagpatch.Strategy.SET_PARAMS,
                    )
                ],
            )

    def test_versions_and_drivers(self):
        self.assertEqual(dagpatch.version(), 100)
        self.assertEqual(dagpatch.drivers(), ["cuda", "hip", "model"])
        self.assertIn(dagpatch.Capability.HAS_TABLE, self.context.capabilities)


if __name__ == "__main__":
    unittest.main()
