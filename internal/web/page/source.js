// The source of a function: each line with what it costs, why it allocates and
// what to do about it.
import { button, el, replace, select } from "./dom.js";
import { available, halfWidth, modes, weigh } from "./flame_model.js";
import { bytes, count, share, shortName, span } from "./format.js";
import { detail } from "./cures.js";
import { stacksOf } from "./stacks.js";
import { change } from "./state.js";
import { term } from "./terms.js";

// Lines holds what every line of a function costs together with its calls.
class Lines {
  constructor(data) {
    this.m = data.views.flame ? stacksOf(data).m : null;
    this.columns = new Map();
    if (!this.m) return;
    this.stacks = stacksOf(data);
    this.use({});
    this.byFunction = new Map();
    const f = this.m.frames;
    for (let i = 0; i < f.function.length; i++) {
      const key = this.m.functions.name[f.function[i]];
      if (!this.byFunction.has(key)) this.byFunction.set(key, []);
      this.byFunction.get(key).push(i);
    }
  }

  // use counts only what a state's filters let through.
  use(now) {
    if (!this.m) return;
    const only = this.stacks.only(now), has = new Set(available(this.m).map((x) => x.id));
    if (only.key === this.key) return;
    this.key = only.key;
    this.filtered = only.any;
    for (const id of ["cost", "alloc_space", "alloc_objects"]) if (has.has(id)) this.columns.set(id, this.sums(modes.find((x) => x.id === id), only));
  }

  // sums adds up each frame's weight with its calls, once for each stack.
  sums(mode, only) {
    const m = this.m, w = weigh(m, mode, false, only.takes), n = m.n;
    if (only.passes) for (const x of [w.self, w.variance, w.collected, w.events]) for (let i = 0; i < n; i++) if (!only.passes[i]) x[i] = 0;
    const total = w.self.slice(), variance = w.variance.slice(), collected = w.collected.slice(), events = w.events.slice();
    for (let i = n - 1; i > 0; i--) for (const x of [total, variance, collected, events]) x[m.parent[i]] += x[i];
    const out = { mode, total: new Map(), variance: new Map(), collected: new Map(), events: new Map() };
    const open = new Int32Array(m.frames.function.length), depth = new Int32Array(n), path = [];
    for (let i = 1; i < n; i++) { // depth first: a node's callers are those passed last
      depth[i] = depth[m.parent[i]] + 1;
      while (path.length >= depth[i]) open[path.pop()]--;
      const f = m.frame[i];
      if (open[f]++ === 0) for (const [k, x] of [["total", total], ["variance", variance], ["collected", collected], ["events", events]]) out[k].set(f, (out[k].get(f) || 0) + x[i]);
      path.push(f);
    }
    return out;
  }

  // of returns the interval of a column for a frame, null without any weight.
  of(id, frames) {
    const c = this.columns.get(id);
    if (!c) return null;
    const sum = {};
    for (const k of ["total", "variance", "collected", "events"]) sum[k] = frames.reduce((s, f) => s + (c[k].get(f) || 0), 0);
    if (sum.total === 0) return null;
    const half = halfWidth(this.m, c.mode, sum);
    return { value: sum.total, low: sum.total - half, high: sum.total + half };
  }
}

const editors = {
  "VS Code": (path, line) => `vscode://file${encodeURI(path)}:${line}`,
  "GoLand": (path, line) => `goland://open?file=${encodeURIComponent(path)}&line=${line}`,
  "Zed": (path, line) => `zed://file${encodeURI(path)}:${line}`,
};

// jump is a link that opens a line in an editor, where the file's place on disk
// is known, and the place to copy.
function jump(report, editor, file, line) {
  const root = report.target.module_dir, path = file.startsWith("/") || /^[A-Za-z]:/.test(file) ? file : root ? `${root}/${file}` : "";
  const copy = button("Copy", () => navigator.clipboard.writeText(`${file}:${line}`).then(() => { copy.textContent = "Copied"; }), { class: "quiet", title: "Copy file:line" });
  return el("span", { class: "jump" }, path && editors[editor] ? el("a", { href: editors[editor](path.startsWith("/") ? path : "/" + path, line) }, `${file}:${line}`) : `${file}:${line}`, " ", copy);
}

function functionsOf(data, lines) {
  const list = new Map();
  const add = (name, file, line, rank) => {
    const key = name + "\n" + file;
    if (!list.has(key)) list.set(key, { key, name, file, line, rank });
  };
  for (const f of data.report.findings) add(f.site.function, f.site.file, f.site.line, f.rank);
  if (lines.m) {
    const there = new Set(data.views.source.map((s) => s.file)), m = lines.m, cost = lines.columns.get("cost") || lines.columns.get("alloc_space");
    const heavy = [...lines.byFunction].map(([name, frames]) => ({ name, frame: frames[0], total: cost ? frames.reduce((s, f) => Math.max(s, cost.total.get(f) || 0), 0) : 0 }))
      .filter((x) => there.has(m.files[m.frames.file[x.frame]])).sort((a, b) => b.total - a.total);
    for (const x of heavy) add(x.name, m.files[m.frames.file[x.frame]], m.frames.line[x.frame], 0);
  }
  return [...list.values()];
}

// partOf finds the lines that a place stands in.
function partOf(data, file, line) {
  const f = data.views.source.find((s) => s.file === file);
  return f ? f.parts.find((p) => line >= p.first && line < p.first + p.lines.length) : null;
}

class Source {
  constructor(data) {
    this.data = data;
    this.lines = new Lines(data);
    this.list = functionsOf(data, this.lines);
    this.editor = "VS Code";
    const short = (f) => `${f.rank ? `${f.rank}. ` : ""}${shortName(f.name)} – ${f.file.split("/").slice(-2).join("/")}`;
    this.choice = select("Function", this.list.map((f, i) => [String(i), short(f)]), "0", (i) => this.go(this.list[i]));
    this.box = el("div", {});
    this.node = el("div", { class: "source-view" },
      el("div", { class: "row" }, this.choice, select("Editor", Object.keys(editors).map((k) => [k, k]), this.editor, (v) => { this.editor = v; this.draw(); })), this.box);
  }

  go(f) {
    change({ fn: f.name, file: f.file, line: f.line });
  }

  show(now) {
    this.lines.use(now);
    let i = this.list.findIndex((f) => f.name === now.fn && (!now.file || f.file === now.file));
    const missing = now.fn && i < 0;
    if (i < 0) i = 0;
    this.choice.querySelector("select").value = String(i);
    this.current = missing ? { name: now.fn, file: now.file || "", line: Number(now.line) || 0 } : this.list[i];
    this.line = Number(now.line) || (this.current && this.current.line) || 0;
    this.draw();
  }

  draw() {
    const f = this.current;
    if (!f) return replace(this.box, el("p", {}, "No function of the recording has its source here."));
    const part = partOf(this.data, f.file, this.line) || partOf(this.data, f.file, f.line);
    const head = el("h2", {}, shortName(f.name), " ", el("small", {}, jump(this.data.report, this.editor, f.file, this.line || f.line)));
    if (!part) return replace(this.box, head, el("p", {}, "The source of this function is not in the report: the file was not there when the report was made, or costs too little."));
    const filtered = this.lines.filtered ? el("p", { class: "note" }, "Only what the filters let through is counted. ", button("Count all", () => change({ focus: null, ignore: null, tagfocus: null, tagignore: null }), { class: "quiet" })) : null;
    return replace(this.box, head, filtered, this.listing(f, part));
  }

  // frames are those of the flame graph that stand on a line of the file.
  frames(file) {
    const m = this.lines.m, byLine = new Map();
    if (!m) return byLine;
    const at = m.files.indexOf(file);
    for (let i = 0; i < m.frames.line.length; i++) {
      if (m.frames.file[i] !== at) continue;
      if (!byLine.has(m.frames.line[i])) byLine.set(m.frames.line[i], []);
      byLine.get(m.frames.line[i]).push(i);
    }
    return byLine;
  }

  listing(f, part) {
    const byLine = this.frames(f.file), findings = this.data.report.findings.filter((x) => x.site.file === f.file);
    const most = Math.max(1e-12, ...part.lines.map((_, i) => (this.lines.of("cost", byLine.get(part.first + i) || []) || { value: 0 }).value));
    const rows = part.lines.flatMap((text, i) => this.row({ text, line: part.first + i, frames: byLine.get(part.first + i) || [], found: findings.filter((x) => x.site.line === part.first + i), most }));
    return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Source with costs" }, el("table", { class: "listing" },
      el("caption", { class: "unseen" }, `Source of ${f.name}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "num" }, term("cost", "CPU + GC")), el("th", { scope: "col", class: "num" }, "bytes"), el("th", { scope: "col", class: "num" }, "objects"), el("th", { scope: "col", class: "num" }, "line"), el("th", { scope: "col" }, "source"))),
      el("tbody", {}, rows)));
  }

  row({ text, line, frames, found, most }) {
    const cost = this.lines.of("cost", frames), space = this.lines.of("alloc_space", frames), objects = this.lines.of("alloc_objects", frames);
    const heat = cost ? Math.max(0, Math.min(1, cost.value / most)) : 0;
    const tr = el("tr", { class: (found.length > 0 ? "hot " : "") + (line === this.line ? "here" : ""), data: { line: String(line) } },
      el("td", { class: "num", style: heat > 0 ? { "box-shadow": `inset ${Math.round(2 + 6 * heat)}px 0 0 var(--alloc)` } : {} }, cost ? share(cost) : ""),
      el("td", { class: "num" }, space ? span(space, bytes, "") : ""), el("td", { class: "num" }, objects ? span(objects, count, "") : ""),
      el("td", { class: "num dim" }, String(line)), el("td", { class: "text" }, el("code", {}, text.replace(/\t/g, "    ") || " ")));
    if (found.length === 0) return [tr];
    const note = el("tr", { class: "about" }, el("td", { colspan: "5" }, found.map((x) => el("details", { open: line === this.line },
      el("summary", {}, el("span", { class: "code" }, x.remedy.code), " ", x.escape ? el("span", { class: "dim" }, x.escape.reason + ". ") : null, x.remedy.text || x.title, ". ", x.prediction.cpu_share ? el("b", {}, `Would save ${share(x.prediction.cpu_share)} of CPU.`) : ""),
      detail(x, true)))));
    return [tr, note];
  }
}

// sourceView is there when any source is.
export const sourceView = {
  id: "source",
  title: "Source",
  there: (data) => data.views.source.length > 0,
  make(data) {
    const s = new Source(data);
    return { node: s.node, show: (now) => s.show(now) };
  },
};
