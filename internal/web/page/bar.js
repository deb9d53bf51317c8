// Where CPU time goes: one bar of five groups, and the rows of each on demand.
import { el } from "./dom.js";
import { share } from "./format.js";
import { explain, term } from "./terms.js";

// The groups' colours; the flame graph has the same.
export const groupId = { "collecting": "gc", "allocating": "alloc", "clearing and copying": "fill", "stacks and pages": "stack", "application and scheduler": "app" };

// decompositionBar draws the report's decomposition; null when there is none.
export function decompositionBar(report) {
  const largest = (a, b) => Number(b.memory) - Number(a.memory) || b.cpu_share.value - a.cpu_share.value;
  const groups = report.groups.filter((g) => g.cpu_share && g.cpu_share.value > 0).sort(largest);
  if (groups.length === 0) return null;
  const rows = report.decomposition.filter((r) => r.cpu_share && r.cpu_share.value > 0).sort((a, b) => b.cpu_share.value - a.cpu_share.value);
  const idle = rows.filter((r) => !r.charged);
  const seg = (g) => el("div", {
    class: "seg g-" + groupId[g.name], style: { "flex-grow": String(g.cpu_share.value) }, tabIndex: 0,
    data: { tip: `${g.name}: ${share(g.cpu_share)} of CPU. ${explain(g.name)}` }, role: "listitem", "aria-label": `${g.name}: ${share(g.cpu_share)} of CPU`,
  }, g.cpu_share.value >= 0.1 ? el("span", {}, g.name) : null);
  const line = (r, data, props) => el("li", props || {}, el("i", { class: "g-" + (r.charged === false ? "idle" : groupId[r.group || r.name]) }), el("span", { class: "what" }, term(r.name)), el("span", { class: "num", data }, share(r.cpu_share) + (r.charged === false ? " beside" : "")));
  const parts = groups.flatMap((g) => rows.filter((r) => r.charged && r.group === g.name));
  return el("figure", { class: "decomposition" },
    el("figcaption", {}, "Where CPU time goes"),
    el("div", { class: "stacked", role: "list", "aria-label": "CPU time by what it is spent on" }, groups.map(seg)),
    el("ul", { class: "legend" }, groups.map((g) => line(g, { group: g.name })), idle.map((r) => line(r, { bucket: r.name }, { class: "uncharged" }))),
    el("details", { class: "rows" }, el("summary", {}, `The ${parts.length} rows of these groups`),
      el("ul", { class: "legend" }, parts.map((r) => line(r, { bucket: r.name })))));
}
