"""The Python package on the model of a GPU: the calls, exceptions through C, what lives how long,
threads."""

import ctypes
import errno
import gc
import struct
import subprocess
import sys
import threading
import unittest
import weakref

import dagpatch
from dagpatch import model, nodes

WORDS = 64
BYTES = WORDS * 4


def scale(at, grid, block):
    """out[i] = in[i] * factor"""
    out, source, factor, count = struct.unpack("QQII", ctypes.string_at(at, 24))
    outs, ins = ((ctypes.c_uint32 * count).from_address(a) for a in (out, source))
    for i in range(count):
        outs[i] = ins[i] * factor


SCALE = [
    dagpatch.Parameter(0, 8, dagpatch.ParameterKind.PARAMETER_POINTER),
    dagpatch.Parameter(8, 8, dagpatch.ParameterKind.PARAMETER_POINTER),
    dagpatch.Parameter(16, 4, dagpatch.ParameterKind.PARAMETER_VALUE),
    dagpatch.Parameter(20, 4, dagpatch.ParameterKind.PARAMETER_VALUE),
]


# Until the test is over, so that what is made next is elsewhere.
kept = []


def words(value):
    memory = model.Memory(BYTES)
    kept.append(memory)
    view = memory.view(ctypes.c_uint32)
    view[:] = [value + i for i in range(WORDS)]
    return memory


def u32(value):
    return ctypes.c_uint32(value)


class OnModel(unittest.TestCase):
    def setUp(self):
        self.before = live()
        self.kernel = model.Kernel(scale, SCALE)
        self.stream = model.Stream()
        self.context = dagpatch.Context("model")

    def tearDown(self):
        self.context.close()
        self.stream.close()
        self.kernel.close()
        model.fail(0)
        del kept[:]
        gc.collect()
        self.assertEqual(live(), self.before)

    def recording(self, context=None, **flags):
        recording = dagpatch.Recording(context or self.context, **flags)
        return recording, recording.add_slot("in", BYTES), recording.add_slot("out", BYTES)

    def cached(self, cache, record=None, **more):
        """A recording of work that is captured again unless the cache has it."""
        recording, source, out = self.recording()
        recording.add_captured(
            record or self.submit, [source, out], recapture=True, cache=cache, **more
        )
        recording.finalize()
        return recording

    def scaled(self, recording, source, out, factor=3, **more):
        return recording.add_kernel(
            self.kernel,
            WORDS,
            1,
            [
                dagpatch.Pointer(out, access=dagpatch.WRITES),
                dagpatch.Pointer(source, access=dagpatch.READS),
                u32(factor),
                u32(WORDS),
            ],
            **more,
        )

    def submit(self, stream, addresses, factor=3):
        model.raw_stream(stream).launch(
            self.kernel,
            [WORDS],
            [1],
            [ctypes.c_uint64(addresses[1]), ctypes.c_uint64(addresses[0]), u32(factor), u32(WORDS)],
        )

    def run_at(self, recording, source, out):
        recording.bind(0, source)
        recording.bind(1, out)
        recording.launch(self.stream)
        self.stream.synchronize()
        return list(out.view(ctypes.c_uint32))


def live():
    return [getattr(model.live(), name) for name, _ in model.ModelLive._fields_]


def times(factor, value):
    return [(value + i) * factor for i in range(WORDS)]


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


class Errors(OnModel):
    def test_say_what_and_where(self):
        recording, source, out = self.recording()
        self.scaled(recording, source, out)
        recording.finalize()
        with self.assertRaises(dagpatch.Error) as raised:
            recording.bind(7, 256, BYTES)
        self.assertEqual(raised.exception.code, -errno.EINVAL)
        self.assertIsNone(raised.exception.node)
        self.assertIn("slot 7", str(raised.exception))
        self.run_at(recording, words(0), words(0))
        model.fail(1, 100)
        recording.bind_all([words(0), words(0)])
        with self.assertRaises(dagpatch.Error) as raised:
            recording.apply()
        self.assertEqual((raised.exception.code, raised.exception.driver_code), (-errno.EIO, 999))
        model.fail(0)
        # Putting back failed, too.
        self.assertEqual(recording.state, dagpatch.State.LOST)
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(2), words(0)), times(3, 2))

    def test_a_driver_that_is_not_there(self):
        with self.assertRaises(dagpatch.Error):
            dagpatch.Context("cuda", library="/nowhere/libcuda.so.1")
        with self.assertRaises(dagpatch.Error):
            dagpatch.Context("of another name")

    def test_captures_that_differ(self):
        recording, source, out = self.recording()
        factors = iter(range(10))
        with self.assertRaises(dagpatch.Mismatch) as raised:
            recording.add_captured(
                lambda stream, at: self.submit(stream, at, next(factors)), [source, out]
            )
        self.assertIsNotNone(raised.exception.byte)

    def test_what_a_capture_raises_is_raised_by_the_call(self):
        recording, source, out = self.recording()
        given = KeyError("of the caller")

        def record(stream, addresses):
            raise given

        with self.assertRaises(KeyError) as raised:
            recording.add_captured(record, [source, out])
        self.assertIs(raised.exception, given)
        # The recording goes on as if it had not been called.
        recording.add_captured(self.submit, [source, out])
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))

    def test_what_a_later_capture_raises(self):
        recording, source, out = self.recording()
        problems = []

        def record(stream, addresses):
            if problems:
                raise problems.pop()
            self.submit(stream, addresses)

        recording.add_captured(record, [source, out], recapture=True)
        recording.finalize()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))
        problems.append(KeyboardInterrupt())
        with self.assertRaises(KeyboardInterrupt):
            self.run_at(recording, words(2), words(0))
        self.assertEqual(self.run_at(recording, words(2), words(0)), times(3, 2))

    def test_a_vote_without_an_answer(self):
        def vote(values, timeout_ns):
            raise TimeoutError(errno.ETIMEDOUT, "nobody came")

        cache = dagpatch.Cache(self.context, vote=vote)
        recording = self.cached(cache, collective=dagpatch.Collective(1, 2, 3, WORDS, True))
        with self.assertRaisesRegex(TimeoutError, "nobody came"):
            self.run_at(recording, words(1), words(0))

    def test_a_vote_with_a_wrong_answer(self):
        answers = [lambda values: values[1:], lambda values: [one - 1 for one in values], list]
        cache = dagpatch.Cache(self.context, vote=lambda values, ns: answers[0](values))
        recording = self.cached(cache)
        self.assertRaises(ValueError, self.run_at, recording, words(1), words(0))
        for code in (-errno.EPIPE, -errno.EPROTO):
            with self.assertRaises(dagpatch.Error) as raised:
                self.run_at(recording, words(1), words(0))
            self.assertEqual(raised.exception.code, code)
            del answers[0]
            cache.rejoin()
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))

    def test_a_rank_of_two_fails(self):
        """Each rank is a thread. The one raises what its capture raised, the other one hears of it;
        both go on together."""
        met, said = threading.Barrier(2), [[], []]

        def run(rank, outcomes):
            def vote(values, ns):
                said[rank] = list(values)
                met.wait()
                least = list(map(min, *said))
                met.wait()
                return least

            problems = [ZeroDivisionError()] if rank else []

            def record(stream, addresses):
                if problems:
                    raise problems.pop()
                self.submit(stream, addresses)

            with model.Stream() as stream:
                recording = self.cached(dagpatch.Cache(self.context, vote=vote), record)
                at = words(rank), words(0)
                recording.bind_all(at)
                try:
                    recording.launch(stream)
                except (ZeroDivisionError, dagpatch.Error) as failure:
                    outcomes.append(getattr(failure, "code", type(failure)))
                recording.launch(stream)
                stream.synchronize()
                outcomes.append(list(at[1].view(ctypes.c_uint32)) == times(3, rank))

        outcomes = [[], []]
        other = threading.Thread(target=run, args=(1, outcomes[1]))
        other.start()
        run(0, outcomes[0])
        other.join()
        self.assertEqual(outcomes, [[-errno.ECANCELED, True], [ZeroDivisionError, True]])

    def test_an_exception_of_an_observer_does_not_undo(self):
        problems = []

        def observe(change):
            if problems:
                raise problems[0]

        with dagpatch.Context("model", observe=observe) as context:
            recording, source, out = self.recording(context)
            self.scaled(recording, source, out)
            recording.finalize()
            self.run_at(recording, words(0), words(0))
            problems.append(RuntimeError("of the observer"))
            at = words(5), words(0)
            recording.bind_all(at)
            with self.assertRaisesRegex(RuntimeError, "of the observer"):
                recording.apply()
            recording.launch(self.stream)
            self.stream.synchronize()
            self.assertEqual(list(at[1].view(ctypes.c_uint32)), times(3, 5))

    def test_exceptions_stay_with_their_calls(self):
        """A capture uses another recording, whose capture fails and is caught."""
        inner, inner_in, inner_out = self.recording()
        caught = []

        def fails(stream, addresses):
            raise ValueError("inner")

        def record(stream, addresses):
            try:
                inner.add_captured(fails, [inner_in, inner_out])
            except ValueError as exception:
                caught.append(str(exception))
            self.submit(stream, addresses)

        recording, source, out = self.recording()
        recording.add_captured(record, [source, out])
        self.assertEqual(set(caught), {"inner"})

    def test_closed_means_closed(self):
        recording, source, _ = self.recording()
        cache = dagpatch.Cache(self.context)
        self.context.close()
        for call in (
            recording.apply,
            cache.stats,
            lambda: self.context.capabilities,
            lambda: dagpatch.Recording(self.context),
        ):
            self.assertRaises(ValueError, call)
        recording.close()


class Lives(OnModel):
    def test_a_context_outlives_what_was_made_of_it(self):
        context = dagpatch.Context("model")
        recording, source, out = self.recording(context)
        cache = dagpatch.Cache(context)
        recording.add_captured(self.submit, [source, out], recapture=True, cache=cache)
        recording.finalize()
        gone = weakref.ref(context)
        del context, cache
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))

    def test_callbacks_live_as_long_as_they_are_called(self):
        recording, source, out = self.recording()
        recording.add_captured(
            lambda stream, at: self.submit(stream, at), [source, out], recapture=True
        )
        calls = []
        recording.add_host(lambda: calls.append(1))
        recording.finalize()
        gc.collect()
        recording.bind_all([words(1), words(0)])
        self.run_at(recording, words(1), words(0))
        recording.launch(self.stream)  # in flight when the recording goes
        recording.close()
        del recording
        gc.collect()
        self.stream.synchronize()
        self.assertEqual(calls, [1, 1])

    def test_callbacks_of_a_nested_recording_live_on(self):
        inner, source, out = self.recording(nested=True)
        inner.add_captured(lambda stream, at: self.submit(stream, at), [source, out])
        inner.finalize()
        recording, source, out = self.recording()
        recording.add_child(dagpatch.Child(inner, [source, out]))
        recording.finalize()
        inner.close()
        del inner
        gc.collect()
        self.assertEqual(self.run_at(recording, words(3), words(0)), times(3, 3))
        recording.verify()

    def test_everything_dropped_at_once(self):
        """In a cycle, where the order is the collector's."""
        context = dagpatch.Context("model")
        recording, source, out = self.recording(context)
        recording.add_captured(
            self.submit, [source, out], recapture=True, cache=dagpatch.Cache(context)
        )
        recording.me, recording.context = recording, context
        context.me = context
        del recording, context
        gc.collect()

    def test_a_cache_outlives_its_recordings(self):
        with dagpatch.Cache(self.context) as cache:
            recording = self.cached(cache)
        self.assertRaises(ValueError, cache.stats)
        self.assertEqual(self.run_at(recording, words(1), words(0)), times(3, 1))

    def test_an_exit_with_everything_alive(self):
        """What a program has not closed is closed at its end, in an order that C can bear."""
        program = (
            "import dagpatch\n"
            "from dagpatch import model\n"
            "context, stream = dagpatch.Context('model'), model.Stream()\n"
            "size = 1 << 20  # so much that nobody can write to it once it is freed\n"
            "recording = dagpatch.Recording(context)\n"
            "cache = dagpatch.Cache(context)\n"
            "recording.add_host(lambda: None)\n"
            "slot = recording.add_slot('buffer', size)\n"
            "submit = lambda on, at: model.raw_stream(on).memset(at[0], 1, size)\n"
            "recording.add_captured(submit, [slot], recapture=True, cache=cache)\n"
            "recording.finalize()\n"
            "memory = model.Memory(size)\n"
            "recording.bind(slot, memory)\n"
            "recording.launch(stream)\n"
            "everything = [context, stream, cache, recording, memory]\n"
            "everything.append(everything)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Threads(OnModel):
    def test_a_call_that_waits_lets_other_threads_run(self):
        """The host node waits for what the main thread does while synchronize() waits for it."""
        reached, go = threading.Event(), threading.Event()
        stream = model.Stream(threaded=True)
        recording = dagpatch.Recording(self.context)
        recording.add_host(lambda: (reached.set(), go.wait()))
        recording.finalize()
        recording.launch(stream)
        waiter = threading.Thread(target=stream.synchronize)
        waiter.start()
        reached.wait()
        go.set()
        waiter.join()
        stream.close()

    def test_what_a_host_node_raises_has_no_caller(self):
        seen = []
        hook, sys.unraisablehook = sys.unraisablehook, seen.append
        try:
            recording = dagpatch.Recording(self.context)
            recording.add_host(lambda: 1 / 0)
            recording.finalize()
            recording.launch(self.stream)
            self.stream.synchronize()
        finally:
            sys.unraisablehook = hook
        self.assertEqual([one.exc_type for one in seen], [ZeroDivisionError])
        del seen[:]


if __name__ == "__main__":
    unittest.main()
