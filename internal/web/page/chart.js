// Charts by uPlot: the plain ones of this page, with its theme.
/* global uPlot */
import { el } from "./dom.js";
import { color } from "./theme.js";

const height = 190;

// Steps of an axis of bytes, so that its marks are whole in KiB and MiB.
const binary = Array.from({ length: 50 }, (_, i) => 2 ** i);

// chart draws series over x. o: title, sync (a key shared by charts with one
// cursor), x (format of the time), y (format of values), series: {label, values,
// color, kind: line | points | bars | steps, dash}, x values in xs.
export function chart(o, width) {
  const box = el("figure", { class: "chart" }, el("figcaption", {}, o.title, o.note && el("small", {}, " " + o.note)));
  const axis = { stroke: color("dim"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line") }, font: "12px system-ui, sans-serif" };
  const plot = new uPlot({
    width, height: o.height || height,
    cursor: o.sync ? { sync: { key: o.sync, scales: ["x", null] }, drag: { x: true, y: false } } : { drag: { x: true, y: false } },
    scales: { x: { time: false, distr: o.log ? 3 : 1, log: 2 }, y: { range: o.range || ((_, low, high) => [Math.min(0, low), high > 0 ? high * 1.06 : 1]) } },
    axes: [{ ...axis, space: o.log ? 70 : 60, values: (_, ticks) => ticks.map((t) => (t === null ? "" : o.x(t))) }, { ...axis, size: 78, ...(o.binary ? { incrs: binary } : {}), values: (_, ticks) => ticks.map((t) => o.y(t)) }],
    legend: { live: true },
    series: [{ label: o.xLabel || "time", value: (_, v) => (v === null || v === undefined ? "–" : o.x(v)) }, ...o.series.map((s) => series(s, o.y))],
    hooks: o.hooks || {},
  }, [o.xs, ...o.series.map((s) => s.values)], box);
  plot.root.querySelector("canvas").setAttribute("role", "img");
  plot.root.querySelector("canvas").setAttribute("aria-label", o.title + (o.summary ? ": " + o.summary : ""));
  return { node: box, plot };
}

function series(s, y) {
  const stroke = color(s.color), out = { label: s.label, stroke, width: 1.6, dash: s.dash, spanGaps: true, points: { show: false }, value: (_, v) => (v === null || v === undefined ? "–" : y(v)) };
  if (s.kind === "points") return { ...out, paths: () => null, points: { show: true, size: s.size || 5, fill: s.size ? "transparent" : stroke, stroke, width: s.size ? 2.5 : 1 } };
  if (s.kind === "bars") return { ...out, fill: stroke, paths: uPlot.paths.bars({ size: [0.8, 14, 1] }), points: { show: false } };
  if (s.kind === "steps") return { ...out, paths: uPlot.paths.stepped({ align: 1 }) };
  return out;
}
