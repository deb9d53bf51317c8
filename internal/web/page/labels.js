// Labels of samples: which of their sets a filter lets through, and what each
// value weighs. A filter is written as for pprof: expressions divided by commas,
// a key in front of "=", or a range of numbers such as 16kb:1mb.
import { compile } from "./flame_filter.js";
import { bytes, exactly } from "./format.js";

const units = { b: 1, kb: 1024, kib: 1024, mb: 1024 ** 2, mib: 1024 ** 2, gb: 1024 ** 3, gib: 1024 ** 3, ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
const unitOfLabel = { bytes: 1, kilobytes: 1024, megabytes: 1024 ** 2, nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9 };
const range = /^([+-]?[\d.]+)?([a-z]*)?(:)?([+-]?[\d.]+)?([a-z]*)?$/i;

// parseRange reads "5", "16b", "1kb:", ":1mb" and "1kb:1mb"; null for anything
// else.
function parseRange(text) {
  const m = range.exec(text);
  if (!m || (m[1] === undefined && m[4] === undefined)) return null;
  const scaled = (number, unit) => {
    const factor = unit ? units[unit.toLowerCase()] : 1;
    return number === undefined || number === "" ? null : factor === undefined ? NaN : Number(number) * factor;
  };
  const low = scaled(m[1], m[2]), high = m[3] ? scaled(m[4], m[5]) : low;
  if (!m[3] && m[4] !== undefined) return null;
  if ((low !== null && Number.isNaN(low)) || (high !== null && Number.isNaN(high))) return null;
  return { low: low === null ? -Infinity : low, high: high === null ? Infinity : high };
}

// compileLabels makes a function from a label set to whether it matches, or says
// that the text is no filter.
export function compileLabels(text, view) {
  if (!text || !view) return { match: null, error: "" };
  const eq = text.indexOf("="), key = eq < 0 ? "" : text.slice(0, eq), value = eq < 0 ? text : text.slice(eq + 1);
  const of = (set) => (view.sets[set] || []).filter((l) => !key || view.keys[l.key] === key);
  const numbers = parseRange(value.trim());
  if (numbers) {
    const inside = (l) => {
      if (l.low === undefined) return false;
      const factor = unitOfLabel[l.unit] || 1, least = (l.low === l.high ? l.low : l.low + 1) * factor;
      return least >= numbers.low && l.high * factor <= numbers.high;
    };
    return { match: (set) => of(set).some(inside), error: "" };
  }
  try {
    const all = value.split(",").map((x) => new RegExp(x, /[A-Z]/.test(x) ? "" : "i"));
    const texts = (l) => (key ? l.text : `${view.keys[l.key]}:${l.text}`);
    return { match: (set) => all.every((re) => of(set).some((l) => re.test(texts(l)))), error: "" };
  } catch (e) {
    return { match: null, error: e.message };
  }
}

// allowedSets says for each label set whether the filters of a state let its
// samples through; null where there is no filter. Set -1 has labels that are not
// told apart.
export function allowedSets(view, now) {
  const focus = compileLabels(now.tagfocus, view).match, ignore = compileLabels(now.tagignore, view).match;
  if (!focus && !ignore) return null;
  return (set) => (!focus || focus(set)) && (!ignore || !ignore(set));
}

// keyList reads the keys of labels that a state names, divided by commas.
export const keyList = (text) => (text || "").split(",").filter(Boolean);

// shownKey returns the function from a key to whether a state's expressions let
// it be listed.
export function shownKey(now) {
  const show = compile(now.tagshow).re, hide = compile(now.taghide).re;
  return (key) => (!show || show.test(key)) && (!hide || !hide.test(key));
}

// valueOf is the text of a set's label of a key, "" without one.
function valueOf(view, key, set) {
  const own = (view.sets[set] || []).filter((l) => view.keys[l.key] === key).map((l) => shownValue(l));
  return own.join(", ");
}

// shownValue writes a value with its unit.
export function shownValue(l) {
  if (l.low === undefined) return l.text;
  if (l.unit === "bytes") return l.low === l.high ? bytes(l.high) : `${bytes(l.low)} … ${bytes(l.high)}`;
  return l.unit ? `${l.text} ${l.unit}` : l.text;
}

// splitSets groups the sets by the values of keys: [{roots, leaves, takes(set)}],
// the values as texts, in the order of the keys.
export function splitSets(view, rootKeys, leafKeys, allowed) {
  const groups = new Map();
  for (let set = -1; set < view.sets.length; set++) {
    if (allowed && !allowed(set)) continue;
    const text = (key) => `${key}: ${set < 0 ? "not told apart" : valueOf(view, key, set) || "none"}`;
    const roots = rootKeys.map(text), leaves = leafKeys.map(text), id = JSON.stringify([roots, leaves]);
    if (!groups.has(id)) groups.set(id, { roots, leaves, sets: new Set() });
    groups.get(id).sets.add(set);
  }
  return [...groups.values()].map((g) => ({ ...g, takes: (set) => g.sets.has(set) }));
}

// filterFor writes the filter that takes one value of a key.
export function filterFor(view, key, l) {
  if (l.low !== undefined) return `${key}=${l.low === l.high ? l.low : `${l.low + 1}:${l.high}`}`;
  return `${key}=${exactly(l.text).replace(/,/g, ".")}`;
}
