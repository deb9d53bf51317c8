// Proof: two versions side by side, as heaptrim prove has measured them, and
// what was predicted.
import { button, el, table } from "./dom.js";
import { bytes, count, percent, seconds, share, shortName, span } from "./format.js";
import { change } from "./state.js";
import { term } from "./terms.js";

// How values of a unit are written; what is not here is a plain number.
const writers = [
  [/bytes$|^B\/op$/, bytes], [/(^|-)ns(\/|$)/, (v) => seconds(v / 1e9)], [/sec$/, seconds], [/share$/, percent], [/./, count],
];

const writer = (unit) => writers.find(([re]) => re.test(unit))[1];

const words = { better: "better", worse: "worse", same: "the same", unclear: "unclear", mixed: "mixed", incomparable: "incomparable" };

// side writes a median with its bounds; below a few runs there are none.
function side(range, unit) {
  if (!range) return "not known";
  return span({ value: range.value, low: range.low ?? range.value, high: range.high ?? range.value }, writer(unit), "");
}

// delta writes a change with its interval.
function delta(c) {
  if (!c.change) return "not known";
  const signed = (v) => (v > 0 ? "+" : "") + (100 * v).toFixed(Math.abs(v) < 0.0995 ? 2 : 1);
  if (c.change.low === null || c.change.high === null) return `${signed(c.change.value)} %, too few runs to say`;
  return c.exact ? `${signed(c.change.value)} %, exactly` : `${signed(c.change.value)} % (${signed(c.change.low)} to ${signed(c.change.high)})`;
}

// whiskers draws a change with its interval on a scale that is the same for
// all rows of a table.
function whiskers(c, most) {
  if (!c.change) return "";
  const at = (v) => `${50 + 48 * Math.max(-1, Math.min(1, v / most))}%`;
  const known = c.change.low !== null && c.change.high !== null;
  const low = known ? c.change.low : c.change.value, high = known ? c.change.high : c.change.value, left = 50 + 48 * Math.max(-1, low / most), right = 50 + 48 * Math.min(1, high / most);
  return el("div", { class: "whiskers " + (c.outcome || "none"), "aria-hidden": "true" }, el("i", {}), el("u", { style: { left: left + "%", width: Math.max(0.5, right - left) + "%" } }), el("b", { style: { left: at(c.change.value) } }));
}

function comparison(c) {
  const rows = c.changes, most = Math.max(0.01, ...rows.filter((x) => x.change).map((x) => Math.min(1, Math.abs(x.change.value) * 1.3)));
  return el("section", {}, el("h2", {}, c.name || "command", " ", el("span", { class: "chip " + c.outcome }, words[c.outcome] || c.outcome), " ", el("small", {}, `${c.pairs} pairs of runs`)),
    c.failed_a && el("p", { class: "bad" }, "A failed: " + c.failed_a), c.failed_b && el("p", { class: "bad" }, "B failed: " + c.failed_b),
    c.work_differs.length > 0 && el("p", { class: "bad" }, "The two did not do the same work: " + c.work_differs.join("; ")),
    table(c.name, [
      { title: "metric", class: "metric", cell: (x) => [x.label || x.unit, x.judged ? "" : el("small", {}, " beside")] },
      { title: "A", cell: (x) => side(x.a, x.unit), class: "num" }, { title: "B", cell: (x) => side(x.b, x.unit), class: "num" },
      { title: "change", cell: delta, class: "num" }, { title: `−${percent(most)} … +${percent(most)}`, cell: (x) => whiskers(x, most), class: "plot" },
      { title: "verdict", class: "metric", cell: (x) => (x.outcome ? el("span", { class: "chip " + x.outcome }, words[x.outcome] || x.outcome) : "") },
    ], rows), c.warnings.map((w) => el("p", { class: "note" }, w)));
}

function predictedBeside(data) {
  const list = data.views.predicted || [];
  if (list.length === 0) return null;
  const cpu = data.views.proof.comparisons.flatMap((c) => c.changes.filter((x) => /cpu|^ns\/op$|^sec$/.test(x.unit) && x.change).map((x) => `${c.name ? c.name + ", " : ""}${x.label || x.unit} ${delta(x)}`));
  return el("section", {}, el("h2", {}, "Predicted, beside measured"),
    el("p", {}, "Cures that the base needed and this recording does not, each with what was ", term("saving", "predicted"), " for it alone:"),
    table("Predicted savings", [
      { title: "line", cell: (p) => `${p.file}:${p.line}`, class: "name" }, { title: "function", cell: (p) => shortName(p.function), class: "name" },
      { title: "cure", cell: (p) => el("span", { class: "code" }, p.code) }, { title: "predicted CPU", cell: (p) => share(p.cpu_share), class: "num" },
      { title: "predicted bytes/op", cell: (p) => (p.bytes_per_op === null ? "not known" : bytes(p.bytes_per_op)), class: "num" },
    ], list),
    el("p", {}, "Measured: ", cpu.length > 0 ? cpu.join("; ") : "no time was measured", "."));
}

// proofView is there when a comparison was given.
export const proofView = {
  id: "proof",
  title: "Proof",
  there: (data) => Boolean(data.views.proof),
  make(data) {
    const p = data.views.proof, who = (s) => [s.spec, s.commit && s.commit.slice(0, 12), s.go_version, ...s.env].filter(Boolean).join(", ");
    const node = el("div", { class: "proof-view" }, el("p", { class: "headline" }, p.verdict.sentence), p.partial && el("p", { class: "bad" }, "The measurement was interrupted: this is what there was until then."),
      el("dl", { class: "sides" }, el("dt", {}, "A"), el("dd", {}, who(p.a)), el("dt", {}, "B"), el("dd", {}, who(p.b))),
      p.comparisons.map(comparison), predictedBeside(data),
      data.views.flame && data.views.flame.base ? el("p", {}, button("Show what changed in the flame graph", () => change({ view: "flame", colour: "change" }))) : el("p", { class: "note" }, "With -base, the flame graph shows where the difference lies."),
      [...p.left_out, ...p.warnings].map((w) => el("p", { class: "note" }, w)), el("p", { class: "note" }, `Each figure is a median with its 95 % interval over runs; ${count(p.comparisons.length)} compared.`));
    return { node, show() {} };
  },
};
