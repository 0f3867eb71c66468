"""`dagtap record --dynolog` does what a daemon that speaks dynolog's protocol asks for. The daemon
is a part of this test."""
import json
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from controlled import DAGTAP, Program, expect, fail, kernels

HEAD = struct.Struct("=Q32s")
SECOND = 1_000_000_000
CLIENT = b"dynoconfigclient"


def message(kind, payload):
    return HEAD.pack(len(payload), kind) + payload


class Daemon(threading.Thread):
    """Answers registrations and questions. It hands each request out once, to the first process
    that asks. Its socket is in a folder, as with KINETO_IPC_SOCKET_DIR."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.path.join(folder, "dynolog"))
        self.registered, self.asked, self.texts, self.client = [], [], [], None
        self.delivered = 0  # texts
        self.changed = threading.Condition()
        self.start()

    def run(self):
        while True:
            data, client = self.socket.recvfrom(65536)
            size, kind = HEAD.unpack(data[:HEAD.size])
            kind, payload = kind.rstrip(b"\0"), data[HEAD.size:]
            if len(payload) != size:  # sys.exit would end this thread only
                print(f"FAILED: a datagram of {len(payload)} bytes says {size}", file=sys.stderr, flush=True)
                os._exit(1)
            with self.changed:
                self.client = client
                if kind == b"ctxt":
                    self.registered.append(struct.unpack("=iiq", payload))
                    answer = struct.pack("=i", len(self.registered))
                else:
                    wanted, count, job = struct.unpack("=iiq", payload[:16])
                    self.asked.append((wanted, job, struct.unpack(f"={count}i", payload[16:])))
                    answer = self.texts.pop(0) if self.texts else b""
                self.changed.notify_all()
            is_text = kind == b"req" and answer
            try:
                self.socket.sendto(message(kind, answer), client)
            except OSError:  # the client has ended, or has another socket now
                if is_text:
                    with self.changed:
                        self.texts.insert(0, answer)
                continue
            if is_text:
                with self.changed:
                    self.delivered += 1
                    self.changed.notify_all()

    def await_questions(self, count):
        with self.changed:
            seen = len(self.asked)
            self.changed.wait_for(lambda: len(self.asked) >= seen + count)

    def await_other_client(self, client):
        """Waits for a question from another socket than CLIENT. None from CLIENT is left then."""
        with self.changed:
            self.changed.wait_for(lambda: self.client != client)

    def request(self, program, **keys):
        """Hands the request out, and waits until the client has read it. One thread of the process
        serves both doors, so it has read what was there when dagtap control asked for the
        status."""
        text = "".join(f"{key}={value}\n" for key, value in keys.items())
        with self.changed:
            wanted = self.delivered + 1
            self.texts.append(text.encode())
            self.changed.wait_for(lambda: self.delivered == wanted)
        program.status()


class Clock:
    """A clock that can be moved forward, of the processes that get its file."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        with open(self.path, "wb") as file:
            file.truncate(16)
        with open(self.path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 16)
        self.offset = 0

    def step(self, ns):
        self.offset += ns
        self.page[8:16] = struct.pack("=q", self.offset)


def await_state(program, state):
    while program.status()["state"] != state:
        time.sleep(0.01)


def await_file(path):
    while not os.path.exists(path):
        time.sleep(0.01)


def kernels_of_json(path):
    with open(path) as file:
        return sum(event.get("cat") == "kernel" for event in json.load(file)["traceEvents"])


def make_program(folder, clock, *options):
    timers = ",".join(filter(None, [os.environ.get("DAGTAP_TIMERS"), "dynolog_poll=1000000"]))
    return Program(folder, "--dynolog", "--control", *options, KINETO_IPC_SOCKET_DIR=folder,
                   DAGTAP_CLOCK=clock.path, DAGTAP_TIMERS=timers, SLURM_JOB_ID="77")


def check_identity(daemon, program):
    with daemon.changed:
        daemon.changed.wait_for(lambda: daemon.asked)
    expect("registration", daemon.registered[0], (0, program.pid, 77))
    wanted, job, pids = daemon.asked[0]
    expect("question", (wanted, job, pids[:3]), (2, 77, (program.pid, program.recorder.pid, os.getpid())))


def record_now(daemon, program, clock, folder):
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/now.json", PROFILE_START_TIME=0,
                   ACTIVITIES_DURATION_MSECS=1000 * 1000)
    await_state(program, "recording")
    program.tell("launch 5")
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/second.json", ACTIVITIES_DURATION_MSECS=1)
    program.tell("replay 1")
    clock.step(1000 * SECOND)
    await_state(program, "dormant")
    program.tell("launch 3")
    written = f"{folder}/now_{program.pid}.json"
    await_file(written)
    expect("kernels", kernels_of_json(written), 10)


def record_later(daemon, program, clock, folder):
    start_ms = time.time_ns() // 1_000_000 + 500 * 1000
    daemon.request(program, ACTIVITIES_LOG_FILE="file://" + folder + "/later", PROFILE_START_TIME=start_ms,
                   ACTIVITIES_DURATION_MSECS=300 * 1000)
    program.tell("launch 2")
    expect("state before the time", program.status()["state"], "dormant")
    clock.step(500 * SECOND)
    await_state(program, "recording")
    program.tell("launch 7")
    clock.step(300 * SECOND)
    written = f"{folder}/later_{program.pid}"
    await_file(written)
    expect("kernels", kernels_of_json(written), 7)


def send_as_nobody(address, *datagrams):
    """Needs root."""
    sender = """if True:
        import os, socket, sys
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        for data in sys.argv[2:]:
            client.sendto(bytes.fromhex(data), bytes.fromhex(sys.argv[1]))
        """
    subprocess.run([sys.executable, "-c", sender, address.hex(), *(data.hex() for data in datagrams)], check=True)


def deliver(program, folder):
    """dagtap record writes a file for a process of its own user, and for no other one that knows
    the secret (record/delivery_word.h)."""
    program.control("start")
    spool = program.status()["spool"]
    program.tell("launch 2")
    program.control("stop")
    with open(f"/proc/{program.pid}/environ", "rb") as file:
        variables = dict(part.split(b"=", 1) for part in file.read().split(b"\0") if b"=" in part)
    name, secret = variables[b"DAGTAP_RECORDER"].split(b":")[0].split(b".")
    address = b"\0dagtap." + name

    def words(output):
        return [struct.pack("=16sII64s4096s", secret, kind, 0, spool.encode(), output.encode()) for kind in (1, 2)]

    if os.geteuid() == 0:
        send_as_nobody(address, *words(folder + "/foreign.json"))
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for word in words(folder + "/own.json"):
        sender.sendto(word, address)
    while not os.path.exists(folder + "/own.json"):
        if os.path.exists(folder + "/foreign.json"):
            fail("a file is written for another user")
        time.sleep(0.01)
    expect("kernels", kernels_of_json(folder + "/own.json"), 2)


def disturb(daemon, program, folder):
    """What no daemon of ours has sent, and what makes no sense, starts nothing."""
    draw = random.Random(int(os.environ.get("DAGTAP_TEST_SEED", "1")))
    stranger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    request = message(b"req", b"ACTIVITIES_DURATION_MSECS=1000000\n")
    for _ in range(300):
        data = bytearray(draw.choice([request, draw.randbytes(draw.choice([0, 1, 39, 40, 41, 200, 30000]))]))
        if bytes(data) == request:
            place = draw.randrange(HEAD.size)  # of the size or the type
            data[place] ^= draw.randrange(1, 256) if place < 12 else 0
            if place >= 12:
                data[8:12] = b"ctxt"
        try:
            stranger.sendto(data, daemon.client)
        except OSError as error:
            fail(f"{len(data)} bytes: {error}")
        if draw.random() < 0.1:
            daemon.await_questions(1)
    daemon.await_questions(3)
    if os.geteuid() == 0:
        os.chmod(folder, 0o777)
        os.chmod(daemon.client, 0o777)
        send_as_nobody(daemon.client.encode(), request)
        daemon.await_questions(3)
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/steps.json", PROFILE_START_ITERATION=0,
                   ACTIVITIES_ITERATIONS=3)
    expect("state", (program.status()["state"], program.status()["recordings"]), ("dormant", 2))


def count_iterations(daemon, clock, folder):
    """Each iteration replays the graph of five kernels in its scope and once behind it. The first
    one that is recorded is the one that is asked for, or the next multiple; what is recorded ends
    with the begin of the one behind the last, or with the process."""
    program = make_program(folder, clock, "--iterations", "step")
    program.tell("step 3")
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/fifth.json", PROFILE_START_ITERATION=5,
                   ACTIVITIES_ITERATIONS=2, ACTIVITIES_DURATION_MSECS=1)
    program.tell("step 2")
    expect("state before the iteration", program.status()["state"], "dormant")
    program.tell("step 2")
    expect("state", program.status()["state"], "recording")
    program.tell("step 1")
    expect("state", program.status()["state"], "dormant")
    written = f"{folder}/fifth_{program.pid}.json"
    await_file(written)
    expect("kernels", kernels_of_json(written), 2 * 10)

    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/tenth.json", PROFILE_START_ITERATION=0,
                   PROFILE_START_ITERATION_ROUNDUP=10, ACTIVITIES_ITERATIONS=1)
    program.tell("step 4")
    written = f"{folder}/tenth_{program.pid}.json"
    await_file(written)
    expect("kernels", kernels_of_json(written), 10)

    # What waits for iterations that do not come gives way, to times and to iterations.
    never = dict(ACTIVITIES_LOG_FILE=folder + "/never.json", PROFILE_START_ITERATION=10**9, ACTIVITIES_ITERATIONS=1)
    daemon.request(program, **never)
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/timed.json", ACTIVITIES_DURATION_MSECS=1000 * 1000)
    await_state(program, "recording")
    program.tell("step 1")
    clock.step(1000 * SECOND)
    await_state(program, "dormant")
    written = f"{folder}/timed_{program.pid}.json"
    await_file(written)
    expect("kernels", kernels_of_json(written), 10)
    daemon.request(program, **never)
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/last.json", ACTIVITIES_ITERATIONS=50)
    program.tell("step 7")
    program.end()
    expect("kernels", kernels_of_json(f"{folder}/last_{program.pid}.json"), 7 * 10)
    expect("kernels", kernels(program.output), (2 + 1 + 1 + 7) * 10)
    os.unlink(program.output)


def ask_without_daemon(clock):
    """dagtap control is the daemon for one request. It gives it to no other process, and has no
    chance where there is a daemon."""
    def request(pid, code=0, **variables):
        ran = subprocess.run([DAGTAP, "control", str(pid), "request", f"ACTIVITIES_LOG_FILE={folder}/asked.json",
                              f"ACTIVITIES_DURATION_MSECS={10**6}"], capture_output=True, text=True,
                             env=dict(os.environ, KINETO_IPC_SOCKET_DIR=folder, **variables))
        expect("exit status: " + ran.stderr, ran.returncode, code)
        return ran.stderr

    with tempfile.TemporaryDirectory(dir="/tmp", prefix="dt-") as folder:
        program = make_program(folder, clock)
        program.tell("launch 1")
        if "does not ask" not in request(os.getpid(), 1, DAGTAP_TIMERS="control_answer=300000000"):
            fail("another process has the request")
        expect("state", program.status()["state"], "dormant")
        request(program.pid)
        await_state(program, "recording")
        program.tell("launch 5")
        Daemon(folder)
        if "another daemon" not in request(program.pid, 1):
            fail("two daemons")
        program.end()
        expect("kernels", kernels_of_json(f"{folder}/asked_{program.pid}.json"), 5)


def main():
    # The address of a socket has room for a short path only.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="dt-") as folder:
        run(folder)


def run(folder):
    clock, daemon = Clock(folder), Daemon(folder)
    program = make_program(folder, clock)
    program.tell("launch 1")
    check_identity(daemon, program)
    record_now(daemon, program, clock, folder)
    record_later(daemon, program, clock, folder)
    disturb(daemon, program, folder)
    deliver(program, folder)
    client = daemon.client
    program.tell("close")
    daemon.await_other_client(client)
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/closed.json", ACTIVITIES_DURATION_MSECS=10**6)
    await_state(program, "recording")
    program.tell("launch 4")
    program.end()  # within the time
    expect("kernels", kernels_of_json(f"{folder}/closed_{program.pid}.json"), 4)
    expect("kernels", kernels(program.output), 10 + 7 + 2 + 4)
    for name in ("second", "steps"):
        if os.path.exists(f"{folder}/{name}_{program.pid}.json"):
            fail("a request that was not followed has a file")
    left = [name for name in os.listdir(folder) if name.startswith(CLIENT.decode())]
    expect("sockets that are left", left, [])

    os.unlink(program.output)
    count_iterations(daemon, clock, folder)
    ask_without_daemon(clock)

    # A process that is killed in the middle.
    program = make_program(folder, clock)
    program.tell("launch 1")
    daemon.request(program, ACTIVITIES_LOG_FILE=folder + "/killed.json", ACTIVITIES_DURATION_MSECS=10**6)
    await_state(program, "recording")
    program.tell("launch 6")
    os.kill(program.pid, 9)
    expect("exit status of dagtap record", program.recorder.wait(), 137)
    whole = folder + "/whole.json"
    subprocess.run([DAGTAP, "export", "--format", "kineto", "-o", whole, program.output], check=True)
    expect("kernels", kernels_of_json(f"{folder}/killed_{program.pid}.json"), kernels_of_json(whole))


main()
