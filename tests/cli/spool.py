"""Cuts up spools by the letter of docs/format/spool.md, for tests.

    spool.py shuffle FOLDER FOLDER SEED the same, chunks in another order spool.py drop FOLDER
    FOLDER the same, a chunk in the middle overwritten with zeros spool.py flip FILE FILE OFFSET one
    bit changed spool.py kill FOLDER CHUNKS PROGRAM... runs the program, kills it with SIGKILL once
    its rings have dropped so many chunks,
                                             and ends in the same way
"""
import glob
import os
import random
import signal
import struct
import subprocess
import sys
import time

CHUNK_MAGIC = b"DTCK"


def split(data):
    """The part before the chunks, the chunks, and what is left."""
    chunk_bytes, = struct.unpack_from("<I", data, 24)
    offset, = struct.unpack_from("<Q", data, 48)
    end = offset + (len(data) - offset) // chunk_bytes * chunk_bytes
    chunks = [data[at:at + chunk_bytes] for at in range(offset, end, chunk_bytes)]
    return data[:offset], chunks, data[end:]


def rewrite(source, folder, change):
    os.makedirs(folder)
    for name in sorted(os.listdir(source)):
        with open(os.path.join(source, name), "rb") as file:
            head, chunks, tail = split(file.read())
        change(chunks)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(head + b"".join(chunks) + tail)


def drop_middle(chunks):
    used = [i for i, chunk in enumerate(chunks) if chunk.startswith(CHUNK_MAGIC)]
    victim = used[len(used) // 2]
    chunks[victim] = bytes(len(chunks[victim]))


def flip(source, target, offset):
    with open(source, "rb") as file:
        data = bytearray(file.read())
    data[offset] ^= 0x10
    with open(target, "wb") as file:
        file.write(data)


def chunks_reused(path):
    """Over all writers; 0 of a file that has no header yet."""
    with open(path, "rb") as file:
        data = file.read(4096 + 1024 * 512)
    if len(data) < 4096 + 1024 * 512:
        return 0
    header_bytes, writer_bytes, writer_count = struct.unpack_from("<3I", data, 12)
    return sum(struct.unpack_from("<Q", data, header_bytes + writer * writer_bytes + 456)[0] for writer in range(writer_count))


def kill(folder, chunks, program):
    child = subprocess.Popen(program)
    while sum(chunks_reused(path) for path in glob.glob(os.path.join(folder, "*.spool"))) < chunks:
        if child.poll() is not None:
            sys.exit("the program ended early")
        time.sleep(0.001)
    child.kill()
    child.wait()
    os.kill(os.getpid(), signal.SIGKILL)


def main(verb, source, target=None, number="0", *program):
    if verb == "shuffle":
        rewrite(source, target, random.Random(int(number)).shuffle)
    elif verb == "drop":
        rewrite(source, target, drop_middle)
    elif verb == "flip":
        flip(source, target, int(number))
    elif verb == "kill":
        kill(source, int(target), [number, *program])
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
