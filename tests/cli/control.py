"""control.py OPTIONS...: `dagtap control` starts, stops, describes and copies the recording of a
program, and nothing that comes to its socket disturbs it."""
import os
import random
import socket
import subprocess
import sys
import tempfile

from controlled import Program, expect, fail, kernels

REQUEST_BYTES = 8


def connect(program):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folder = os.open(program.spools, os.O_PATH)
    client.connect(f"/proc/self/fd/{folder}/{program.pid}.control")
    os.close(folder)
    return client


def start_and_stop(program, folder):
    if "has no door" not in program.control("status", code=1):
        fail("a process that has not used a GPU has a door")
    program.tell("replay 1")
    status = program.status()
    expect("state", (status["state"], status["recordings"], status["records"]), ("dormant", 0, 0))
    if "there is no recording to copy" not in program.control("snapshot", code=1):
        fail("a snapshot of a dormant process")
    if "recording since" not in program.control("start"):
        fail("start does not say that the recording is on")
    program.tell("launch 5")
    status = program.status()
    expect("state", (status["state"], status["recordings"], status["lost"]), ("recording", 1, 0))
    if status["records"] < 10:
        fail(f"5 launches are {status['records']} records")
    snapshot = os.path.join(folder, "snapshot.dagtap")
    program.control("snapshot", "-o", snapshot)
    expect("kernels of the snapshot", kernels(snapshot), 5)
    if "exists already" not in program.control("snapshot", "-o", snapshot, code=1):
        fail("a snapshot replaces a file")
    spool = os.path.join(program.spools, program.status()["spool"])
    if "is inside the input" not in program.control("snapshot", "-f", "-o", spool, code=1):
        fail("a snapshot replaces the spool that is copied")
    program.tell("replay 2")
    program.control("start")
    program.control("snapshot", "-f", "-q", "-o", snapshot)
    expect("kernels of the second snapshot", kernels(snapshot), 15)
    program.control("stop")
    program.tell("launch 4")
    program.control("stop", "-q")
    expect("state", program.status()["state"], "dormant")


def disturb(program):
    """Malformed requests are answered, and silent clients do not keep others away."""
    draw = random.Random(int(os.environ.get("DAGTAP_TEST_SEED", "1")))
    for _ in range(200):
        client = connect(program)
        size = draw.choice([1, REQUEST_BYTES - 1, REQUEST_BYTES, REQUEST_BYTES + 1, 4096, 60000])
        message = bytearray(draw.randbytes(size))
        if draw.random() < 0.5:  # all but the verb is right
            message[:6] = b"DCTL\1\0"[:size]
        if size == REQUEST_BYTES and message[:6] == b"DCTL\1\0":
            message[6:] = draw.choice([b"\0\0", b"\4\0", b"\1\1", b"\xff\xff"])
        client.send(message)
        answer = client.recv(4096)
        expect("size of the answer", len(answer), 136)
        expect("result of a malformed request", answer[6], 3)
        client.close()
    silent = [connect(program) for _ in range(40)]
    for client in silent[::2]:
        client.close()
    expect("state", program.status()["state"], "dormant")
    for client in silent:
        client.close()


def come_as_another_user(program):
    """Of another user, who finds the door open, no request is read."""
    if os.geteuid():
        return
    os.chmod(program.spools, 0o711)
    os.chmod(f"{program.spools}/{program.pid}.control", 0o777)
    client = """if True:
        import os, socket, sys
        folder = os.open(sys.argv[1], os.O_PATH)
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(f"/proc/self/fd/{folder}/{sys.argv[2]}.control")
        try:
            client.send(b"DCTL\\1\\0\\2\\0")
            print(len(client.recv(4096)))
        except (BrokenPipeError, ConnectionResetError):
            print(0)
        """
    ran = subprocess.run([sys.executable, "-c", client, program.spools, str(program.pid)],
                         capture_output=True, text=True)
    expect("bytes for another user " + ran.stderr, ran.stdout, "0\n")
    expect("recordings", program.status()["recordings"], 1)
    os.chmod(program.spools, 0o700)


def main():
    folder = tempfile.mkdtemp()
    program = Program(folder, "--control", "--wait", *sys.argv[1:])
    start_and_stop(program, folder)
    disturb(program)
    come_as_another_user(program)
    program.tell("close")
    program.control("start")
    program.tell("launch 6")
    program.control("stop")
    status = program.status()
    expect("state", (status["state"], status["recordings"], status["lost"]), ("dormant", 2, 0))
    program.end()
    expect("kernels", kernels(program.output), 5 + 10 + 6)
    program.control("status", code=1)

    # Without --wait the recording is on from the begin. A killed process leaves nothing.
    os.unlink(program.output)
    program = Program(folder, "--control", "--duration", "100000", *sys.argv[1:])
    program.tell("launch 2")
    expect("state", program.status()["state"], "recording")
    os.kill(program.pid, 9)
    expect("exit status of dagtap record", program.recorder.wait(), 137)
    if os.path.exists(program.spools):
        fail("the folder of spools is left: " + str(os.listdir(program.spools)))


main()
