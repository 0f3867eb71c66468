"""stats_metrics.py FOLDER: what `dagtap record --stats --metrics` answers, on a Unix socket and on
loopback, is well-formed by the rules of Prometheus's text format, and says what was recorded. Other
requests, and clients that say too much or nothing, do no harm."""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder = sys.argv[1]
NAME, LABEL = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (\S+)")
KINDS = {"counter": {""}, "gauge": {""}, "summary": {"", "_sum", "_count"}}


def parse(text):
    """The samples, {(name, labels): value}; fails unless all lines follow the format."""
    types, samples, current = {}, {}, None
    if not text.endswith("\n"):
        fail("the last line has no end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            if current in types or kind not in KINDS:
                fail(f"the type of {current} is {kind}, or comes twice")
            types[current] = kind
            continue
        match = SAMPLE.fullmatch(line)
        if not match:
            fail(f"no sample: {line}")
        name, labels = match[1], tuple(sorted(re.findall(LABEL, match[2] or "")))
        if not name.startswith(current) or name[len(current):] not in KINDS[types[current]]:
            fail(f"{name} is among the samples of {current}")
        if (name, labels) in samples:
            fail(f"{line} comes twice")
        samples[name, labels] = float(match[3])
    return samples


def connect(address):
    if address.startswith("unix:"):
        client = socket.socket(socket.AF_UNIX)
        client.connect(address[5:])
    else:
        client = socket.socket()
        host, port = address.split(":")
        client.connect((host, int(port)))
    return client


def ask(address, request=b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"):
    client = connect(address)
    client.sendall(request)
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    client.close()
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    return head.decode(), body.decode()


def send_too_much(address):
    """A request that is longer than the door reads gets no answer."""
    client = connect(address)
    try:
        client.sendall(b"x" * 8192)
        expect("answer to a request without an end", client.recv(1), b"")
    except (ConnectionResetError, BrokenPipeError):
        pass
    client.close()


def scrape(address):
    head, body = ask(address)
    if not head.startswith("HTTP/1.1 200 OK\r\n") or "Content-Type: text/plain; version=0.0.4" not in head:
        fail(f"head: {head}")
    expect("Content-Length", int(re.search(r"Content-Length: (\d+)", head)[1]), len(body.encode()))
    return parse(body)


def counts(samples):
    return {dict(label.split("=", 1) for label in labels)["name"]: value
            for (name, labels), value in samples.items()
            if name == "dagtap_activity_duration_seconds_count" and 'kind="kernel"' in labels}


def await_counted(out, kernels):
    """Waits until intervals of OUT count so many kernels. Times are final, and the kernels counted,
    once a later anchor of the clocks is there. What an interval has was in the metrics before."""
    # -F waits for the file, and then for each line.
    tail = subprocess.Popen(["tail", "-n", "+1", "-F", out], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    names, counted = {}, 0
    while counted < kernels:
        line = json.loads(tail.stdout.readline())
        if "key" in line:
            names[line["key"]] = line["kind"]
        counted += sum(row["count"] for row in line.get("rows", []) if names[row["key"]] == "kernel")
    tail.kill()
    tail.wait()


def measure(address, kind, replace=None):
    """Returns the address. REPLACE is bound to the socket's path while the recorder runs."""
    out = os.path.join(folder, kind + ".dagstats")
    recorder = subprocess.Popen(
        [DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--stats-interval", "0.05", "--metrics", address,
         "-o", out, "--", BUILD + "/tests/obedient"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
        env=environment())
    told = re.fullmatch(r"dagtap: metrics at (\S+)\n", recorder.stderr.readline())
    if not told:
        fail("no address is told")
    address = told[1]
    recorder.stdout.readline()
    recorder.stdin.write("launch 25\n")
    recorder.stdout.readline()
    await_counted(out, 25)
    samples = scrape(address)
    expect("kernels", sum(counts(samples).values()), 25)
    expect("error", samples["dagtap_relative_error", ()], 0.01)
    expect("lost", [value for (name, _), value in samples.items() if name == "dagtap_lost_total"], [0])
    if not ask(address, b"GET /other HTTP/1.1\r\n\r\n")[0].startswith("HTTP/1.1 404 "):
        fail("another path is answered")
    if not ask(address, b"POST /metrics HTTP/1.1\r\n\r\n")[0].startswith("HTTP/1.1 405 "):
        fail("a POST is answered")
    send_too_much(address)
    connect(address).close()
    expect("kernels after odd clients", sum(counts(scrape(address)).values()), 25)
    if address.startswith("unix:"):
        expect("mode of the socket", stat.S_IMODE(os.stat(address[5:]).st_mode), 0o600)
    if replace:
        os.unlink(address[5:])
        replace.bind(address[5:])
    recorder.stdin.close()
    expect("exit status", recorder.wait(), 0)
    if address.startswith("unix:"):
        expect("a socket is there", os.path.exists(address[5:]), replace is not None)
    return address


def record(address, *program):
    timers = ",".join(filter(None, [os.environ.get("DAGTAP_TIMERS"), "metrics_lock=0"]))
    return subprocess.run([DAGTAP, "record", "--softgpu", "--stats", "--metrics", address, "-o", "short.dagstats", "-f", "--",
                           *program], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(environment(), DAGTAP_TIMERS=timers))


def expect_refused(name):
    before = os.lstat(name).st_ino
    ran = record("unix:" + name, "true")
    if ran.returncode != 1 or "Address already in use" not in ran.stderr:
        fail(f"{name}: {ran.returncode} {ran.stderr}")
    expect(name + " after it", os.lstat(name).st_ino, before)


# A path of a socket has at most 107 bytes.
os.chdir(folder)
measure("unix:metrics", "unix")
# The door closes a connection first, so the port stays occupied for a minute: it can be used again.
measure(measure("127.0.0.1:0", "loopback"), "again")
# The socket of a dagtap that was killed is in nobody's way; one that is answered stays, and so does
# a file of another kind.
expect("exit status of a killed dagtap", record("unix:left", "sh", "-c", "kill -9 $PPID").returncode, -signal.SIGKILL)
expect("the socket is left", stat.S_ISSOCK(os.lstat("left").st_mode), True)
shutil.rmtree(os.path.realpath("short.spool"))  # what is here is a link
measure("unix:left", "left")
taken = socket.socket(socket.AF_UNIX)
taken.bind("taken")
taken.listen()
with open("file", "w") as file:
    file.write("mine")
os.symlink("nowhere", "link")
for name in ("taken", "file", "link"):
    expect_refused(name)
# Another dagtap has the lock while it binds its socket and listens.
other = socket.socket(socket.AF_UNIX)
other.bind("other")
lock = os.open(".", os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
expect_refused("other")
os.close(lock)
expect("exit status", record("unix:other", "true").returncode, 0)
# What somebody else has bound since is not removed at the end.
with socket.socket(socket.AF_UNIX) as mine:
    measure("unix:replaced", "replaced", mine)
for refused in ["0.0.0.0:9000", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "unix:", "unix:" + "x" * 200, "[::1]:1"]:
    ran = subprocess.run([DAGTAP, "record", "--stats", "--metrics", refused, "true"], capture_output=True,
                         text=True, env=environment())
    expect("exit status of --metrics " + refused, ran.returncode, 2)
