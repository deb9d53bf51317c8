// Where CPU time goes: one bar, decomposed, with its parts beside it.
import { el } from "./dom.js";
import { share } from "./format.js";
import { explain, term } from "./terms.js";

// Parts of the bar, in the order they stand in. Rows of the report that share
// a part stand next to each other in one colour.
const groups = [
  { id: "app", title: "application and runtime", rows: ["application", "scheduler, timers, netpoll", "scheduler, in no sample", "application, in no sample", "profiling itself", "not classified"] },
  { id: "alloc", title: "allocating", rows: ["malloc", "heap profiler"] },
  { id: "fill", title: "clearing and copying", rows: ["zeroing", "growslice copying", "conversion copying"] },
  { id: "stack", title: "goroutine stacks", rows: ["stack growth", "goroutine stacks"] },
  { id: "assist", title: "mark assist", rows: ["mark assist"] },
  { id: "gc", title: "collecting", rows: [] },
];

function groupOf(row) {
  const g = groups.find((x) => x.rows.includes(row.name));
  if (g) return g;
  return groups.find((x) => x.id === (row.memory ? "gc" : "app"));
}

// decompositionBar draws the report's decomposition; null when there is none.
export function decompositionBar(report) {
  const rows = report.decomposition.filter((r) => r.cpu_share);
  if (rows.length === 0) return null;
  const charged = rows.filter((r) => r.charged && r.cpu_share.value > 0)
    .sort((a, b) => groups.indexOf(groupOf(a)) - groups.indexOf(groupOf(b)) || b.cpu_share.value - a.cpu_share.value);
  const idle = rows.filter((r) => !r.charged && r.cpu_share.value > 0);
  const seg = (r) => el("div", {
    class: "seg g-" + groupOf(r).id, style: { "flex-grow": String(r.cpu_share.value) }, tabIndex: 0,
    data: { tip: `${r.name}: ${share(r.cpu_share)} of CPU. ${explain(r.name)}` }, role: "listitem", "aria-label": `${r.name}: ${share(r.cpu_share)} of CPU`,
  }, r.cpu_share.value >= 0.07 ? el("span", {}, r.name) : null);
  const line = (r) => el("li", {}, el("i", { class: "g-" + groupOf(r).id }), el("span", { class: "what" }, term(r.name)), el("span", { class: "num", data: { bucket: r.name } }, share(r.cpu_share)));
  return el("figure", { class: "decomposition" },
    el("figcaption", {}, "Where CPU time goes"),
    el("div", { class: "stacked", role: "list", "aria-label": "CPU time by what it is spent on" }, charged.map(seg)),
    el("ul", { class: "legend" }, charged.map(line), idle.map((r) => el("li", { class: "uncharged" }, el("i", { class: "g-idle" }), el("span", { class: "what" }, term(r.name)), el("span", { class: "num" }, share(r.cpu_share) + " beside")))));
}
