// What the boxes and arrows of the call graph look like, and what they say.
import { el } from "./dom.js";
import { changeColour, painter } from "./flame_colour.js";
import { baseAt, sumAt } from "./flame_project.js";
import { percent, shortName } from "./format.js";
import { curve, svg, tips } from "./graph_svg.js";
import { amount, figure, plain, shareOf, short } from "./measure.js";

// A drawing is of v: {m, shown, graph}.

// nameOf is the whole name of a box.
export const nameOf = (v, i) => v.shown.tree.labels.list[v.graph.nodes[i].label].text;

// sumOf is what a box weighs, in all or itself.
const sumOf = (v, i, own) => sumAt(v.graph.sums, v.graph.nodes[i].at, own);

// sizeOf lays out the texts of a box: larger where a function costs more itself.
export function sizeOf(v, i) {
  const { sums, nodes } = v.graph, at = nodes[i].at, t = v.shown.tree, self = Math.max(0, sums.self[at]) / (Math.abs(t.total[0]) || 1);
  const size = 11 + 11 * Math.sqrt(Math.min(1, self * 2)), text = shortName(nameOf(v, i));
  const name = text.length > 46 ? `${text.slice(0, 18)}…${text.slice(-27)}` : text; // what tells closures apart stands at the end
  const brief = (own) => short(v.m, v.shown.mode, sumOf(v, i, own)).replace(/ ±.*/, "");
  const lines = [{ text: name, size, bold: true }];
  lines.push({ text: sums.self[at] !== 0 && sums.self[at] !== sums.total[at] ? `${brief(true)} of ${brief(false)}` : brief(false), size: Math.max(10, size * 0.8) });
  return { lines, w: Math.max(60, ...lines.map((x) => x.text.length * x.size * 0.61)) + 16, h: lines.reduce((s, x) => s + x.size * 1.3, 0) + 10 };
}

// rowsOf lists what is known of a box.
export function rowsOf(v, i) {
  const { sums, nodes } = v.graph, at = nodes[i].at, mode = v.shown.mode, scale = v.shown.tree.baseScale;
  const out = [["total", amount(v.m, mode, sumOf(v, i))], ["self", amount(v.m, mode, sumOf(v, i, true))]];
  if (mode.kind !== "cpu") out.push(["", `${percent(shareOf(mode, sums.total[at]))} of ${mode.relative ? "what is shown" : "all"}`]);
  if (v.shown.compare) out.push(["before", amount(v.m, mode, baseAt(sums, at, scale))]);
  return out;
}

const list = (rows) => el("dl", {}, rows.flatMap(([k, text]) => [el("dt", {}, k), el("dd", {}, text)]));

// boxOf draws a box of a size around a point.
export function boxOf(v, i, { box, at, fill, choose }) {
  const text = nameOf(v, i);
  let y = at.y - box.h / 2 + 4;
  const lines = box.lines.map((l) => {
    y += l.size * 1.3;
    return svg("text", { x: at.x, y: y - l.size * 0.3, "font-size": l.size.toFixed(1), "font-weight": l.bold ? 600 : 400 }, l.text);
  });
  const said = box.lines.map((l) => l.text).join(" "); // a name holds the text that is seen
  const say = `${said}${said.startsWith(text) ? "" : `, ${text}`}, self ${amount(v.m, v.shown.mode, sumOf(v, i, true))}, total ${amount(v.m, v.shown.mode, sumOf(v, i))}`;
  const node = svg("g", { class: "box", tabindex: -1, role: "button", "aria-label": say, "data-label": text, "data-at": v.graph.nodes[i].at }, svg("rect", { x: at.x - box.w / 2, y: at.y - box.h / 2, width: box.w, height: box.h, rx: 5 }), ...lines.flatMap((l) => [l, " "]));
  node.firstChild.style.fill = fill;
  node.addEventListener("click", choose);
  tips(node, () => [el("b", {}, text), list(rowsOf(v, i))]);
  return node;
}

// weightOf is the share of the whole that an edge stands for, now or before.
export const weightOf = (v, e) => Math.max(Math.abs(e.total), Math.abs(e.base * v.shown.tree.baseScale)) / (Math.abs(v.shown.tree.total[0]) || 1);

// edgeOf draws an edge along points; box and centre are those it comes from.
export function edgeOf(v, e, { at, box, centre, colour }) {
  const text = e.objects === 0 ? "" : plain(v.shown.mode, figure(v.shown.mode, e)), width = Math.min(14, 0.8 + 16 * weightOf(v, e));
  const c = centre, side = c.x + box.w / 2;
  const d = at.points.length > 1 ? curve(at.points) : `M${side},${c.y - 8}C${side + 28},${c.y - 22} ${side + 28},${c.y + 22} ${side},${c.y + 8}`;
  const mid = at.points.length > 1 ? middle(at.points) : { x: side + 24, y: c.y + 4 };
  const node = svg("g", { class: `edge${e.residual ? " residual" : ""}`, "data-from": e.from, "data-to": e.to },
    svg("path", { d, "stroke-width": width.toFixed(1), "marker-end": "url(#arrow)" }), svg("text", { x: mid.x + width / 2 + 3, y: mid.y }, text));
  if (colour === "change") node.firstChild.style.stroke = changeColour(e.total, e.base * v.shown.tree.baseScale);
  const of = (i) => percent(e.total / (v.graph.sums.total[v.graph.nodes[i].at] || 1));
  tips(node, () => [el("b", {}, `${nameOf(v, e.from)} → ${nameOf(v, e.to)}`), el("div", {}, `${text}${e.residual ? ", over functions that are not drawn" : ""}`), el("div", { class: "dim" }, `${of(e.from)} of the caller, ${of(e.to)} of the callee`)]);
  return node;
}

// arrow is a marker for the ends of edges.
export function arrow(id) {
  return svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0,0L8,4L0,8z" }));
}

// middle is a place for the text of an edge: on its longest piece.
function middle(points) {
  const k = Math.floor((points.length - 1) / 2);
  return { x: (points[k].x + points[k + 1].x) / 2, y: (points[k].y + points[k + 1].y) / 2 };
}

// paintOf returns the colour of a box.
export function paintOf(v, by) {
  const t = v.shown.tree, { nodes, sums } = v.graph;
  if (by === "change") return (i) => changeColour(sums.total[nodes[i].at], sums.base[nodes[i].at] * t.baseScale);
  const paint = painter(t, by), first = new Map();
  for (let i = 1; i < t.n; i++) if (!first.has(t.label[i]) || Math.abs(t.total[i]) > Math.abs(t.total[first.get(t.label[i])])) first.set(t.label[i], i);
  return (i) => paint(sums === t ? nodes[i].at : first.get(nodes[i].label) || 0);
}
