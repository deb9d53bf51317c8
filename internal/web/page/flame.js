// The flame graph: what each stack costs, from every point of view.
import { button, el, replace } from "./dom.js";
import { FlameCanvas } from "./flame_canvas.js";
import { painter } from "./flame_colour.js";
import { available, decode } from "./flame_model.js";
import { callers, compile, labelsOf, ordered, project, sumAt } from "./flame_project.js";
import { FunctionTable } from "./flame_table.js";
import { amount, describe, say } from "./flame_text.js";
import { flameTools, toggleFilter } from "./flame_tools.js";
import { percent } from "./format.js";
import { change, state } from "./state.js";
import { isDark, onTheme } from "./theme.js";

const filterNames = ["focus", "ignore", "hide", "show", "from"];

// Flame holds the trees of the state that is shown.
class Flame {
  constructor(data) {
    this.m = decode(data.views.flame);
    this.modes = available(this.m);
    this.labels = new Map();
    this.keys = {};
    this.tools = flameTools(this.m, { next: (step) => this.next(step), reset: () => this.reset() });
    this.main = this.canvas("Flame graph: what the stacks cost");
    this.above = this.canvas("What calls the chosen function");
    this.table = new FunctionTable({ choose: (l) => this.find(l), pivot: (l) => this.pivot(l) });
    this.facts = el("div", { class: "chosen", "aria-live": "polite" });
    this.trail = el("p", { class: "trail" });
    this.notes = el("p", { class: "note" });
    this.graph = el("div", { class: "graph" }, this.trail, this.above.node, this.main.node, this.facts);
    this.node = el("div", { class: "flame-view" }, this.tools.node, el("div", { class: "panes" }, this.graph, this.table.node), this.notes, trimNote(data.views.flame.trim));
    onTheme(() => !this.node.hidden && this.show(state(), true));
    window.addEventListener("keydown", (e) => this.shortcut(e));
  }

  canvas(label) {
    const view = (c) => ({ m: this.m, t: c.tree, compare: this.compare, detail: this.detail, pivotName: this.pivotName, rootName: () => this.rootName() });
    const c = new FlameCanvas({
      label, rootName: () => this.rootName(), describe: (n) => describe(view(c), n), say: (n) => say(view(c), n),
      zoom: (n) => (c === this.above ? n > 0 && this.pivot(c.tree.label[n]) : change({ zoom: n || null, at: n || null })),
      choose: (n) => (c === this.above ? (c.chosen = n, c.draw()) : change({ at: n || null }, true)),
    });
    return c;
  }

  rootName() {
    return this.pivotName || "all";
  }

  labelsFor(detail) {
    if (!this.labels.has(detail)) this.labels.set(detail, labelsOf(this.m, detail));
    return this.labels.get(detail);
  }

  // build makes the trees anew when the state asks for other ones.
  build(now) {
    const mode = this.modes.find((x) => x.id === now.weight) || this.modes[0];
    this.detail = now.detail || "function";
    this.compare = this.m.hasBase && now.compare !== "off";
    const key = JSON.stringify([mode.id, this.detail, now.compare, now.pivot, ...filterNames.map((f) => now[f])]);
    if (key === this.keys.tree) return;
    this.keys.tree = key;
    const labels = this.labelsFor(this.detail);
    const options = { mode, detail: this.detail };
    for (const f of filterNames) options[f] = compile(now[f]).re ? now[f] : "";
    const pivot = now.pivot === undefined ? -1 : labels.list.findIndex((l) => l.text === now.pivot);
    this.pivotName = pivot >= 0 ? now.pivot : "";
    const whole = project(this.m, labels, options);
    this.mode = mode;
    this.whole = { total: whole.total[0], sum: sumAt(whole, 0) };
    this.tree = pivot >= 0 ? project(this.m, labels, { ...options, pivot }) : whole;
    this.up = pivot >= 0 ? callers(whole, labels, pivot) : null;
    const scale = now.compare === "amounts" || mode.kind === "cpu" || !(whole.base[0] > 0) ? 1 : whole.total[0] / whole.base[0];
    for (const t of [this.tree, this.up]) if (t) ordered(t, this.widths(t, scale));
    this.groups = new Set(this.tree.group);
    this.spared = 0;
    for (let i = 1; i < this.tree.n; i++) this.spared -= Math.min(0, this.tree.self[i]);
    this.keys.search = this.keys.paint = "";
  }

  widths(t, scale) {
    t.baseScale = scale;
    return this.compare ? Float64Array.from(t.total, (x, i) => (Math.max(0, x) + Math.max(0, t.base[i] * scale)) / 2) : t.total;
  }

  // search marks the labels that match and gathers the outermost hits.
  search(now) {
    if (this.keys.search === "/" + (now.q || "")) return;
    this.keys.search = "/" + (now.q || "");
    const { re } = compile(now.q), t = this.tree;
    this.found = re ? Uint8Array.from(t.labels.list, (l) => (re.test(l.text) ? 1 : 0)) : null;
    this.hits = [];
    if (!re) {
      this.tools.hits.textContent = "";
      return;
    }
    const inside = new Uint8Array(t.n);
    let sum = 0;
    for (let i = 1; i < t.n; i++) {
      const hit = this.found[t.label[i]] === 1;
      if (hit && t.span[i] > 0) this.hits.push(i);
      if (hit && !inside[t.parent[i]]) sum += t.total[i];
      inside[i] = hit || inside[t.parent[i]] ? 1 : 0;
    }
    this.hits.sort((a, b) => t.span[b] - t.span[a] || a - b);
    this.tools.hits.textContent = this.hits.length === 0 ? "no match" : `${this.hits.length} hit${this.hits.length === 1 ? "" : "s"}, ${percent(sum / t.total[0])}`;
  }

  show(now) {
    this.build(now);
    this.search(now);
    const t = this.tree, wanted = now.colour || (this.compare ? "change" : "package"), colour = wanted === "change" && !this.compare ? "package" : wanted;
    const zoom = Number(now.zoom) || 0, chosen = Number(now.at) || -1, panes = now.panes || "both";
    this.colours(colour);
    this.main.set({ tree: t, paint: this.paint, root: zoom, chosen, found: this.found, up: now.shape === "flame" && !this.up });
    if (this.up) this.above.set({ tree: this.up, paint: this.paintUp, root: 0, chosen: -1, found: this.found, up: true });
    this.above.node.hidden = !this.up;
    this.graph.hidden = panes === "table";
    this.table.node.hidden = panes === "graph";
    this.node.dataset.panes = panes;
    this.tools.show(now, this.mode, { colour, groups: this.groups });
    this.path(zoom);
    this.about(chosen > 0 && chosen < t.n ? chosen : zoom > 0 && zoom < t.n ? zoom : 0);
    this.note();
    this.main.draw();
    if (this.up) this.above.draw();
    if (panes !== "graph") this.table.set({ t, m: this.m, compare: this.compare }, this.found);
  }

  // colours makes the painters when the trees, the choice or the theme change.
  colours(by) {
    const key = by + isDark();
    if (key === this.keys.paint) return;
    this.keys.paint = key;
    this.paint = painter(this.tree, by);
    this.paintUp = this.up ? painter(this.up, by === "bucket" ? "package" : by) : null;
  }

  // path lists the callers of the zoomed node, to go back by.
  path(zoom) {
    const t = this.tree, steps = [];
    for (let n = zoom < t.n ? zoom : 0; n > 0; n = t.parent[n]) steps.push(n);
    const step = (n, text) => button(text, () => change({ zoom: n || null, at: n || null }), { class: "link" });
    replace(this.trail, this.pivotName ? [button("← whole graph", () => change({ pivot: null, zoom: null, at: null }), { class: "quiet" }), ` callers above and callees below of `, el("b", {}, this.pivotName)] : step(0, "all"),
      steps.reverse().slice(-6).map((n) => [" › ", step(n, this.main.tree.labels.list[t.label[n]].text.split("/").pop())]));
  }

  about(n) {
    const t = this.tree, l = n > 0 ? t.labels.list[t.label[n]] : null;
    const act = (label, f, key) => button(label, f, { class: "quiet", title: key });
    replace(this.facts, describe({ m: this.m, t, compare: this.compare, detail: this.detail, pivotName: this.pivotName, rootName: () => this.rootName() }, n),
      l && l.owner !== "heaptrim" ? el("p", { class: "acts noprint" },
        act("Focus", () => toggleFilter("focus", l.text), "f"), act("Ignore", () => toggleFilter("ignore", l.text), "i"), act("Hide", () => toggleFilter("hide", l.text), "h"),
        act("Callers and callees", () => this.pivot(t.label[n]), "c"), act("Source", () => this.source(l), "s"), act("Copy name", () => navigator.clipboard.writeText(l.text), "")) : null);
    this.selected = l ? t.label[n] : -1;
  }

  note() {
    const parts = [`In all ${amount(this.m, this.mode, this.whole.sum)}.`];
    if (this.spared > 1e-6) parts.push(`Not drawn: ${percent(this.spared)} that retention spares, because live memory raises the heap goal; it is taken off the totals.`);
    if (this.m.ownRuns.length > 1) parts.push("Runs weigh the same.");
    replace(this.notes, parts.join(" "));
  }

  find(label) {
    change({ q: "^" + this.tree.labels.list[label].text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$" });
  }

  pivot(label) {
    change({ pivot: this.labelsFor(this.detail).list[label].text, zoom: null, at: null });
  }

  source(l) {
    change({ view: "source", fn: this.m.functions.name[l.fn], file: l.file, line: this.detail === "line" ? l.line : null });
  }

  next(step) {
    if (this.hits.length === 0) return;
    const at = this.hits.indexOf(Number(state().at));
    const n = this.hits[(at < 0 ? (step > 0 ? 0 : this.hits.length - 1) : at + step + this.hits.length) % this.hits.length];
    change({ at: n }, true);
  }

  reset() {
    change(Object.fromEntries(["zoom", "at", "q", "pivot", "detail", ...filterNames].map((k) => [k, null])));
  }

  shortcut(e) {
    if (this.node.hidden || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, dialog")) return;
    const l = this.selected >= 0 ? this.tree.labels.list[this.selected] : null;
    const acts = { "/": () => this.tools.search.focus(), n: () => this.next(1), N: () => this.next(-1), r: () => this.reset() };
    if (l) Object.assign(acts, { f: () => toggleFilter("focus", l.text), i: () => toggleFilter("ignore", l.text), h: () => toggleFilter("hide", l.text), c: () => this.pivot(this.selected), s: () => this.source(l) });
    if (!Object.hasOwn(acts, e.key)) return;
    e.preventDefault();
    acts[e.key]();
  }
}

function trimNote(trim) {
  if (trim.kept >= trim.nodes && !trim.folded) return null;
  const worst = Math.max(0, ...Object.values(trim.moved));
  return el("p", { class: "note" }, `The ${trim.kept} heaviest of ${trim.nodes} calls are here; at most ${percent(worst)} of any weight counts to a caller instead. `,
    trim.folded ? "The recording has more calls than were told apart." : "heaptrim view shows them all.");
}

// flameView is there when the recording has stacks.
export const flameView = {
  id: "flame",
  title: "Flame graph",
  there: (data) => Boolean(data.views.flame),
  make(data) {
    const f = new Flame(data);
    f.node.flame = f;
    return { node: f.node, show: (now) => f.show(now) };
  },
};
