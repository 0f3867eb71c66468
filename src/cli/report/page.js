"use strict";
/* The report's sections. All numbers come from the page's data, which is what the commands print with --json; a cell that shows
   one keeps it unrounded in data-value. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const MAIN = document.getElementById("main");

/* ---- numbers for people ---- */

const format = {
  count: value => value.toLocaleString("en-US"),
  ns(value) {
    const size = Math.abs(value);
    for (const [unit, ns] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
      if (size >= ns) return `${(value / ns).toPrecision(size / ns >= 1000 ? 4 : 3)} ${unit}`;
    return `${Math.round(value * 10) / 10} ns`;
  },
  /* A moment, as exactly as it matters where STEP does. */
  at(value, step) {
    const [unit, ns] = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]].find(([, size]) => Math.abs(value) >= size) ?? ["ns", 1];
    return `${(value / ns).toFixed(Math.max(0, Math.ceil(Math.log10(ns / step) - 1e-9)))} ${unit}`;
  },
  bytes(value) {
    for (const [unit, bytes] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
      if (Math.abs(value) >= bytes) return `${(value / bytes).toPrecision(3)} ${unit}`;
    return `${value} B`;
  },
  percent(value) {
    const percent = 100 * value, size = Math.abs(percent);
    return `${size === 0 ? 0 : size < .1 ? percent.toPrecision(2) : percent.toFixed(1)} %`;
  },
  change: value => `${value > 0 ? "+" : ""}${format.ns(value)}`,
};

/* ---- elements ---- */

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* A section with a place in the contents. */
function section(id, title, ...children) {
  const part = make("section", { id, "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title), ...children);
  document.getElementById("contents").append(make("li", {}, make("a", { href: `#${id}` }, title)));
  MAIN.append(part);
  return part;
}

function cards(rows) {
  return make("dl", { class: "cards" }, ...rows.filter(Boolean).map(([title, text, more, attributes]) =>
    make("div", {}, make("dt", {}, title), make("dd", attributes ?? {}, text, more ? make("small", {}, more) : null))));
}

/* ---- tables ---- */

/* A column: { title, key, show, text, word, value }. VALUE gets the number or text of a row, by default row[key]. */
function cellOf(column, row) {
  const value = column.value ? column.value(row) : row[column.key];
  if (value === null || value === undefined) return make("td", { class: column.text || column.word ? "word" : null }, "\u2013");
  if (column.text) return make("td", { class: "text", title: value }, make("span", {}, value || "(none)"));
  if (column.word) return make("td", { class: "word" }, String(value));
  return make("td", column.key ? { "data-key": column.key, "data-value": value } : {}, column.show(value));
}

/* A table that is sorted by its headings. OPTIONS: caption, most (rows that are shown first), marked(row), source (the place of
   the rows in the data, for tests), search. */
function table(columns, rows, options = {}) {
  const body = make("tbody"), note = make("span", { class: "quiet", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => { most = Infinity; fill(); } });
  let most = options.most ?? 25, order = rows, search = "";
  const value = (column, row) => column.value ? column.value(row) : row[column.key];
  const heads = columns.map(column => {
    const head = make("th", { scope: "col", class: column.text || column.word ? "text" : null },
      make("button", { type: "button", onclick: () => sort(column, head) }, column.title));
    return head;
  });
  function sort(column, head) {
    const up = head.getAttribute("aria-sort") === "descending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rank = row => value(column, row) ?? (column.text || column.word ? "" : -Infinity);
    order = [...rows].sort((a, b) => (rank(a) < rank(b) ? 1 : rank(a) > rank(b) ? -1 : 0) * (up ? -1 : 1));
    fill();
  }
  function fill() {
    const kept = search ? order.filter(row => columns.some(column => column.text && String(value(column, row) ?? "").toLowerCase().includes(search)))
                        : order;
    body.replaceChildren(...kept.slice(0, most).map(row =>
      make("tr", { class: options.marked?.(row) ? "marked" : null }, ...columns.map(column => cellOf(column, row)))));
    note.textContent = kept.length > most ? `${format.count(most)} of ${format.count(kept.length)} rows` : `${format.count(kept.length)} rows`;
    more.textContent = `Show all ${format.count(kept.length)} rows`;
    more.hidden = kept.length <= most;
  }
  fill();
  if (!rows.length) return make("p", { class: "quiet" }, "None.");
  const field = options.search !== false && rows.length > 12 && columns.some(column => column.text)
    ? make("input", { type: "search", placeholder: "Filter by text", "aria-label": `Filter ${options.caption}`,
      oninput: event => { search = event.target.value.toLowerCase(); fill(); } }) : null;
  return make("div", {},
    field ? make("div", { class: "tools" }, field, note) : null,
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": options.caption },
      make("table", { "data-source": options.source }, make("caption", { class: "visually-hidden" }, options.caption),
        make("thead", {}, make("tr", {}, ...heads)), body)),
    make("div", { class: "tools" }, more, field ? null : rows.length > 12 ? note : null));
}

const COLUMN = {
  count: { title: "count", key: "count", show: format.count },
  total: { title: "total", key: "total_ns", show: format.ns },
  mean: { title: "mean", key: "mean_ns", show: format.ns },
  min: { title: "min", key: "min_ns", show: format.ns },
  max: { title: "max", key: "max_ns", show: format.ns },
  untimed: { title: "untimed", key: "untimed", show: format.count },
  bytes: { title: "bytes", key: "bytes", show: format.bytes },
  name: title => ({ title, key: "name", text: true }),
};

function share(rows) {
  const all = rows.reduce((sum, row) => sum + row.total_ns, 0);
  return { title: "%", show: format.percent, value: row => all ? row.total_ns / all : 0 };
}

const TALLY = [COLUMN.count, COLUMN.total, COLUMN.mean, COLUMN.min, COLUMN.max];
const EXTRA_KEYS = { median_ns: ["median", format.ns], p50_ns: ["p50", format.ns], stddev_ns: ["stddev", format.ns],
  p90_ns: ["p90", format.ns], p99_ns: ["p99", format.ns], occupancy: ["occupancy", format.percent],
  bytes_per_s: ["bandwidth", value => `${format.bytes(Math.round(value))}/s`] };

/* The columns of a row of `summary --json`, those that only some versions have included. */
function tallyColumns(rows, title) {
  const extra = Object.entries(EXTRA_KEYS).filter(([key]) => rows.some(row => typeof row[key] === "number"))
    .map(([key, [heading, show]]) => ({ title: heading, key, show }));
  const limiter = rows.some(row => row.occupancy_limit) ? [{ title: "limited by", key: "occupancy_limit", word: true }] : [];
  const bytes = rows.some(row => row.bytes !== undefined) ? [COLUMN.bytes] : [];
  return [...TALLY.slice(0, 2), share(rows), ...TALLY.slice(2), ...extra, ...limiter, ...bytes, COLUMN.untimed, COLUMN.name(title)];
}

/* ---- bars ---- */

function bar(parts, label) {
  const all = parts.reduce((sum, part) => sum + part.value, 0);
  const shown = parts.filter(part => part.value > 0);
  const colour = part => part.name === "busy" ? "var(--bar)" : `hsl(${hueOf(part.name)} 50% 55%)`;
  return make("div", {},
    make("div", { class: "bar", role: "img", "aria-label": `${label}: ` +
      shown.map(part => `${part.name} ${format.ns(part.value)}`).join(", ") },
      ...shown.map(part => make("span", { style: `width:${100 * part.value / all}%;background:${colour(part)}`,
        title: `${part.name} ${format.ns(part.value)}` }))),
    make("ul", { class: "key" }, ...shown.map(part => make("li", {}, make("i", { style: `background:${colour(part)}` }),
      `${part.name} ${format.ns(part.value)} (${format.percent(part.value / all)})`))));
}

const words = key => key.replaceAll("_", " ");
const parts = object => Object.entries(object).map(([name, value]) => ({ name: words(name), value }));

/* ---- the sections of a recording ---- */

function overview() {
  const { summary, check, path, steps } = DATA, totals = summary.totals;
  const busy = (path?.gpus ?? []).map(gpu => gpu.busy_ns / gpu.window_ns);
  const number = (key, text) => [text, { "data-key": `summary.totals.${key}`, "data-value": totals[key] }];
  const card = (title, key, show, more) => { const [text, attributes] = number(key, show(totals[key])); return [title, text, more, attributes]; };
  section("overview", "Overview", cards([
    card("Kernels", "kernels", format.count, `${format.count(totals.graph_kernels)} from graphs`),
    card("Time of kernels", "kernel_ns", format.ns),
    card("From first to last", "span_ns", format.ns),
    busy.length ? ["GPU busy", format.percent(busy.reduce((a, b) => a + b, 0) / busy.length),
      busy.length > 1 ? `mean of ${busy.length} GPUs, ${format.percent(Math.min(...busy))} to ${format.percent(Math.max(...busy))}` : null] : null,
    card("Graph launches", "graph_launches", format.count, `${format.count(totals.graphs)} graphs`),
    card("Copies", "copies", format.count, `${format.bytes(totals.copied_bytes)}, ${format.count(totals.memsets)} memsets`),
    card("Calls", "api_calls", format.count, `${format.count(totals.threads)} threads, ${format.count(totals.processes)} processes`),
    steps ? ["Step", format.ns(steps.projection.p50_ns), `p50 of ${format.count(steps.projection.count)}; p99 ${format.ns(steps.projection.p99_ns)}`] : null,
    ["Ledger", check.ok ? "closed" : "open", check.ok ? "every activity is accounted for" : "something is not accounted for",
      { class: check.ok ? "good" : "bad" }],
    ["Recording", summary.state, totals.untimed ? `${format.count(totals.untimed)} activities without times` : null],
  ]), summary.command ? make("p", { class: "quiet" }, `Command: ${summary.command}`) : null);
}

function timeline() {
  const data = DATA.timeline;
  if (!data) return;
  const canvas = make("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "timeline-keys",
    "aria-label": `Timeline of ${data.tracks.length} tracks, ${format.ns(data.end_ns - data.begin_ns)}` });
  const details = make("div", { class: "details", role: "status", "aria-live": "polite" }, "Nothing chosen.");
  const held = data.windows.reduce((sum, window) => sum + window.row_count, 0);
  const choice = make("select", { "aria-label": "Show a window", onchange: event => {
    const window = data.windows[event.target.value];
    if (window) view.show(window.begin_ns - data.begin_ns, window.end_ns - data.begin_ns);
    else if (event.target.value) view.show(0, view.length);
  } }, make("option", { value: "" }, "Go to \u2026"), make("option", { value: "all" }, "the whole recording"), ...data.windows.map((window, index) =>
    make("option", { value: index }, `${window.why} (${format.count(window.row_count)} rows${window.cut ? ", cut" : ""})`)));
  const button = (text, label, run) => make("button", { type: "button", "aria-label": label, title: label, onclick: run }, text);
  section("timeline", "Timeline",
    make("p", { id: "timeline-keys", class: "quiet" }, data.windows.length === 1 && !data.windows[0].cut
      ? `All ${format.count(held)} rows. ` : `Exact busy times for all ${format.count(data.row_count)} rows; each row in ${data.windows.length} ` +
      `windows (blue on the axis): ${format.count(held)} rows. `,
      "Keys: + and \u2212 zoom, arrows move, Shift with arrows goes from row to row, Enter fits the row, 0 shows all. " +
      "Drag to move; Ctrl and wheel, or two fingers, zoom."),
    make("div", { class: "tools" }, button("+", "Zoom in", () => view.zoom(.5)), button("\u2212", "Zoom out", () => view.zoom(2)),
      button("\u2190", "Earlier", () => view.move(-.5)), button("\u2192", "Later", () => view.move(.5)), choice),
    make("div", { class: "frame" }, canvas), details);
  const view = new Timeline(data, canvas, details, format);
  window.dagtapTimeline = view;
}

function kernels() {
  const { summary, by_scope: scope, by_stream: stream, by_api: api } = DATA;
  const part = section("kernels", "Kernels", table(tallyColumns(summary.kernels, "kernel"), summary.kernels,
    { caption: "Kernels", source: "summary.kernels" }));
  const add = (title, rows, source, name) => rows?.length && part.append(make("h3", {}, title),
    table(tallyColumns(rows, name), rows, { caption: title, source, most: 12 }));
  add("Copies and memsets", summary.copies, "summary.copies", "what");
  add("By scope", scope?.rows, "by_scope.rows", "scope");
  add("By stream", stream?.rows, "by_stream.rows", "stream");
  add("Calls, on the host", api?.rows, "by_api.rows", "call");
}

/* ---- graphs ---- */

/* The nodes in layers: each one below its predecessors. */
function layersOf(graph) {
  const depth = new Map(graph.nodes.map(node => [node.id, 0])), into = new Map(), next = new Map();
  for (const edge of graph.edges) {
    into.set(edge.to, (into.get(edge.to) ?? 0) + 1);
    if (!next.has(edge.from)) next.set(edge.from, []);
    next.get(edge.from).push(edge.to);
  }
  const ready = graph.nodes.filter(node => !into.get(node.id)).map(node => node.id);
  while (ready.length) {
    const from = ready.pop();
    for (const to of next.get(from) ?? []) {
      depth.set(to, Math.max(depth.get(to), depth.get(from) + 1));
      into.set(to, into.get(to) - 1);
      if (into.get(to) === 0) ready.push(to);
    }
  }
  const layers = [];
  for (const node of graph.nodes) (layers[depth.get(node.id)] ??= []).push(node);
  return layers;
}

function topology(graph) {
  const layers = layersOf(graph), places = new Map(), wide = 150, high = 56, box = [130, 34];
  const most = Math.max(1, ...graph.nodes.map(node => node.mean_ns));
  layers.forEach((layer, y) => layer.forEach((node, x) => places.set(node.id, [x * wide + 10, y * high + 10])));
  const width = Math.max(...layers.map(layer => layer.length)) * wide + 10, height = layers.length * high + 10;
  const lines = graph.edges.filter(edge => places.has(edge.from) && places.has(edge.to)).map(edge => {
    const [fromX, fromY] = places.get(edge.from), [toX, toY] = places.get(edge.to), middle = box[0] / 2;
    return draw("path", { d: `M${fromX + middle} ${fromY + box[1]} C${fromX + middle} ${fromY + high - 6} ${toX + middle} ${toY - 14} ${toX + middle} ${toY}`,
      fill: "none", stroke: "var(--quiet)", "stroke-dasharray": edge.type ? "4 3" : "none" });
  });
  const nodes = graph.nodes.map(node => {
    const [x, y] = places.get(node.id), name = node.kernel ?? node.type, strength = Math.round(15 + 60 * node.mean_ns / most);
    return draw("g", {}, draw("title", {}, `${node.id}: ${name}, mean ${format.ns(node.mean_ns)}`),
      draw("rect", { x, y, width: box[0], height: box[1], rx: 4, fill: `color-mix(in srgb, var(--bar) ${strength}%, var(--panel))`,
        stroke: node.critical ? "var(--bad)" : "var(--line)", "stroke-width": node.critical ? 2.5 : 1 }),
      draw("text", { x: x + 6, y: y + 14 }, `${node.id}: ${name.length > 17 ? `${name.slice(0, 16)}\u2026` : name}`),
      draw("text", { x: x + 6, y: y + 28 }, node.count ? `mean ${format.ns(node.mean_ns)}` : node.type));
  });
  return make("div", { class: "drawing", tabindex: 0, role: "region", "aria-label": "Topology; the table below has the same nodes" },
    draw("svg", { width, height, role: "img", "aria-label": `Graph of ${graph.nodes.length} nodes in ${layers.length} layers` }, ...lines, ...nodes));
}

/* A time that is known only if the node has NUMBER of it. */
const nodeTime = (title, key, number) => ({ title, key, show: format.ns, value: node => node[number] ? node[key] : null });

const NODE_COLUMNS = [{ title: "node", key: "id", show: String }, COLUMN.count, nodeTime("mean", "mean_ns", "count"),
  nodeTime("median", "median_ns", "count"), nodeTime("stddev", "stddev_ns", "count"), nodeTime("min", "min_ns", "count"), nodeTime("max", "max_ns", "count"), nodeTime("gap, mean", "gap_mean_ns", "gaps"),
  nodeTime("gap, max", "gap_max_ns", "gaps"),
  { title: "type", key: "type", word: true }, { title: "critical", word: true, value: node => node.critical ? "yes" : "" },
  { title: "kernel", key: "kernel", text: true }, { title: "recorded in scope", key: "scope", text: true }];

function graphPart(graph, index) {
  return make("div", {}, cards([
    ["Replays", format.count(graph.replays)], ["Replay, mean", format.ns(graph.span_mean_ns), `${format.ns(graph.span_min_ns)} to ${format.ns(graph.span_max_ns)}`],
    ["Critical path", format.ns(graph.critical_path_ns), `${format.count(graph.critical_path_nodes)} of ${format.count(graph.nodes.length)} nodes`],
    ["Nodes at once", graph.parallelism.toFixed(2), graph.parallelism_possible ? `${graph.parallelism_possible.toFixed(2)} by the edges` : null],
  ]), graph.nodes.length > 0 && graph.nodes.length <= 600 ? make("div", {}, make("h3", {}, "Topology"), topology(graph),
    make("p", { class: "quiet" }, "A red border: on the critical path. The fuller the colour, the longer the mean time.")) : null,
  make("h3", {}, "Nodes over all replays"),
  table(NODE_COLUMNS, graph.nodes, { caption: `Nodes of graph ${graph.id}`, source: `graph.graphs.${index}.nodes` }));
}

function graphs() {
  const all = DATA.graph?.graphs ?? [];
  if (!all.length) return;
  const order = all.map((graph, index) => ({ graph, index })).sort((a, b) => b.graph.work_ns - a.graph.work_ns);
  const place = make("div"), show = at => place.replaceChildren(graphPart(order[at].graph, order[at].index));
  section("graphs", "Graphs", make("div", { class: "tools" }, make("label", { for: "graph-choice" }, "Graph"),
    make("select", { id: "graph-choice", onchange: event => show(event.target.value) }, ...order.map(({ graph }, at) =>
      make("option", { value: at }, `graph ${graph.id} of process ${graph.pid}: ${format.count(graph.nodes.length)} nodes, ` +
        `${format.count(graph.replays)} replays, ${format.ns(graph.work_ns)}`)))), place,
  DATA.holds.graphs_left_out ? make("p", { class: "quiet" }, `${DATA.holds.graphs_left_out} graphs with less work are not in this page.`) : null);
  show(0);
}

/* ---- steps ---- */

function stepBars(steps) {
  const rows = steps.instances.filter(row => row.projection), high = 140;
  const most = Math.max(1, ...rows.map(row => row.projection.duration_ns)), wide = Math.max(1, Math.min(24, 1100 / rows.length));
  const bars = rows.map((row, at) => draw("rect", { x: at * wide, width: Math.max(.8, wide - (wide > 4 ? 2 : 0)),
    y: high - row.projection.duration_ns / most * high, height: row.projection.duration_ns / most * high,
    fill: row.outlier ? "var(--bad)" : row.nth === steps.median ? "var(--good)" : "var(--bar)" },
  draw("title", {}, `${row.nth}: ${row.scope}, ${format.ns(row.projection.duration_ns)}`)));
  return make("div", { class: "drawing", tabindex: 0, role: "region", "aria-label": "GPU projection of each instance; the table below has the numbers" },
    draw("svg", { width: rows.length * wide, height: high, role: "img",
      "aria-label": `${rows.length} instances, longest ${format.ns(most)}` }, ...bars));
}

const FIGURES = [["host", "on the host"], ["projection", "GPU projection"], ["busy", "GPUs busy"], ["idle", "GPUs idle"]];

function comparison(row, steps, index) {
  const columns = [{ title: "difference", key: "difference_ns", show: format.change }, { title: "count", key: "count", show: format.count },
    { title: "in the median", key: "median_count", show: format.count }, { title: "total", key: "total_ns", show: format.ns },
    { title: "in the median", key: "median_total_ns", show: format.ns },
    { title: "what", text: true, value: part => part.name ?? `idle: ${words(part.idle)}` }];
  const instance = steps.instances.find(other => other.nth === row.nth);
  return make("details", {}, make("summary", {}, `Instance ${row.nth}${instance ? `, ${instance.scope}: ${format.ns(instance.projection.duration_ns)}` : ""}`),
    table(columns, row.work, { caption: `Instance ${row.nth} beside the median one`, most: 12, source: `steps.comparisons.${index}.work` }),
    row.nodes.length ? table(columns, row.nodes, { caption: `Nodes of instance ${row.nth}`, most: 12, source: `steps.comparisons.${index}.nodes` }) : null);
}

function steps() {
  const data = DATA.steps;
  if (!data) return;
  const figures = FIGURES.map(([key, name]) => ({ name, ...data[key] }));
  const spread = ["p50", "p90", "p99", "stddev"].map(key => ({ title: key, key: `${key}_ns`, show: format.ns }));
  section("steps", "Steps", make("p", {}, `Scopes "${data.scope}": ${format.count(data.instance_count)} instances.`),
    table([COLUMN.count, COLUMN.mean, ...spread, COLUMN.min, COLUMN.max, { title: "time", key: "name", word: true }], figures,
      { caption: "Times of the steps", source: "steps", search: false }),
    make("h3", {}, "GPU projection of each instance"), stepBars(data),
    make("p", { class: "quiet" }, "Green: the median instance. Red: outliers."),
    make("h3", {}, "Idle time in the projections"), bar(parts(data.idle_ns), "Idle time by cause"),
    make("h3", {}, "Instances"), table([{ title: "instance", key: "nth", show: String },
      { title: "host", show: format.ns, value: row => row.end_ns - row.begin_ns },
      { title: "GPU projection", show: format.ns, value: row => row.projection?.duration_ns },
      { title: "busy", show: format.ns, value: row => row.projection?.busy_ns },
      { title: "activities", key: "activities", show: format.count }, { title: "outlier", word: true, value: row => row.outlier ? "yes" : "" },
      { title: "scope", key: "scope", text: true }], data.instances,
    { caption: "Instances", most: 12, source: "steps.instances", marked: row => row.outlier }),
    data.comparisons.length ? make("h3", {}, "What differs in the outliers") : null,
    ...data.comparisons.slice(0, 30).map((row, index) => comparison(row, data, index)));
}

/* ---- critical path, idle time ---- */

const workText = work => work ? `${work.name}${work.stream !== null && work.stream !== undefined ? ` (GPU ${work.gpu} stream ${work.stream})` : ""}` : null;

function criticalPath() {
  const data = DATA.path;
  if (!data) return;
  const part = section("path", "Critical path", make("p", {}, `${format.ns(data.total_ns)} of the recording, by what was on the path:`),
    bar(parts(data.kinds), "Critical path by kind"), make("h3", {}, "Work on the path"),
    table([COLUMN.count, COLUMN.total, { title: "slack", key: "slack_ns", show: format.ns }, { title: "kind", word: true, value: row => words(row.kind) }, COLUMN.name("work")],
      data.work, { caption: "Work on the critical path", most: 12, source: "path.work" }));
  if (data.waits.length) part.append(make("h3", {}, "Waits on the path"), table([COLUMN.count, COLUMN.total,
    { title: "cause", word: true, value: row => words(row.cause) }, { title: "that waited", text: true, value: row => workText(row.work) ?? row.call?.name },
    { title: "for", text: true, value: row => workText(row.for) }], data.waits, { caption: "Waits on the critical path", most: 12, source: "path.waits" }));
  part.append(make("h3", {}, "The path, step by step"), table([
    { title: "begins at", show: format.ns, value: row => row.begin_ns - (DATA.timeline?.begin_ns ?? row.begin_ns) },
    { title: "duration", show: format.ns, value: row => row.end_ns - row.begin_ns }, COLUMN.count,
    { title: "gap before", key: "gap_ns", show: format.ns }, { title: "kind", word: true, value: row => words(row.kind) },
    { title: "what", text: true, value: row => workText(row.work) ?? row.call?.name ?? "" }], data.segments,
  { caption: "Segments of the critical path", most: 12, source: "path.segments" }),
  data.segment_count > data.segments.length ? make("p", { class: "quiet" }, `The first ${format.count(data.segments.length)} of ${format.count(data.segment_count)} segments.`) : "");
}

function idleTime() {
  const data = DATA.path;
  if (!data?.gpus.length) return;
  const part = section("gaps", "Idle time", make("p", {}, "Time for which the GPUs had no work, by what the next work waited for."));
  for (const gpu of data.gpus) part.append(make("h3", {}, `GPU ${gpu.gpu} of process ${gpu.pid}`),
    bar([{ name: "busy", value: gpu.busy_ns }, ...parts(gpu.idle)], `GPU ${gpu.gpu}`));
  const busy = row => row.busy_ns / row.window_ns;
  part.append(make("h3", {}, "Streams"), table([{ title: "GPU", key: "gpu", show: String }, { title: "stream", key: "stream", show: String },
    { title: "busy", key: "busy_ns", show: format.ns }, { title: "busy %", show: format.percent, value: busy },
    ...Object.keys(data.streams[0]?.idle ?? {}).filter(cause => data.streams.some(row => row.idle[cause]))
      .map(cause => ({ title: words(cause), show: format.ns, value: row => row.idle[cause] }))], data.streams,
  { caption: "Streams", most: 12, source: "path.streams" }));
  if (data.stream_waits.length) part.append(make("h3", {}, "Streams that waited for others"), table([COLUMN.count, COLUMN.total,
    { title: "GPU", key: "gpu", show: String }, { title: "stream", key: "stream", show: String }, { title: "cause", word: true, value: row => words(row.cause) },
    { title: "for", text: true, value: row => workText(row.for) }], data.stream_waits, { caption: "Waits of streams", most: 12, source: "path.stream_waits" }));
  const first = rows => rows.length ? `${rows[0].name} (${format.ns(rows[0].ns)})` : "";
  if (DATA.gaps) part.append(make("h3", {}, "Longest gaps"),
    make("p", {}, `${format.count(DATA.gaps.gap_count)} gaps of ${format.ns(DATA.gaps.total_ns)} in all, in which a GPU ran nothing; the longest:`),
    table([{ title: "idle", key: "duration_ns", show: format.ns }, { title: "GPU", key: "gpu", show: String },
      { title: "cause", word: true, value: row => words(row.cause) }, { title: "until", text: true, value: row => workText(row.after) },
      { title: "longest call in it", text: true, value: row => first(row.calls) }, { title: "in scope", key: "scope", text: true }],
    DATA.gaps.gaps, { caption: "Longest gaps", most: 12, source: "gaps.gaps" }));
}

/* ---- memory ---- */

const bytes = (title, key) => ({ title, key, show: format.bytes });
const ofMemory = [{ title: "of", word: true, value: row => row.gpu === null ? row.device ?? "?" : `GPU ${row.gpu}` }, { title: "kind", key: "kind", word: true }];
const byWhom = [...ofMemory, { title: "stream", key: "stream", show: String }, { title: "function", key: "function", text: true }, { title: "scope", key: "scope", text: true }];

function memory() {
  const data = DATA.memory;
  if (!data) return;
  const begin = DATA.timeline?.begin_ns ?? 0;
  const part = section("memory", "Memory", make("p", {}, "What the program allocated, and did not release until the end."),
    table([{ title: "allocations", key: "allocations", show: format.count }, { title: "releases", key: "releases", show: format.count }, bytes("allocated", "allocated_bytes"),
      bytes("peak", "peak_bytes"), { title: "peak at", show: format.ns, value: row => row.peak_ns - begin }, bytes("at the end", "live_bytes"), ...ofMemory],
    data.devices, { caption: "Memory by device and kind", source: "memory.devices" }));
  const list = (title, key, columns) => data[key].length && part.append(make("h3", {}, title),
    table([...columns, ...byWhom], data[key], { caption: title, most: 12, source: `memory.${key}` }));
  list("Held at the peaks", "peak", [bytes("bytes", "bytes"), { title: "blocks", key: "count", show: format.count }]);
  list("By scope, stream and function", "scopes", [bytes("peak", "peak_bytes"), { title: "allocations", key: "allocations", show: format.count }, bytes("allocated", "allocated_bytes"),
    bytes("at the end", "live_bytes")]);
  list("Never released", "leaks", [bytes("of each", "bytes"), { title: "blocks", key: "count", show: format.count }]);
  list("Failed allocations", "failed", [{ title: "at", show: format.ns, value: row => row.ns - begin }, bytes("wanted", "bytes"), { title: "result", key: "result", show: String }]);
}

/* ---- ledger, contents ---- */

function ledger() {
  const data = DATA.check, number = (title, key) => ({ title, key, show: format.count });
  section("ledger", "Ledger", make("p", { class: data.ok ? "good" : "bad" }, data.ok
    ? "Closed: for each source, what was expected is what was received, or why it is missing is known."
    : "Open: something is missing and nothing explains it."),
  table([{ title: "source", key: "name", word: true }, { title: "process", key: "pid", show: String }, { title: "state", key: "state", word: true },
    number("expected", "expected"), number("received", "received"), number("joined", "joined"),
    { title: "dropped", show: format.count, value: row => Object.values(row.dropped).reduce((a, b) => a + b, 0) }, number("untimed", "untimed"),
    number("unexplained", "unexplained"), { title: "counted by", key: "witness", word: true }, { title: "remarks", key: "text", text: true }],
  data.sources, { caption: "Sources", most: 40, source: "check.sources", marked: row => row.unexplained > 0 }),
  data.messages.length ? make("h3", {}, "Messages") : null,
  ...data.messages.map(message => make("p", { class: message.damage ? "bad" : "quiet" }, `${message.pid ?? "file"}: ${message.text}`)));
}

function contents() {
  const { holds } = DATA, rows = Object.entries(holds.sections).map(([name, row]) => ({ name, ...row }));
  const part = section("holds", "What this page holds", make("p", {}, `Made by dagtap ${DATA.dagtap}; the data's version is ${DATA.report_version}. ` +
    "A list has at most so many rows as the table says; the commands have all of them."),
  table([{ title: "data", key: "name", word: true }, { title: "state", key: "state", word: true }, { title: "rows at most", key: "limit", show: format.count }],
    rows, { caption: "Sections of the data", most: 40, search: false }));
  for (const window of DATA.timeline?.windows ?? []) part.append(make("p", { class: "quiet" }, `Timeline, ${window.why}: ${format.count(window.row_count)} rows in ` +
    `${format.ns(window.end_ns - window.begin_ns)}${window.cut ? ", cut after the last row that has room" : ""}.`));
  if (DATA.info) part.append(make("h3", {}, "Processes and GPUs"), ...DATA.info.processes.map(row => make("p", {}, `Process ${row.pid}: ${row.command || row.exe}, ${row.state}`)),
    ...DATA.info.agents.filter(row => row.gpu).map(row => make("p", {}, `GPU of process ${row.pid}: ${row.name} ${row.product}, ${row.compute_units} compute units, ` +
      `${format.bytes(row.memory_bytes)}`)));
}

/* ---- two recordings ---- */

function changes(id, title, diff, source, name) {
  if (!diff) return;
  const side = (letter, key, show, heading) => ({ title: `${heading} ${letter.toUpperCase()}`, key: `${letter}.${key}`, show, value: row => row.state !== "both" && !row[letter].count ? null : row[letter][key] });
  const columns = [...["a", "b"].flatMap(letter => [side(letter, "count", format.count, "count"), side(letter, "total_ns", format.ns, "total"),
    side(letter, "mean_ns", format.ns, "mean")]), { title: "change", key: "change_ns", show: format.change },
  { title: "%", show: value => `${value > 0 ? "+" : ""}${format.percent(value)}`, value: row => row.ratio === null ? null : row.ratio - 1 },
  { title: "p", key: "probability", show: value => value.toPrecision(2) }, { title: "changed", word: true, value: row => row.changed ? "yes" : "" },
  { title: "state", key: "state", word: true }, COLUMN.name(name)];
  section(id, title, table(columns, diff.rows, { caption: title, source: `${source}.rows` }),
    ...(diff.copies.length ? [make("h3", {}, "Copies and memsets"), table(columns, diff.copies, { caption: "Copies and memsets", source: `${source}.copies` })] : []));
}

function comparisonOverview() {
  const { a, b } = DATA.diff ?? DATA.diff_api ?? DATA.diff_scope ?? DATA.diff_node;
  const rows = [["kernels", "Kernels", format.count], ["graph_kernels", "Kernels of graphs", format.count], ["graph_launches", "Graph launches", format.count],
    ["copies", "Copies", format.count], ["memsets", "Memsets", format.count], ["api_calls", "Calls", format.count], ["kernel_ns", "Time of kernels", format.ns],
    ["span_ns", "From first to last", format.ns]].map(([key, title, show]) => ({ title, key, show, a: a[key], b: b[key] }));
  const cell = (row, letter) => make("td", { "data-key": `${letter}.${row.key}`, "data-value": row[letter] }, row.show(row[letter]));
  section("overview", "Overview", make("p", {}, `A: ${a.file}`), make("p", {}, `B: ${b.file}`), make("div", { class: "scroll" }, make("table", { "data-source": "diff" },
    make("caption", { class: "visually-hidden" }, "Totals of both recordings"),
    make("thead", {}, make("tr", {}, ...["", "A", "B", "change"].map((title, at) => make("th", { scope: "col", class: at ? null : "text" }, title)))),
    make("tbody", {}, ...rows.map(row => make("tr", {}, make("th", { scope: "row", class: "text" }, row.title), cell(row, "a"), cell(row, "b"),
      make("td", {}, row.a ? `${row.b >= row.a ? "+" : ""}${format.percent(row.b / row.a - 1)}` : "\u2013")))))));
}

/* ---- all of it ---- */

if (DATA.kind === "comparison") {
  document.getElementById("subject").textContent = DATA.diff ? `${DATA.diff.a.file} and ${DATA.diff.b.file}` : "";
  comparisonOverview();
  changes("kernels", "Kernels", DATA.diff, "diff", "kernel");
  changes("nodes", "Graph nodes", DATA.diff_node, "diff_node", "node");
  changes("scopes", "Scopes", DATA.diff_scope, "diff_scope", "scope");
  changes("calls", "Calls", DATA.diff_api, "diff_api", "call");
} else {
  document.getElementById("subject").textContent = DATA.summary.file;
  document.title = `dagtap report: ${DATA.summary.file}`;
  for (const part of [overview, timeline, kernels, graphs, steps, criticalPath, idleTime, memory, ledger]) part();
}
contents();
document.documentElement.dataset.ready = "yes";
