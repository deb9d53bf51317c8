// What figures are written in: shares, time or amounts, in a unit of the reader's
// choice, as parts of a divisor, or as the mean of an object.
import { cpuTime, halfWidth, isCPU, isExact, meanOf } from "./flame_model.js";
import { bytes, count, seconds, span, trimmed } from "./format.js";

const times = { h: 3600e9, min: 60e9, s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 };
const sizes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 };

// unitChoices are the units that a kind of weight can be written in, as options
// of a select.
export function unitChoices(kind) {
  if (kind === "cpu" || kind === "time") return [["", "% of CPU"], ["time", "time"], ...Object.keys(times).map((u) => [u, u])];
  if (kind === "bytes") return [["", "to fit"], ...Object.keys(sizes).map((u) => [u, u])];
  return [["", "to fit"], ["one", "all digits"]];
}

// divisorOf reads a divisor; 1 for what is none.
export function divisorOf(text) {
  const d = Number(text);
  return text && Number.isFinite(d) && d > 0 ? d : 1;
}

const objectsOf = { alloc_space: "alloc_objects", inuse_space: "inuse_objects" };

// meanThere reports whether a mode weighs bytes with objects beside.
export function meanThere(m, mode) {
  return m.columns.some((c) => !c.base && c.name === objectsOf[mode.id]);
}

// measured is a mode as a state measures it: kind can become time; mean names the
// column of objects, "" for sums; divisor, unit and relative say how figures are
// written; errors are the errorSums it has; all is the whole without filters, and
// whole that of what is shown, for others to set.
export function measured(m, mode, now) {
  const divisor = divisorOf(now.div), unit = unitChoices(mode.kind).some(([u]) => u === now.unit) ? now.unit : "";
  const kind = mode.kind === "cpu" && (unit || divisor !== 1) && cpuTime(m.ownRuns) > 0 ? "time" : mode.kind;
  return { ...mode, kind, errors: isCPU(mode) ? m.errors : [], unit, divisor: kind === "cpu" ? 1 : divisor, mean: now.mean && meanThere(m, mode) ? objectsOf[mode.id] : "", relative: now.rel === "shown", all: 1, whole: 1 };
}

// allOf is the whole of a measured mode without any filter.
export function allOf(m, mode) {
  if (mode.kind === "cpu") return 1;
  if (mode.kind === "time") return cpuTime(m.ownRuns);
  let sum = 0;
  for (const c of m.columns) if (!c.base && mode.heap.includes(c.name)) for (const x of c.values) sum += x;
  return sum;
}

const percentText = (v) => (100 * v).toFixed(Math.abs(v) < 0.00995 ? 2 : 1);

// writer returns how a mode's numbers are written, and the unit behind them.
function writer(mode) {
  const scaled = (steps) => [(v) => trimmed(v / steps[mode.unit]), mode.unit];
  if (mode.kind === "cpu") return [percentText, "%"];
  if (mode.kind === "time") return times[mode.unit] ? scaled(times) : [(v) => seconds(v / 1e9), ""];
  if (mode.kind === "bytes") return sizes[mode.unit] ? scaled(sizes) : [bytes, ""];
  return mode.unit === "one" ? [(v) => (Number.isInteger(v) ? String(v) : v.toFixed(Math.abs(v) < 10 ? 2 : 0)), ""] : [count, ""];
}

// divided writes what a sum is divided by for the reader.
const divided = (mode) => mode.divisor * (mode.kind === "cpu" && mode.relative ? mode.whole || 1 : 1);

// written writes a value of a mode with its interval from half to each side.
export function written(mode, value, half) {
  const d = divided(mode), [number, unit] = writer(mode);
  return span({ value: value / d, low: (value - half) / d, high: (value + half) / d }, number, unit);
}

// figure is the number that stands for a sum, before it is divided.
export const figure = (mode, sum) => (mode.mean ? (sum.objects > 0 ? sum.total / sum.objects : 0) : sum.total);

// figures returns the function from a place in sums, as byLabel gives them, to the
// number that is shown of it, before it is divided: in all, or alone.
export function figures(mode, sums, alone) {
  const total = alone ? sums.self : sums.total, objects = mode.mean ? (alone ? sums.own_objects : sums.objects) : null;
  return objects ? (l) => (objects[l] > 0 ? total[l] / objects[l] : 0) : (l) => total[l];
}

// short writes a sum {total, variance, collected, events, …} with its interval,
// where it is plain of what it is.
export function short(m, mode, sum) {
  if (!mode.mean) return written(mode, sum.total, halfWidth(m, mode, sum));
  const { value, half } = meanOf(m, mode, sum);
  if (!(sum.objects > 0)) return "";
  return written(mode, value, half) + (sum.events <= 1.5 && !isExact(m, mode) ? " (1 sample)" : "");
}

// amount writes a sum with its interval and what it is of.
export function amount(m, mode, sum) {
  const of = mode.kind === "cpu" ? (mode.relative ? " of what is shown" : " of CPU") : mode.kind === "time" ? " of CPU" : mode.mean ? " an object" : mode.kind === "count" ? " objects" : "";
  const text = short(m, mode, sum);
  return text ? text + of : "no objects";
}

// plain writes a value without an interval.
export const plain = (mode, value) => written(mode, value, 0);

// shareOf is the part that a sum is of all, or of what is shown.
export function shareOf(mode, total) {
  const whole = mode.relative ? mode.whole : mode.all;
  return whole ? total / whole : 0;
}

// measureNote says in words what a reader must know of figures: that runs weigh
// the same, or are added up, and what the figures are divided by.
export function measureNote(m, mode) {
  const parts = [];
  if (m.ownRuns.length > 1 && mode.kind === "cpu") parts.push("Runs weigh the same.");
  if (m.ownRuns.length > 1 && mode.kind === "time") parts.push("Runs are added up.");
  if (mode.divisor !== 1) parts.push(`All but shares is divided by ${mode.divisor}.`);
  if (mode.mean) parts.push("Width is by bytes; figures are the mean size of an object, ± by the sizes that were sampled.");
  return parts.join(" ");
}
