"use strict";
/* The timeline: a canvas with one line for each track. Where the page has all rows of a window, they are drawn; elsewhere the
   time for which the track was busy, bin by bin. Times are in ns since the begin of the recording. */

const TRACK_KINDS = { stream: "GPU", thread: "thread", ranges: "ranges" };
const BIN_COLOURS = { kernel: 210, copy: 35, memset: 120, call: 280, scope: 175 };
const TABLES = ["activity", "call", "scope"];
const ROW_PIXELS = 16, BIN_PIXELS = 26, LABEL_PIXELS = 15, AXIS_PIXELS = 22, GAP_PIXELS = 5, DEPTH_MOST = 8;

function hueOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % 360;
}

class Timeline {
  constructor(data, canvas, details, format) {
    Object.assign(this, { data, canvas, details, format });
    this.length = Math.max(1, data.end_ns - data.begin_ns);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.windows = data.windows.map(window => this.readWindow(window));
    this.tracks = data.tracks.map((track, index) => this.readTrack(track, index));
    this.hues = [];
    this.chosen = null;
    this.hovered = null;
    this.pointers = new Map();
    this.layOut();
    this.show(...this.workOfGpus());
    this.listen();
  }

  readWindow(window) {
    return { ...window, from: window.begin_ns - this.data.begin_ns, to: window.end_ns - this.data.begin_ns,
      byTrack: null, depth: null, edges: null, into: null, outOf: null, edgeRows: window.edges };
  }

  readTrack(track, index) {
    const place = track.kind === "stream"
      ? `GPU ${track.gpu ?? "?"} stream ${track.stream ?? "?"}`
      : `${track.kind === "ranges" ? "ranges of thread" : "thread"} ${track.tid ?? "?"} ${track.name ?? ""}`;
    return { ...track, index, label: `${place}${track.number > 1 ? `, ${track.number}` : ""}`.trim(), depth: 1 };
  }

  /* The rows of a window by track, and how deep each is nested; made when it is first drawn. */
  rowsOf(window) {
    if (window.byTrack) return window.byTrack;
    window.byTrack = this.data.tracks.map(() => []);
    window.depth = new Uint8Array(window.row_count);
    for (let i = 0; i < window.row_count; i++) window.byTrack[window.track[i]].push(i);
    for (const rows of window.byTrack) {
      const ends = [];
      for (const i of rows) {
        while (ends.length && ends[ends.length - 1] <= window.start_ns[i]) ends.pop();
        window.depth[i] = Math.min(ends.length, DEPTH_MOST - 1);
        ends.push(window.start_ns[i] + window.duration_ns[i]);
      }
    }
    return window.byTrack;
  }

  /* The time of the GPUs' work, a little more; of the whole recording if there is none. */
  workOfGpus() {
    let first = Infinity, last = -1;
    for (const track of this.tracks.filter(row => row.kind === "stream"))
      for (const busy of Object.values(track.busy_ns)) {
        const begin = busy.findIndex(ns => ns > 0);
        if (begin < 0) continue;
        first = Math.min(first, begin);
        last = Math.max(last, busy.findLastIndex(ns => ns > 0));
      }
    if (last < 0) return [0, this.length];
    const edge = Math.max(1, (last - first) * .03);
    return [(first - edge) * this.data.bin_ns, (last + 1 + edge) * this.data.bin_ns];
  }

  layOut() {
    for (const window of this.windows) this.rowsOf(window);
    let y = AXIS_PIXELS;
    for (const track of this.tracks) {
      for (const window of this.windows)
        for (const i of window.byTrack[track.index]) track.depth = Math.max(track.depth, window.depth[i] + 1);
      track.y = y;
      track.height = LABEL_PIXELS + Math.max(BIN_PIXELS, track.depth * ROW_PIXELS);
      y += track.height + GAP_PIXELS;
    }
    this.height = y;
  }

  get width() { return this.canvas.clientWidth || 800; }
  x(ns) { return (ns - this.from) / (this.to - this.from) * this.width; }
  ns(x) { return this.from + x / this.width * (this.to - this.from); }

  show(from, to) {
    const span = Math.min(Math.max(to - from, 50), this.length * 1.02);
    const centre = Math.min(Math.max((from + to) / 2, 0), this.length);
    this.from = Math.max(centre - span / 2, -this.length * .01);
    this.to = this.from + span;
    this.draw();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  move(part) {
    const step = (this.to - this.from) * part;
    this.show(this.from + step, this.to + step);
  }

  /* ---- drawing ---- */

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  paint() {
    const scale = devicePixelRatio || 1, width = this.width;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(this.height * scale);
    const pen = this.pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    this.colours = { ink: style.getPropertyValue("--ink"), quiet: style.getPropertyValue("--quiet"),
      line: style.getPropertyValue("--line"), accent: style.getPropertyValue("--accent") };
    pen.scale(scale, scale);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.paintAxis(width);
    const shown = this.windows.filter(window => this.x(window.to) - this.x(window.from) > 160 &&
                                               window.to >= this.from && window.from <= this.to);
    for (const track of this.tracks) {
      this.paintBins(track, shown);
      for (const window of shown) this.paintRows(track, window);
      pen.fillStyle = this.colours.quiet;
      pen.fillText(track.label, 4, track.y + LABEL_PIXELS / 2);
    }
    if (this.hovered) this.paintEdges(this.hovered);
    if (this.chosen) {
      this.paintEdges(this.chosen);
      this.outline(this.chosen);
    }
  }

  paintAxis(width) {
    const pen = this.pen, span = this.to - this.from, count = Math.max(2, Math.floor(width / 130));
    let step = 10 ** Math.floor(Math.log10(span / count));
    while (span / step > count) step *= step.toString()[0] === "2" ? 2.5 : 2;
    for (let ns = Math.ceil(this.from / step) * step; ns <= this.to; ns += step) {
      const x = this.x(ns);
      pen.fillStyle = this.colours.line;
      pen.fillRect(x, AXIS_PIXELS - 4, 1, this.height);
      pen.fillStyle = this.colours.quiet;
      pen.fillText(this.format.at(ns, step), x + 3, AXIS_PIXELS / 2);
    }
    for (const window of this.windows) {
      pen.fillStyle = this.colours.accent;
      pen.fillRect(this.x(window.from), 0, Math.max(2, this.x(window.to) - this.x(window.from)), 3);
    }
  }

  fill(hue, strength = 1) {
    return this.dark.matches ? `hsl(${hue} ${45 * strength}% 42%)` : `hsl(${hue} ${55 * strength}% 72%)`;
  }

  paintBins(track, shown) {
    const pen = this.pen, bin = this.data.bin_ns, base = track.y + LABEL_PIXELS + BIN_PIXELS;
    const first = Math.max(0, Math.floor(this.from / bin)), last = Math.min(this.data.bin_count - 1, Math.floor(this.to / bin));
    for (let i = first; i <= last; i++) {
      if (shown.some(window => window.from <= i * bin && window.to >= Math.min((i + 1) * bin, this.length))) continue;
      const x = this.x(i * bin), width = Math.max(1, this.x((i + 1) * bin) - x);
      let y = base;
      for (const [kind, busy] of Object.entries(track.busy_ns)) {
        if (!busy[i] || kind === "scope" && track.busy_ns.call) continue;
        const height = Math.max(1, Math.min(1, busy[i] / bin) * BIN_PIXELS);
        pen.fillStyle = this.fill(BIN_COLOURS[kind]);
        pen.fillRect(x, y -= height, width, height);
      }
    }
  }

  paintRows(track, window) {
    const pen = this.pen, lastX = new Float64Array(DEPTH_MOST).fill(-1), top = track.y + LABEL_PIXELS;
    for (const i of window.byTrack[track.index]) {
      const start = window.from + window.start_ns[i], end = start + window.duration_ns[i];
      if (start > this.to) break;
      if (end < this.from) continue;
      const depth = window.depth[i], x = Math.max(this.x(start), 0), right = Math.min(this.x(end), this.width);
      if (right - x < 1 && x - lastX[depth] < 1) continue;
      const width = Math.max(1, right - x - (right - x > 3 ? .5 : 0)), y = top + depth * ROW_PIXELS;
      lastX[depth] = x;
      pen.fillStyle = this.fill(this.hues[window.name[i]] ??= hueOf(this.data.names[window.name[i]]));
      pen.fillRect(x, y, width, ROW_PIXELS - 1);
      if (width > 34) this.paintName(this.data.names[window.name[i]], x, y, width);
    }
  }

  paintName(name, x, y, width) {
    const pen = this.pen, most = Math.floor((width - 6) / 5.6);
    const text = name.length > most ? `${name.slice(0, Math.max(1, most - 1))}\u2026` : name;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width - 2, ROW_PIXELS);
    pen.clip();
    pen.fillStyle = this.dark.matches ? "#fff" : "#111";
    pen.fillText(text, x + 3, y + ROW_PIXELS / 2);
    pen.restore();
  }

  box({ window, row }) {
    const track = this.tracks[window.track[row]], start = window.from + window.start_ns[row];
    return { x: this.x(start), right: this.x(start + window.duration_ns[row]),
      y: track.y + LABEL_PIXELS + window.depth[row] * ROW_PIXELS };
  }

  outline(where) {
    const box = this.box(where);
    this.pen.strokeStyle = this.colours.ink;
    this.pen.lineWidth = 2;
    this.pen.strokeRect(box.x, box.y, Math.max(2, box.right - box.x), ROW_PIXELS - 1);
  }

  /* The edges to and from a row of the window: those of the file, and from its call. */
  edgesOf({ window, row }) {
    if (!window.into) {
      window.into = new Map();
      window.outOf = new Map();
      const add = (map, key, edge) => map.has(key) ? map.get(key).push(edge) : map.set(key, [edge]);
      for (const edge of window.edgeRows) {
        add(window.into, edge.to, edge);
        add(window.outOf, edge.from, edge);
      }
      window.call.forEach((from, to) => {
        if (from < 0) return;
        add(window.into, to, { from, to, kind: "launch" });
        add(window.outOf, from, { from, to, kind: "launch" });
      });
    }
    return [...window.into.get(row) ?? [], ...window.outOf.get(row) ?? []];
  }

  paintEdges(where) {
    const pen = this.pen;
    pen.lineWidth = 1.5;
    for (const edge of this.edgesOf(where).slice(0, 400)) {
      const from = this.box({ window: where.window, row: edge.from }), to = this.box({ window: where.window, row: edge.to });
      const fromX = edge.kind === "launch" ? from.x : from.right, half = ROW_PIXELS / 2;
      const toX = this.tracks[where.window.track[edge.to]].kind === "stream" ? to.x : to.right;
      const bend = Math.max(12, Math.abs(toX - fromX) / 3);
      pen.strokeStyle = edge.kind === "launch" ? this.colours.quiet : this.colours.accent;
      pen.beginPath();
      pen.moveTo(fromX, from.y + half);
      pen.bezierCurveTo(fromX + bend, from.y + half, toX - bend, to.y + half, toX, to.y + half);
      pen.stroke();
      pen.beginPath();
      pen.arc(toX, to.y + half, 2.5, 0, 7);
      pen.fillStyle = pen.strokeStyle;
      pen.fill();
    }
  }

  /* ---- what is under the pointer, and what was chosen ---- */

  find(x, y) {
    const track = this.tracks.find(row => y >= row.y && y < row.y + row.height);
    if (!track) return null;
    const ns = this.ns(x), slack = 2 * (this.to - this.from) / this.width;
    const depth = Math.floor((y - track.y - LABEL_PIXELS) / ROW_PIXELS);
    for (const window of this.windows) {
      if (ns < window.from - slack || ns > window.to + slack) continue;
      let found = null;
      for (const i of window.byTrack[track.index]) {
        const start = window.from + window.start_ns[i];
        if (start > ns + slack) break;
        if (window.depth[i] === depth && start + window.duration_ns[i] >= ns - slack) found = { window, row: i };
      }
      if (found) return found;
    }
    return null;
  }

  describe({ window, row }) {
    const names = this.data.names, edges = this.edgesOf({ window, row });
    const from = edges.filter(edge => edge.to === row), to = edges.filter(edge => edge.from === row);
    const list = (some, end) => some.slice(0, 4).map(edge => `${edge.kind} ${names[window.name[edge[end]]]}`).join("; ") +
      (some.length > 4 ? `; ${some.length - 4} more` : "");
    const lines = [names[window.name[row]] || "(no name)",
      `${TABLES[window.table[row]]} on ${this.tracks[window.track[row]].label}, begins at ` +
      `${this.format.at(window.from + window.start_ns[row], 1)}, takes ${this.format.ns(window.duration_ns[row])}`];
    if (window.scope[row]) lines.push(`scope ${names[window.scope[row]]}`);
    if (window.node[row]) lines.push(names[window.node[row]]);
    if (from.length) lines.push(`after: ${list(from, "from")}`);
    if (to.length) lines.push(`before: ${list(to, "to")}`);
    return lines;
  }

  tell(where) {
    this.details.replaceChildren(...(where ? this.describe(where) : ["Nothing chosen."]).map((line, index) => {
      const part = document.createElement(index ? "div" : "strong");
      part.textContent = line;
      return part;
    }));
  }

  choose(where, reveal) {
    this.chosen = where;
    this.tell(where);
    if (where && reveal) {
      const start = where.window.from + where.window.start_ns[where.row], end = start + where.window.duration_ns[where.row];
      if (end < this.from || start > this.to) this.show(start - (this.to - this.from) / 2, start + (this.to - this.from) / 2);
      const frame = this.canvas.parentElement, y = this.box(where).y;
      if (y < frame.scrollTop || y > frame.scrollTop + frame.clientHeight - 30) frame.scrollTop = y - 40;
    }
    this.draw();
  }

  /* The next or previous row of the chosen track, or the first row of the next or previous track. */
  step(rows, tracks) {
    const first = () => {
      for (const window of this.windows)
        for (const track of this.tracks) if (window.byTrack[track.index].length) return { window, row: window.byTrack[track.index][0] };
      return null;
    };
    if (!this.chosen) return this.choose(first(), true);
    const { window, row } = this.chosen;
    if (rows) {
      const list = window.byTrack[window.track[row]], at = list.indexOf(row) + rows;
      if (at >= 0 && at < list.length) this.choose({ window, row: list[at] }, true);
      return;
    }
    const start = window.start_ns[row];
    for (let track = window.track[row] + tracks; track >= 0 && track < this.tracks.length; track += tracks) {
      const list = window.byTrack[track];
      if (list.length) return this.choose({ window, row: list.find(i => window.start_ns[i] >= start) ?? list[list.length - 1] }, true);
    }
  }

  /* ---- events ---- */

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("keydown", event => this.key(event));
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.shiftKey && !event.altKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX / this.width);
      else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), this.ns(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      this.pointers.set(event.pointerId, event);
      this.dragged = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => this.pointerMoves(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, event => this.pointers.delete(event.pointerId));
    canvas.addEventListener("click", event => { if (this.dragged < 5) this.choose(this.find(event.offsetX, event.offsetY)); });
    canvas.addEventListener("dblclick", event => this.zoom(.4, this.ns(event.offsetX)));
    canvas.addEventListener("pointerleave", () => { this.hovered = null; this.draw(); });
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
    this.dark.addEventListener("change", () => this.draw());
  }

  pointerMoves(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const found = this.find(event.offsetX, event.offsetY);
      if (found?.row !== this.hovered?.row || found?.window !== this.hovered?.window) {
        this.hovered = found;
        this.tell(found ?? this.chosen);
        this.draw();
      }
      return;
    }
    this.dragged += Math.abs(event.offsetX - before.offsetX) + Math.abs(event.offsetY - before.offsetY);
    const others = [...this.pointers.values()].filter(other => other.pointerId !== event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (others.length === 0) return this.move((before.offsetX - event.offsetX) / this.width);
    const gap = pointer => Math.max(10, Math.abs(pointer.offsetX - others[0].offsetX));
    this.zoom(gap(before) / gap(event), this.ns((event.offsetX + others[0].offsetX) / 2));
  }

  key(event) {
    const keys = {
      "+": () => this.zoom(.5), "=": () => this.zoom(.5), "-": () => this.zoom(2), "0": () => this.show(0, this.length),
      Home: () => this.show(0, this.length), PageUp: () => this.move(-.9), PageDown: () => this.move(.9),
      ArrowLeft: () => event.shiftKey ? this.step(-1, 0) : this.move(-.1),
      ArrowRight: () => event.shiftKey ? this.step(1, 0) : this.move(.1),
      ArrowUp: () => event.shiftKey ? this.step(0, -1) : this.canvas.parentElement.scrollBy(0, -40),
      ArrowDown: () => event.shiftKey ? this.step(0, 1) : this.canvas.parentElement.scrollBy(0, 40),
      Escape: () => this.choose(null),
      Enter: () => this.chosen && this.fit(this.chosen),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  fit({ window, row }) {
    const start = window.from + window.start_ns[row], span = Math.max(100, window.duration_ns[row]);
    this.show(start - span, start + 2 * span);
  }
}
