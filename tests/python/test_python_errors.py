"""The Python package on the model of a GPU: errors, and exceptions that pass through C."""

import ctypes
import errno
import threading
import unittest

import dagpatch
from dagpatch import model
from on_model import BYTES, WORDS, OnModel, times, words


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


if __name__ == "__main__":
    unittest.main()
