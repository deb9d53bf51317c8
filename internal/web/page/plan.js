// The plan of heaptrim tune: settings that were forecast from every recorded
// collection, the one that is recommended, and what trials have measured.
import { button, el } from "./dom.js";
import { chart } from "./chart.js";
import { bytes, percent, share, sizeSpan } from "./format.js";
import { term } from "./terms.js";

const known = (p) => !p.refused && p.collector_cpu_share && p.peak_rss_bytes;

// kinds sort settings by what they turn.
const kinds = [
  ["GOGC", "line1", (s) => s.ballast_bytes === 0 && s.limit_bytes === 0], ["memory limit", "line3", (s) => s.limit_bytes > 0], ["ballast", "line5", (s) => s.ballast_bytes > 0],
];

// planChart draws CPU against memory for each setting.
export function planChart(plan, width) {
  const points = plan.curve.filter(known).map((p) => ({ ...p, x: p.peak_rss_bytes.value, y: p.collector_cpu_share.value }));
  const add = (p, kind) => p && known(p) && points.push({ ...p, kind, x: p.peak_rss_bytes.value, y: p.collector_cpu_share.value });
  add(plan.today, "today");
  add(plan.recommended.point, "recommended");
  if (plan.measured.peak_rss_bytes > 0) points.push({ kind: "measured", x: plan.measured.peak_rss_bytes, y: plan.measured.collector_cpu_share });
  points.sort((a, b) => a.x - b.x);
  const pick = (f) => points.map((p) => (f(p) ? p.y : null));
  return chart({
    title: "Forecast: collector's CPU against resident memory at its peak", note: `marking and assists, as the log of ${plan.measured.cycles} collections counts them`, xs: points.map((p) => p.x), x: bytes, xLabel: "peak RSS", y: percent, height: 300, log: true,
    summary: "see the recommendation below",
    series: [...kinds.map(([label, color, is]) => ({ label, color, kind: label === "GOGC" ? "line" : "points", values: pick((p) => !p.kind && is(p.setting)) })),
      { label: "measured", color: "line2", kind: "points", size: 8, values: pick((p) => p.kind === "measured") }, { label: "today, by the model", color: "line2", kind: "points", values: pick((p) => p.kind === "today") }, { label: "recommended", color: "line4", kind: "points", size: 13, values: pick((p) => p.kind === "recommended") }],
  }, width);
}

function deploy(lists) {
  return Object.entries(lists || {}).filter(([, lines]) => lines && lines.length > 0).map(([name, lines]) => {
    const copy = button("Copy", () => navigator.clipboard.writeText(lines.join("\n")).then(() => { copy.textContent = "Copied"; }), { class: "quiet", "aria-label": `Copy the lines for ${name}` });
    return el("details", {}, el("summary", {}, name), el("pre", {}, lines.join("\n")), copy);
  });
}

function trials(t) {
  if (!t) return null;
  return el("div", {}, el("h3", {}, "Measured in trials"), el("ul", {}, t.steps.map((s) => el("li", {}, el("code", { class: "code" }, s.setting.text), s.saved_cpu_share ? ` saved ${share(s.saved_cpu_share)} of CPU` : " not measured"))), t.stopped && el("p", { class: "why" }, t.stopped), t.verdict && el("p", {}, t.verdict));
}

// planText is the recommendation in words.
export function planText(plan) {
  const r = plan.recommended;
  return el("div", { class: "plan" },
    r.refused ? el("p", {}, "Nothing is recommended: ", r.refused) : el("p", {}, "Recommended: ", el("b", {}, r.point ? r.point.setting.text : r.knob), r.saved_cpu_share > 0 ? ` – by forecast saves ${percent(r.saved_cpu_share)} of CPU for ${bytes(Math.abs(r.added_memory_bytes))} ${r.added_memory_bytes < 0 ? "less" : "more"} memory` : "",
      r.point && known(r.point) ? `; then the collector takes ${share(r.point.collector_cpu_share)} of CPU and the process up to ${sizeSpan(r.point.peak_rss_bytes)}.` : "."),
    r.why && el("p", { class: "why" }, r.why), plan.constraint.max_memory_bytes > 0 && el("p", { class: "why" }, `The process may take ${bytes(plan.constraint.max_memory_bytes)}: ${plan.constraint.source}.`),
    deploy(r.deploy), trials(plan.trials), plan.notes.map((n) => el("p", { class: "note" }, n)),
    el("p", { class: "note" }, "Intervals of a forecast hold the truth in about four of five cases; see ", term("saving", "predicted"), "."));
}
