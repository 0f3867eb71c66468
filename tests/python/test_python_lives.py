"""The Python package on the model of a GPU: what lives how long, and threads."""

import gc
import subprocess
import sys
import threading
import unittest
import weakref

import dagpatch
from dagpatch import model
from on_model import OnModel, times, words


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
