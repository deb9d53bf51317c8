// What the flame graph says of a node in words and numbers.
import { el } from "./dom.js";
import { bytes, count, percent, seconds } from "./format.js";
import { halfWidth } from "./flame_model.js";
import { baseAt, sumAt } from "./flame_project.js";
import { amount, plain, written } from "./measure.js";

// time writes a share of CPU as time, where there is one run.
function time(m, share) {
  return m.ownRuns.length === 1 && m.ownRuns[0].cpu_ns > 0 ? seconds((share * m.ownRuns[0].cpu_ns) / 1e9) : "";
}

// of writes a part of a whole.
function of(part, whole, what) {
  return whole > 0 ? `${percent(part / whole)} of ${what}` : "";
}

// facts lists what is known of a node as [name, text] pairs.
export function facts(v, node) {
  const { m, t } = v, mode = t.mode, total = t.total[node], less = t.total[0] < mode.all * (1 - 1e-6);
  const out = [["total", amount(m, mode, sumAt(t, node))]];
  if (mode.mean && t.objects[node] > 0) out.push(["", `${bytes(total)} in ${count(t.objects[node])} objects`]);
  if (mode.kind === "cpu" && time(m, total)) out.push(["", time(m, total) + " of the recording"]);
  if (t.self[node] !== 0) out.push(["self", amount(m, mode, sumAt(t, node, true))]);
  if (mode.kind !== "cpu" && (less || mode.kind === "time")) out.push(["", of(total, mode.all, mode.kind === "time" ? "CPU without idle marking" : "all")]);
  if (node > 0) {
    out.push(["", of(total, t.total[t.parent[node]], "its caller")]);
    if (mode.kind !== "cpu" || v.pivotName || less) out.push(["", of(total, t.total[0], "what is shown")]);
  }
  if (m.hasBase && v.compare) out.push(...changes(v, node));
  return out.filter(([, text]) => text);
}

// changes are the facts of a comparison.
function changes({ m, t }, node) {
  const mode = t.mode, scale = t.baseScale, then = t.base[node] * scale;
  const half = halfWidth(m, mode, baseAt(t, node, scale));
  const exact = t.total[node] - then, change = Math.abs(exact) < 1e-9 * then ? 0 : exact, error = Math.hypot(half, halfWidth(m, mode, sumAt(t, node))), sign = change > 0 ? "+" : "";
  return [["before", written(mode, then, half)],
    ["change", sign + written(mode, change, error) + (then > 0 ? `, ${sign}${percent(change / then)}` : "") + (Math.abs(change) <= error ? ", within the error" : "")]];
}

// changeText writes what a sum has changed by.
export function changeText(mode, sums, at, scale) {
  return plain(mode, sums.total[at] - sums.base[at] * scale);
}

// describe is the tooltip of a node.
export function describe(v, node) {
  const l = node > 0 ? v.t.labels.list[v.t.label[node]] : null;
  return [
    el("b", {}, l ? l.text : v.rootName()),
    l && l.file && v.detail !== "package" ? el("div", { class: "dim" }, `${l.file}${v.detail === "line" || v.detail === "address" ? ":" + l.line : ""}`) : null,
    l && l.owner !== "label" && !v.t.called[node] ? el("div", { class: "dim" }, "inlined into its caller") : null,
    l && l.owner === "label" ? el("div", { class: "dim" }, "a label of the samples") : null,
    l && l.owner === "heaptrim" ? el("div", { class: "dim" }, "put here by heaptrim: the collector's time, under the code that causes it") : null,
    el("dl", {}, facts(v, node).map(([k, text]) => [el("dt", {}, k), el("dd", {}, text)])),
  ].filter(Boolean);
}

// say is a node for a screen reader.
export function say(v, node) {
  const name = node > 0 ? v.t.labels.list[v.t.label[node]].text : v.rootName();
  return `${name}${node > 0 && v.t.labels.list[v.t.label[node]].owner !== "label" && !v.t.called[node] ? ", inlined" : ""}, ${facts(v, node).map(([k, text]) => `${k} ${text}`).join(", ")}`;
}
