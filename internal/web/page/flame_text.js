// What the flame graph says of a node in words and numbers.
import { el } from "./dom.js";
import { bytes, count, seconds, span } from "./format.js";
import { halfWidth } from "./flame_model.js";
import { sumAt } from "./flame_project.js";

const percentText = (v) => (100 * v).toFixed(Math.abs(v) < 0.00995 ? 2 : 1);

// amount writes a weight of a mode with its interval: {total, variance,
// collected, events}.
export function amount(m, mode, sum) {
  const half = halfWidth(m, mode, sum);
  const i = { value: sum.total, low: sum.total - half, high: sum.total + half };
  if (mode.kind === "cpu") return span(i, percentText, "%") + " of CPU";
  if (mode.kind === "bytes") return span(i, bytes, "");
  return span(i, count, "") + " objects";
}

// short writes a weight where it is plain of what it is.
export const short = (m, mode, sum) => amount(m, mode, sum).replace(/ of CPU| objects/, "");

// time writes a share of CPU as time, where there is one run.
function time(m, share) {
  return m.ownRuns.length === 1 && m.ownRuns[0].cpu_ns > 0 ? seconds((share * m.ownRuns[0].cpu_ns) / 1e9) : "";
}

// of writes a part of a whole.
function of(part, whole, what) {
  return whole > 0 ? `${percentText(part / whole)} % of ${what}` : "";
}

// facts lists what is known of a node as [name, text] pairs.
export function facts(v, node) {
  const { m, t } = v, mode = t.mode;
  const out = [["total", amount(m, mode, sumAt(t, node))]];
  if (mode.kind === "cpu" && time(m, t.total[node])) out.push(["", time(m, t.total[node]) + " of the recording"]);
  if (t.self[node] !== 0) out.push(["self", amount(m, mode, sumAt(t, node, true))]);
  if (node > 0) {
    out.push(["", of(t.total[node], t.total[t.parent[node]], "its caller")]);
    if (mode.kind !== "cpu" || v.pivotName) out.push(["", of(t.total[node], t.total[0], "what is shown")]);
  }
  if (m.hasBase && v.compare) {
    const then = t.base[node] * t.baseScale, half = halfWidth(m, mode, { total: then, variance: t.baseVariance[node] * t.baseScale ** 2, collected: t.baseCollected[node] * t.baseScale, events: t.events[node] });
    const change = t.total[node] - then, error = Math.hypot(half, halfWidth(m, mode, sumAt(t, node)));
    const text = (x, h) => (mode.kind === "cpu" ? span({ value: x, low: x - h, high: x + h }, percentText, "% of CPU") : mode.kind === "bytes" ? span({ value: x, low: x - h, high: x + h }, bytes, "") : span({ value: x, low: x - h, high: x + h }, count, ""));
    out.push(["before", text(then, half)], ["change", (change > 0 ? "+" : "") + text(change, error) + (then > 0 ? `, ${change >= 0 ? "+" : ""}${percentText(change / then)} %` : "") + (Math.abs(change) <= error ? ", within the error" : "")]);
  }
  return out.filter(([, text]) => text);
}

// describe is the tooltip of a node.
export function describe(v, node) {
  const l = node > 0 ? v.t.labels.list[v.t.label[node]] : null;
  return [
    el("b", {}, l ? l.text : v.rootName()),
    l && l.file && v.detail !== "package" ? el("div", { class: "dim" }, `${l.file}${v.detail === "line" ? ":" + l.line : ""}`) : null,
    l && l.owner === "label" ? el("div", { class: "dim" }, "a label of the samples") : null,
    l && l.owner === "heaptrim" ? el("div", { class: "dim" }, "put here by heaptrim: the collector's time, under the code that causes it") : null,
    el("dl", {}, facts(v, node).map(([k, text]) => [el("dt", {}, k), el("dd", {}, text)])),
  ].filter(Boolean);
}

// say is a node for a screen reader.
export function say(v, node) {
  const name = node > 0 ? v.t.labels.list[v.t.label[node]].text : v.rootName();
  return `${name}, ${facts(v, node).map(([k, text]) => `${k} ${text}`).join(", ")}`;
}
