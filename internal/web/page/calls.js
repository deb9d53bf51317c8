// The call graph: functions as boxes, calls as arrows, both by their weight.
import { actKeys, acts, isFree } from "./acts.js";
import { button, el, replace, select } from "./dom.js";
import { trimNote } from "./flame.js";
import { compile } from "./flame_filter.js";
import { flameTools } from "./flame_tools.js";
import { percent } from "./format.js";
import { arrow, boxOf, edgeOf, nameOf, paintOf, rowsOf, sizeOf, weightOf } from "./graph_draw.js";
import { layout } from "./graph_layout.js";
import { callGraph, callTree } from "./graph_model.js";
import { Camera, svg } from "./graph_svg.js";
import { amount, measureNote } from "./measure.js";
import { listed, resetPatch, stacksOf } from "./stacks.js";
import { change, state } from "./state.js";
import { onTheme } from "./theme.js";
import { onOff } from "./typed.js";

const counts = [20, 40, 80, 160, 320, 1000];
const shares = [0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]; // percent of the whole below which nothing is drawn

// limits are what bounds the drawing: name in the state, label, choices, usual one.
const limits = [["nodes", "Functions at most", counts, 80], ["nf", "Functions from", shares, 0.2], ["ef", "Calls from", shares, 0.1]];

// limit reads one of them from a state.
const limit = (now, [name, , choices, usual]) => (now[name] !== undefined && choices.includes(Number(now[name])) ? Number(now[name]) : usual);

class Calls {
  constructor(data) {
    this.data = data;
    this.stacks = stacksOf(data);
    this.m = this.stacks.m;
    this.limits = limits.map(([name, label, choices, usual]) => select(label, choices.map((n) => [String(n), name === "nodes" ? String(n) : n === 0 ? "any weight" : `${n} %`]), String(usual), (v) => change({ [name]: v === String(usual) ? null : v, cam: null })));
    this.paths = onOff("paths", "each path by itself", "A tree: a function has a box for each path to it.", "1");
    this.root = svg("g", {});
    this.box = svg("svg", { class: "calls", role: "group", "aria-label": "Call graph", tabindex: 0 }, svg("defs", {}, arrow("arrow"), arrow("arrow-on")), this.root);
    this.camera = new Camera(this.box, this.root, () => this.keep());
    this.facts = el("div", { class: "chosen", "aria-live": "polite" });
    this.notes = el("p", { class: "note" });
    const zoom = (label, f, name) => button(label, f, { class: "quiet", "aria-label": name, title: name });
    const zooms = el("div", { class: "acts zooms noprint" }, zoom("+", () => this.camera.zoom(1.4), "Larger (+)"), zoom("−", () => this.camera.zoom(1 / 1.4), "Smaller (-)"), zoom("Whole graph", () => this.fit(), "Whole graph (0)"));
    this.tools = flameTools(this.stacks, { next: (step) => this.next(step), reset: () => this.reset() }, ["shape", "panes"], [...this.limits, this.paths.node]);
    this.node = el("div", { class: "calls-view" }, this.tools.node,
      el("div", { class: "graph-box" }, this.box, zooms), this.facts, this.notes, el("p", { class: "note" }, "Drag to move, click into the graph and turn the wheel to enlarge; arrow keys lead from a chosen function to its callers and callees. A dashed arrow leads over functions that are not drawn."), trimNote(data.views.flame.trim));
    this.box.addEventListener("keydown", (e) => this.walk(e));
    this.box.addEventListener("dblclick", (e) => e.preventDefault());
    window.addEventListener("keydown", (e) => this.shortcut(e));
    onTheme(() => { this.drawn = ""; if (!this.node.hidden) this.show(state()); });
  }

  keep() {
    change({ cam: this.camera.text() }, true);
  }

  fit() {
    this.camera.fit();
    this.keep();
  }

  reset() {
    change({ ...resetPatch(), nodes: null, nf: null, ef: null, paths: null });
  }

  show(now) {
    const shown = this.stacks.at(now, false), wanted = limits.map((x) => limit(now, x)), tree = now.paths === "1";
    this.limits.forEach((node, i) => { node.querySelector("select").value = String(wanted[i]); });
    this.paths.show(now.paths);
    const asked = now.colour || (shown.compare ? "change" : "package"), colour = asked === "change" && !shown.compare ? "package" : asked;
    const keep = keptOf(shown.tree, now, tree), key = JSON.stringify([wanted, tree]);
    if (this.shown !== shown || this.wanted !== key || (keep >= 0 && !this.index.has(keep))) this.build(shown, { wanted, tree, keep });
    Object.assign(this, { shown, wanted: key, chosen: this.index.has(keep) ? this.index.get(keep) : -1 });
    this.tools.show(now, shown.mode, { colour, groups: shown.groups, packages: true });
    if (this.box.clientWidth === 0) return;
    if (this.drawn !== colour) this.draw(colour, now);
    this.mark(now);
    this.about();
    this.note();
  }

  build(shown, { wanted: [count, fraction, edges], tree, keep }) {
    const t = shown.tree, options = { count, fraction: fraction / 100, edges: edges / 100, keep, takes: () => true };
    this.graph = (tree ? callTree : callGraph)(t, options);
    if (shown.compare && shown.grew) {
      const takes = listed(shown, this.graph.sums, 0);
      this.graph = (tree ? callTree : callGraph)(t, { ...options, takes });
    }
    this.index = new Map(this.graph.nodes.map((n, i) => [n.at, i]));
    this.drawn = "";
  }

  draw(colour, now) {
    const { nodes, edges } = this.graph;
    const first = this.drawn === "" && !this.placed;
    this.drawn = colour;
    const boxes = nodes.map((_, i) => sizeOf(this, i));
    this.place = layout(boxes, edges.map((e) => ({ from: e.from, to: e.to, weight: weightOf(this, e) + 1e-6 })));
    const paint = paintOf(this, colour);
    this.edgeNodes = edges.map((e, i) => edgeOf(this, e, { at: this.place.edges[i], box: boxes[e.from], centre: this.place.nodes[e.from], colour }));
    this.boxNodes = boxes.map((box, i) => boxOf(this, i, { box, at: this.place.nodes[i], fill: paint(i), choose: () => !this.camera.wasDrag() && this.choose(i) }));
    this.root.replaceChildren(svg("g", {}, ...this.edgeNodes), svg("g", {}, ...this.boxNodes));
    const heavy = this.place.nodes[Math.max(0, this.chosen)] || { x: 0, y: 0 };
    if (!(first && this.camera.read(now.cam))) this.camera.fit(this.place, heavy);
    else this.camera.size = this.place;
    this.placed = true;
  }

  name(i) {
    return nameOf(this, i);
  }

  // pick is the state that has a box chosen.
  pick(i) {
    return { node: this.name(i), box: this.graph.sums === this.shown.tree ? this.graph.nodes[i].at : null };
  }

  choose(i) {
    change(i === this.chosen ? { node: null, box: null } : this.pick(i), true);
  }

  // mark shows what is chosen with its callers and callees, and what the search
  // has hit.
  mark(now) {
    const on = this.chosen, { re } = compile(now.q);
    const near = new Set([on]);
    this.graph.edges.forEach((e, i) => {
      const lit = e.from === on || e.to === on;
      if (lit) near.add(e.from).add(e.to);
      this.edgeNodes[i].classList.toggle("on", lit);
      this.edgeNodes[i].firstChild.setAttribute("marker-end", lit ? "url(#arrow-on)" : "url(#arrow)");
    });
    this.hits = [];
    this.boxNodes.forEach((node, i) => {
      const hit = re && re.test(this.name(i));
      if (hit) this.hits.push(i);
      node.classList.toggle("on", i === on);
      node.classList.toggle("hit", Boolean(hit));
      node.classList.toggle("faint", re ? !hit : on >= 0 && !near.has(i));
      node.setAttribute("tabindex", i === Math.max(0, on) ? 0 : -1);
    });
    this.box.classList.toggle("chosen-one", on >= 0);
    this.tools.hits.textContent = !re ? "" : this.hits.length === 0 ? "no match" : `${this.hits.length} of ${this.graph.nodes.length} ${this.what()}`;
  }

  what() {
    return this.graph.sums === this.shown.tree ? "paths" : "functions";
  }

  // label is that of the chosen box, null for none.
  label() {
    return this.chosen >= 0 ? this.shown.tree.labels.list[this.graph.nodes[this.chosen].label] : null;
  }

  about() {
    const l = this.label();
    if (!l) return replace(this.facts, el("p", { class: "dim" }, "Click a function to see what calls it and what it calls."));
    return replace(this.facts, el("b", {}, l.text), l.file && this.shown.detail !== "package" ? el("div", { class: "dim" }, l.file) : null,
      el("dl", {}, rowsOf(this, this.chosen).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])), acts(this.actor(), l));
  }

  actor() {
    return { data: this.data, m: this.m, detail: this.shown.detail, here: "calls" };
  }

  note() {
    const { lost } = this.graph;
    const parts = [`In all ${amount(this.m, this.shown.mode, this.shown.whole.sum)}.`];
    if (lost.nodes > 0) parts.push(`${lost.of - lost.nodes} of ${lost.of} ${this.what()} are drawn; ${percent(lost.share)} of the weight is that of the others themselves.`);
    if (lost.edges > 0) parts.push(`${lost.edges} calls are left out, none with more than ${percent(lost.edge)}.`);
    replace(this.notes, parts.join(" "), " ", measureNote(this.m, this.shown.mode));
  }

  next(step) {
    if (this.hits.length === 0) return;
    const at = this.hits.indexOf(this.chosen);
    this.goTo(this.hits[(at + step + this.hits.length) % this.hits.length]);
  }

  goTo(i) {
    change(this.pick(i), true);
    this.camera.centre(this.place.nodes[i]);
    this.keep();
    this.boxNodes[i].focus({ preventScroll: true });
  }

  // walk leads along the heaviest edges, and sideways within a rank.
  walk(e) {
    if (!isFree(e)) return;
    const on = this.chosen, { edges } = this.graph;
    const focused = this.boxNodes.indexOf(document.activeElement);
    const row = () => this.place.nodes.map((p, i) => ({ ...p, i })).filter((p) => p.y === this.place.nodes[on].y).sort((a, b) => a.x - b.x);
    const beside = (step) => { const r = row(), k = r.findIndex((p) => p.i === on) + step; return r[k] ? r[k].i : -1; };
    const far = 60, keys = {
      ArrowDown: () => { const x = edges.find((d) => d.from === on && d.to !== on); return x ? x.to : -1; }, ArrowUp: () => { const x = edges.find((d) => d.to === on && d.from !== on); return x ? x.from : -1; },
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    };
    const moves = { ArrowDown: [0, -far], ArrowUp: [0, far], ArrowLeft: [far, 0], ArrowRight: [-far, 0] };
    if ((e.key === "Enter" || e.key === " ") && focused >= 0) this.choose(focused);
    else if (e.key === "Escape") change({ node: null, box: null });
    else if (e.key === "+" || e.key === "=") this.camera.zoom(1.4);
    else if (e.key === "-") this.camera.zoom(1 / 1.4);
    else if (e.key === "0") this.fit();
    else if (keys[e.key] && on >= 0) {
      const to = keys[e.key]();
      if (to >= 0) this.goTo(to);
    } else if (moves[e.key]) this.camera.pan(...moves[e.key]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  shortcut(e) {
    if (this.node.hidden || !isFree(e)) return;
    const keys = { "/": () => this.tools.search.focus(), u: () => this.tools.figures(), n: () => this.next(1), N: () => this.next(-1), r: () => this.reset(), ...actKeys(this.actor(), this.label()) };
    if (!Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  }
}

// keptOf is what must be drawn because it is chosen: a label, or a node of the
// tree; -1 for none.
function keptOf(t, now, tree) {
  if (now.node === undefined) return -1;
  const label = t.labels.list.findIndex((l) => l.text === now.node);
  if (!tree || label < 0) return label;
  const box = Number(now.box);
  if (Number.isInteger(box) && box > 0 && box < t.n && t.label[box] === label) return box;
  let best = -1;
  for (let i = 1; i < t.n; i++) if (t.label[i] === label && (best < 0 || Math.abs(t.total[i]) > Math.abs(t.total[best]))) best = i;
  return best;
}

// callsView is there when the recording has stacks.
export const callsView = {
  id: "calls",
  title: "Call graph",
  there: (data) => Boolean(data.views.flame),
  make(data) {
    const c = new Calls(data);
    c.node.calls = c;
    return { node: c.node, show: (now) => c.show(now) };
  },
};
