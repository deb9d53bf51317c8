// Numbers with their unit and their interval. What is not known is said so.

export const unknown = "not known";

const known = (v) => v !== null && v !== undefined && Number.isFinite(v);

// trimmed writes a number with about three significant figures.
export function trimmed(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 100) return v.toFixed(0);
  if (a >= 10) return v.toFixed(1);
  return a >= 0.095 ? v.toFixed(2).replace(/0$/, "") : v.toPrecision(2);
}

// percent writes a share of 1 in percent, without its sign of unit.
function percentNumber(v) {
  const p = 100 * v, a = Math.abs(p);
  if (a !== 0 && a < 0.095) return a < 0.0005 ? "0.00" : p.toPrecision(2);
  return p.toFixed(a >= 99.95 ? 0 : 1);
}

// percent writes a share of 1.
export function percent(v) {
  return known(v) ? percentNumber(v) + " %" : unknown;
}

// halfOf is the larger half of an interval, which is printed behind ±.
export const halfOf = (i) => Math.max(i.high - i.value, i.value - i.low);

// span writes an interval {value, low, high} by a function for plain numbers
// and a unit, with the larger of its halves.
export function span(i, number, unit) {
  if (!i || !known(i.value)) return unknown;
  const tail = unit ? " " + unit : "", half = halfOf(i);
  return number(i.value) + tail + (half > 0 ? ` ±${number(half)}` : "");
}

// share writes an interval of shares.
export function share(i) {
  return span(i, percentNumber, "%");
}

const scaled = (v, steps, base) => {
  let k = 0;
  while (k < steps.length - 1 && Math.abs(v) >= base) {
    v /= base;
    k++;
  }
  return [v, steps[k]];
};

// bytes writes a size, as in 1.5 MiB.
export function bytes(v) {
  if (!known(v)) return unknown;
  const [x, unit] = scaled(v, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
  return `${trimmed(x)} ${unit}`;
}

// count writes a number of things, as in 1.5 M.
export function count(v) {
  if (!known(v)) return unknown;
  if (Number.isInteger(v) && Math.abs(v) < 1000) return String(v);
  const [x, unit] = scaled(v, ["", "k", "M", "G", "T"], 1000);
  return unit ? `${trimmed(x)} ${unit}` : trimmed(x);
}

// seconds writes a duration given in seconds, as in 1.5 ms.
export function seconds(v) {
  if (!known(v)) return unknown;
  const a = Math.abs(v);
  if (a === 0) return "0 s";
  if (a < 1e-6) return trimmed(v * 1e9) + " ns";
  if (a < 1e-3) return trimmed(v * 1e6) + " µs";
  if (a < 1) return trimmed(v * 1e3) + " ms";
  return trimmed(v) + " s";
}

// sizeSpan writes an interval of sizes.
export function sizeSpan(i) {
  return span(i, bytes, "");
}

// exactly is the regular expression that matches one text.
export const exactly = (text) => "^" + text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";

// countSpan writes an interval of counts.
export function countSpan(i) {
  return span(i, count, "");
}

// date writes the time of a recording.
export function date(text) {
  const d = new Date(text || NaN);
  return Number.isNaN(d.getTime()) ? "" : d.toISOString().replace("T", " ").replace(/\.\d+Z|Z$/, " UTC");
}

// shortName drops the import path in front of a function's package; what stands
// behind the function, such as its types or its file, stays.
export function shortName(fn) {
  const end = fn.search(/[[ ]/);
  const slash = fn.lastIndexOf("/", end < 0 ? fn.length : end);
  return slash < 0 ? fn : fn.slice(slash + 1);
}

// fitted is the longest form of a function's name that has room for so many characters:
// whole, without its import path, without its package, then its own name alone; of a name
// that is longer still, the end, which tells closures and methods apart.
export function fitted(name, room) {
  const short = shortName(name), own = short.replace(/^[^.()[ ]*\./, "");
  const last = own.replace(/^\([^)]*\)\./, "");
  return [name, short, own, last].find((text) => text.length <= room) || "…" + last.slice(last.length - Math.max(1, room - 1));
}

// beside names the part of a saving that no sample of memory management shows.
export function beside(prediction) {
  const c = prediction.caches_share;
  return c && c.value >= 0.0005 ? ` (${percent(c.value)} in the program's own code, by fewer cache misses)` : "";
}
