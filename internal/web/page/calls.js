// The call graph: functions as boxes, calls as arrows, both by their weight.
import { actKeys, acts, isFree } from "./acts.js";
import { button, el, replace, select } from "./dom.js";
import { trimNote } from "./flame.js";
import { changeColour, painter } from "./flame_colour.js";
import { compile, sumAt } from "./flame_project.js";
import { amount, short } from "./flame_text.js";
import { flameTools } from "./flame_tools.js";
import { percent, shortName } from "./format.js";
import { layout } from "./graph_layout.js";
import { callGraph } from "./graph_model.js";
import { Camera, curve, svg, tips } from "./graph_svg.js";
import { resetPatch, stacksOf } from "./stacks.js";
import { change, state } from "./state.js";
import { onTheme } from "./theme.js";

const counts = [20, 40, 80, 160, 320];
const least = 0.002; // share of the whole below which a function is not drawn

class Calls {
  constructor(data) {
    this.data = data;
    this.stacks = stacksOf(data);
    this.m = this.stacks.m;
    this.tools = flameTools(this.stacks, { next: (step) => this.next(step), reset: () => change(resetPatch()) }, ["shape", "panes"]);
    this.count = select("Functions at most", counts.map((n) => [String(n), String(n)]), "80", (v) => change({ nodes: v, cam: null }));
    this.root = svg("g", {});
    this.box = svg("svg", { class: "calls", role: "group", "aria-label": "Call graph", tabindex: 0 }, svg("defs", {}, arrow("arrow"), arrow("arrow-on")), this.root);
    this.camera = new Camera(this.box, this.root, () => this.keep());
    this.facts = el("div", { class: "chosen", "aria-live": "polite" });
    this.notes = el("p", { class: "note" });
    const zoom = (label, f, name) => button(label, f, { class: "quiet", "aria-label": name, title: name });
    this.node = el("div", { class: "calls-view" }, this.tools.node,
      el("div", { class: "row" }, this.count, el("span", { class: "acts noprint" }, zoom("+", () => this.camera.zoom(1.4), "Larger (+)"), zoom("−", () => this.camera.zoom(1 / 1.4), "Smaller (-)"), zoom("Whole graph", () => { this.camera.fit(); this.keep(); }, "Show the whole graph (0)"))),
      this.box, this.facts, this.notes, el("p", { class: "note" }, "Drag to move, click into the graph and turn the wheel to enlarge; arrow keys lead from a chosen function to its callers and callees. A dashed arrow leads over functions that are not drawn."), trimNote(data.views.flame.trim));
    this.box.addEventListener("keydown", (e) => this.walk(e));
    this.box.addEventListener("dblclick", (e) => e.preventDefault());
    window.addEventListener("keydown", (e) => this.shortcut(e));
    onTheme(() => { this.drawn = ""; if (!this.node.hidden) this.show(state()); });
  }

  keep() {
    change({ cam: this.camera.text() }, true);
  }

  show(now) {
    const shown = this.stacks.at(now, false), t = shown.tree;
    const chosen = now.node === undefined ? -1 : t.labels.list.findIndex((l) => l.text === now.node);
    const count = counts.includes(Number(now.nodes)) ? Number(now.nodes) : 80;
    this.count.querySelector("select").value = String(count);
    const wanted = now.colour || (shown.compare ? "change" : "package"), colour = wanted === "change" && !shown.compare ? "package" : wanted;
    if (this.shown !== shown || this.wanted !== count || (chosen >= 0 && !this.index.has(chosen))) {
      this.graph = callGraph(t, { count, fraction: least, keep: chosen });
      this.index = new Map(this.graph.nodes.map((n, i) => [n.label, i]));
      this.drawn = "";
    }
    Object.assign(this, { shown, wanted: count, chosen });
    this.tools.show(now, shown.mode, { colour, groups: shown.groups });
    if (this.box.clientWidth === 0) return;
    if (this.drawn !== colour) this.draw(colour, now);
    this.mark(now);
    this.about();
    this.note();
  }

  sum(l, own) {
    return sumAt(this.graph.sums, l, own);
  }

  // lines are the texts of a box, with their sizes: larger where a function
  // costs more itself.
  lines(l) {
    const { sums } = this.graph, t = this.shown.tree, self = Math.max(0, sums.self[l]) / (Math.abs(t.total[0]) || 1);
    const size = 11 + 11 * Math.sqrt(Math.min(1, self * 2)), text = shortName(t.labels.list[l].text);
    const name = text.length > 46 ? `${text.slice(0, 18)}…${text.slice(-27)}` : text; // what tells closures apart stands at the end
    const brief = (own) => short(this.m, this.shown.mode, this.sum(l, own)).replace(/ ± .*| \(.*/, "");
    const out = [{ text: name, size, bold: true }];
    out.push({ text: sums.self[l] !== 0 && sums.self[l] !== sums.total[l] ? `${brief(true)} of ${brief(false)}` : brief(false), size: Math.max(10, size * 0.8) });
    return out;
  }

  draw(colour, now) {
    const { nodes, edges } = this.graph, t = this.shown.tree;
    const first = this.drawn === "" && !this.placed;
    this.drawn = colour;
    const boxes = nodes.map(({ label }) => {
      const lines = this.lines(label);
      return { label, lines, w: Math.max(60, ...lines.map((x) => x.text.length * x.size * 0.61)) + 16, h: lines.reduce((s, x) => s + x.size * 1.3, 0) + 10 };
    });
    const whole = Math.abs(t.total[0]) || 1, weight = (e) => Math.max(Math.abs(e.total), Math.abs(e.base * t.baseScale)) / whole;
    this.place = layout(boxes, edges.map((e) => ({ from: e.from, to: e.to, weight: weight(e) + 1e-6 })));
    const paint = labelPainter(t, colour, this.graph.sums);
    this.edgeNodes = edges.map((e, i) => this.edge(e, { at: this.place.edges[i], box: boxes[e.from], centre: this.place.nodes[e.from], share: weight(e), colour }));
    this.boxNodes = boxes.map((b, i) => this.boxOf(b, this.place.nodes[i], paint(b.label)));
    this.root.replaceChildren(svg("g", {}, ...this.edgeNodes), svg("g", {}, ...this.boxNodes));
    const heavy = this.place.nodes[this.index.has(this.chosen) ? this.index.get(this.chosen) : 0] || { x: 0, y: 0 };
    if (!(first && this.camera.read(now.cam))) this.camera.fit(this.place, heavy);
    else this.camera.size = this.place;
    this.placed = true;
  }

  edge(e, { at, box, centre, share, colour }) {
    const text = this.edgeText(e), width = Math.min(14, 0.8 + 16 * share);
    const c = centre, side = c.x + box.w / 2;
    const d = at.points.length > 1 ? curve(at.points) : `M${side},${c.y - 8}C${side + 28},${c.y - 22} ${side + 28},${c.y + 22} ${side},${c.y + 8}`;
    const mid = at.points.length > 1 ? middle(at.points) : { x: side + 24, y: c.y + 4 };
    const stroke = colour === "change" ? changeColour(e.total, e.base * this.shown.tree.baseScale) : null;
    const node = svg("g", { class: `edge${e.residual ? " residual" : ""}`, "data-from": e.from, "data-to": e.to },
      svg("path", { d, "stroke-width": width.toFixed(1), "marker-end": "url(#arrow)" }), svg("text", { x: mid.x + width / 2 + 3, y: mid.y }, text));
    if (stroke) node.firstChild.style.stroke = stroke;
    tips(node, () => [el("b", {}, `${this.name(e.from)} → ${this.name(e.to)}`), el("div", {}, `${text}${e.residual ? ", over functions that are not drawn" : ""}`), el("div", { class: "dim" }, `${percent(e.total / (this.graph.sums.total[this.graph.nodes[e.from].label] || 1))} of the caller, ${percent(e.total / (this.graph.sums.total[this.graph.nodes[e.to].label] || 1))} of the callee`)]);
    return node;
  }

  edgeText(e) {
    return short(this.m, this.shown.mode, { total: e.total, variance: 0, collected: 0, events: Infinity });
  }

  name(i) {
    return this.shown.tree.labels.list[this.graph.nodes[i].label].text;
  }

  boxOf(b, at, fill) {
    const t = this.shown.tree, text = t.labels.list[b.label].text;
    let y = at.y - b.h / 2 + 4;
    const lines = b.lines.map((l) => {
      y += l.size * 1.3;
      return svg("text", { x: at.x, y: y - l.size * 0.3, "font-size": l.size.toFixed(1), "font-weight": l.bold ? 600 : 400 }, l.text);
    });
    const say = `${text}, self ${amount(this.m, this.shown.mode, this.sum(b.label, true))}, total ${amount(this.m, this.shown.mode, this.sum(b.label))}`;
    const node = svg("g", { class: "box", tabindex: -1, role: "button", "aria-label": say, "data-label": text }, svg("rect", { x: at.x - b.w / 2, y: at.y - b.h / 2, width: b.w, height: b.h, rx: 5 }), ...lines);
    node.firstChild.style.fill = fill;
    node.addEventListener("click", () => !this.camera.wasDrag() && this.choose(b.label));
    tips(node, () => [el("b", {}, text), el("dl", {}, this.rows(b.label).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]))]);
    return node;
  }

  rows(l) {
    const { sums } = this.graph, t = this.shown.tree, out = [["total", amount(this.m, this.shown.mode, this.sum(l))], ["self", amount(this.m, this.shown.mode, this.sum(l, true))]];
    if (this.shown.compare) out.push(["before", amount(this.m, this.shown.mode, { total: sums.base[l] * t.baseScale, variance: sums.baseVariance[l], collected: sums.baseCollected[l], events: sums.events[l] })]);
    return out;
  }

  choose(l) {
    change({ node: l === this.chosen ? null : this.shown.tree.labels.list[l].text }, true);
  }

  // mark shows what is chosen with its callers and callees, and what the search
  // has hit.
  mark(now) {
    const on = this.index.has(this.chosen) ? this.index.get(this.chosen) : -1, { re } = compile(now.q);
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
      node.setAttribute("tabindex", i === (on >= 0 ? on : 0) ? 0 : -1);
    });
    this.box.classList.toggle("chosen-one", on >= 0);
    this.tools.hits.textContent = !re ? "" : this.hits.length === 0 ? "no match" : `${this.hits.length} of ${this.graph.nodes.length} functions`;
  }

  about() {
    const l = this.chosen >= 0 ? this.shown.tree.labels.list[this.chosen] : null;
    if (!l) return replace(this.facts, el("p", { class: "dim" }, "Click a function to see what calls it and what it calls."));
    return replace(this.facts, el("b", {}, l.text), l.file && this.shown.detail !== "package" ? el("div", { class: "dim" }, l.file) : null,
      el("dl", {}, this.rows(this.chosen).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])), acts(this.actor(), l));
  }

  actor() {
    return { data: this.data, m: this.m, detail: this.shown.detail, here: "calls" };
  }

  note() {
    const { lost } = this.graph;
    const parts = [`In all ${amount(this.m, this.shown.mode, this.shown.whole.sum)}.`];
    if (lost.nodes > 0) parts.push(`${lost.of - lost.nodes} of ${lost.of} functions are drawn; ${percent(lost.share)} of the weight is that of the others themselves.`);
    if (lost.edges > 0) parts.push(`${lost.edges} calls are left out, none with more than ${percent(lost.edge)}.`);
    replace(this.notes, parts.join(" "));
  }

  next(step) {
    if (this.hits.length === 0) return;
    const at = this.hits.indexOf(this.index.get(this.chosen));
    this.goTo(this.hits[(at + step + this.hits.length) % this.hits.length]);
  }

  goTo(i) {
    change({ node: this.name(i) }, true);
    this.camera.centre(this.place.nodes[i]);
    this.keep();
    this.boxNodes[i].focus({ preventScroll: true });
  }

  // walk leads along the heaviest edges, and sideways within a rank.
  walk(e) {
    if (!isFree(e)) return;
    const on = this.index.has(this.chosen) ? this.index.get(this.chosen) : -1, { edges } = this.graph;
    const focused = this.boxNodes.indexOf(document.activeElement);
    const row = () => this.place.nodes.map((p, i) => ({ ...p, i })).filter((p) => p.y === this.place.nodes[on].y).sort((a, b) => a.x - b.x);
    const beside = (step) => { const r = row(), k = r.findIndex((p) => p.i === on) + step; return r[k] ? r[k].i : -1; };
    const far = 60, keys = {
      ArrowDown: () => { const x = edges.find((d) => d.from === on && d.to !== on); return x ? x.to : -1; }, ArrowUp: () => { const x = edges.find((d) => d.to === on && d.from !== on); return x ? x.from : -1; },
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    };
    const moves = { ArrowDown: [0, -far], ArrowUp: [0, far], ArrowLeft: [far, 0], ArrowRight: [-far, 0] };
    if ((e.key === "Enter" || e.key === " ") && focused >= 0) this.choose(this.graph.nodes[focused].label);
    else if (e.key === "Escape") change({ node: null });
    else if (e.key === "+" || e.key === "=") this.camera.zoom(1.4);
    else if (e.key === "-") this.camera.zoom(1 / 1.4);
    else if (e.key === "0") { this.camera.fit(); this.keep(); }
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
    const l = this.chosen >= 0 ? this.shown.tree.labels.list[this.chosen] : null;
    const keys = { "/": () => this.tools.search.focus(), n: () => this.next(1), N: () => this.next(-1), r: () => change(resetPatch()), ...actKeys(this.actor(), l) };
    if (!Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  }
}

function arrow(id) {
  return svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0,0L8,4L0,8z" }));
}

// middle is a place for the text of an edge: on its longest piece.
function middle(points) {
  const k = Math.floor((points.length - 1) / 2);
  return { x: (points[k].x + points[k + 1].x) / 2, y: (points[k].y + points[k + 1].y) / 2 };
}

// labelPainter returns the colour of a label.
function labelPainter(t, by, sums) {
  if (by === "change") return (l) => changeColour(sums.total[l], sums.base[l] * t.baseScale);
  const paint = painter(t, by), first = new Map();
  for (let i = 1; i < t.n; i++) if (!first.has(t.label[i]) || Math.abs(t.total[i]) > Math.abs(t.total[first.get(t.label[i])])) first.set(t.label[i], i);
  return (l) => paint(first.get(l) || 0);
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
