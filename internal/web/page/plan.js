// The plan of heaptrim tune: settings that were forecast from every recorded
// collection, the one that is recommended, and what trials have measured.
import { button, el } from "./dom.js";
import { chart } from "./chart.js";
import { bytes, percent, share, sizeSpan } from "./format.js";
import { term } from "./terms.js";

// memoryOf is the resident set of a point, or its heap in a plan that knows no more.
const memoryOf = (plan, p) => (plan.heap_only ? p.peak_heap_bytes : p.peak_rss_bytes);

const known = (plan, p) => !p.refused && p.collector_cpu_share && memoryOf(plan, p) && memoryOf(plan, p).value > 0;

// kinds sort settings by what they turn.
const kinds = [
  ["GOGC", "line1", (s) => s.ballast_bytes === 0 && s.limit_bytes === 0], ["memory limit", "line3", (s) => s.limit_bytes > 0], ["ballast", "line5", (s) => s.ballast_bytes > 0],
];

const measuredKinds = [["here", "measured", "line2"], ["base", "measured, base", "line3"], ["trial", "measured in trials", "line1"]];

// measuredPoints are the settings that were run: this recording's, that of the
// base, and those of tune's trials, as {kind, text, rss, cpu}.
function measuredPoints(plan) {
  const out = [];
  const add = (kind, setting, rss, cpu) => rss > 0 && cpu >= 0 && out.push({ kind, text: setting.text, rss, cpu });
  add("here", plan.recorded_setting, memoryOf(plan, plan.measured), plan.measured.collector_cpu_share);
  if (plan.base) add("base", plan.base.recorded_setting, memoryOf(plan, plan.base.measured), plan.base.measured.collector_cpu_share);
  const t = plan.trials, of = (unit) => t && (t.changes || []).find((c) => c.unit === unit);
  const rss = of(plan.heap_only ? "peak-heap-bytes" : "peak-RSS-bytes"), cpu = of("gc-cpu-share");
  if (rss && cpu) for (const [side, setting] of [["a", t.today], ["b", t.chosen]]) if (rss[side] && cpu[side]) add("trial", setting, rss[side].value, cpu[side].value);
  return out;
}

function measuredList(plan) {
  const list = measuredPoints(plan);
  const title = Object.fromEntries(measuredKinds.map(([kind, label]) => [kind, label]));
  return list.length === 0 ? null : el("ul", { class: "measured" }, list.map((m) => el("li", {}, title[m.kind], " with ", el("code", { class: "code" }, m.text), `: collector ${percent(m.cpu)} of CPU, up to ${bytes(m.rss)}`)));
}

// planChart draws CPU against memory for each setting.
export function planChart(plan, width) {
  const points = plan.curve.filter((p) => known(plan, p)).map((p) => ({ ...p, x: memoryOf(plan, p).value, y: p.collector_cpu_share.value }));
  const add = (p, kind) => p && known(plan, p) && points.push({ ...p, kind, x: memoryOf(plan, p).value, y: p.collector_cpu_share.value });
  add(plan.today, "today");
  add(plan.recommended.point, "recommended");
  for (const m of measuredPoints(plan)) points.push({ kind: m.kind, x: m.rss, y: m.cpu });
  points.sort((a, b) => a.x - b.x);
  const pick = (f) => points.map((p) => (f(p) ? p.y : null));
  return chart({
    title: plan.heap_only ? "Forecast: collector's CPU against the largest heap" : "Forecast: collector's CPU against resident memory at its peak", note: plan.measured.means ? "forecast from means over the window: no log counts the collections" : `marking and assists, as the log of ${plan.measured.cycles} collections counts them`, xs: points.map((p) => p.x), x: bytes, xLabel: plan.heap_only ? "largest heap" : "peak RSS", y: percent, height: 300, log: true,
    summary: "see the recommendation below",
    series: [...kinds.map(([label, color, is]) => ({ label, color, kind: label === "GOGC" ? "line" : "points", values: pick((p) => !p.kind && is(p.setting)) })),
      ...measuredKinds.map(([kind, label, color]) => ({ label, color, kind: "points", size: 8, values: pick((p) => p.kind === kind) })).filter((s) => s.values.some((v) => v !== null)), { label: "today, by the model", color: "line2", kind: "points", values: pick((p) => p.kind === "today") }, { label: "recommended", color: "line4", kind: "points", size: 13, values: pick((p) => p.kind === "recommended") }],
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
      r.point && known(plan, r.point) ? `; then the collector takes ${share(r.point.collector_cpu_share)} of CPU and the ${plan.heap_only ? "heap" : "process"} up to ${sizeSpan(memoryOf(plan, r.point))}.` : "."),
    r.why && el("p", { class: "why" }, r.why), plan.constraint.max_memory_bytes > 0 && el("p", { class: "why" }, `The process may take ${bytes(plan.constraint.max_memory_bytes)}: ${plan.constraint.source}.`),
    deploy(r.deploy), measuredList(plan), trials(plan.trials), plan.notes.map((n) => el("p", { class: "note" }, n)),
    el("p", { class: "note" }, "Intervals of a forecast hold the truth in about four of five cases; see ", term("saving", "predicted"), "."));
}
