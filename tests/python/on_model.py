"""Tests on the model of a GPU: a context with a kernel and a stream, and what the kernel does."""

import ctypes
import gc
import struct
import unittest

import dagpatch
from dagpatch import model

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
