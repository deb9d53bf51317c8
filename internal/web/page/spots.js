// What lines of source and instructions weigh, under the filters of a state.
import { byLabel, sumAt } from "./flame_project.js";
import { measured, short } from "./measure.js";

// What frames are told apart by. Frames of one line in several functions are one
// spot; inlined code stands at the instruction of what it was inlined into.
const keys = {
  spot: (m) => (f) => `${m.frames.file[f]}:${m.frames.line[f]}`,
  place: (m) => (f) => `@${m.frames.place ? m.frames.place[f] : 0}`,
};

// labelsBy numbers frames as labelsOf does.
function labelsBy(m, key) {
  const index = new Map(), list = [], of = new Int32Array(m.frames.function.length);
  for (let f = 0; f < of.length; f++) {
    const fn = m.frames.function[f], own = m.functions.owner[fn] === "heaptrim", text = own ? m.functions.name[fn] : key(f);
    if (!index.has(text)) index.set(text, list.push({ text, fn, file: m.files[m.frames.file[f]], line: m.frames.line[f], pkg: "", owner: m.functions.owner[fn] }) - 1);
    of[f] = index.get(text);
  }
  return { list, of };
}

const kept = new WeakMap(), most = 8;

// Of these parts of the state, sums do not depend.
const idle = ["view", "fn", "file", "line", "quiet", "q", "node", "box", "cam", "zoom", "at", "pivot", "sort", "colour", "shape", "panes", "nodes", "detail"];

// spotsOf sums the stacks that a state lets through by spot, place or any detail
// that stacks can have. It returns the same value for the same state.
export function spotsOf(stacks, now, detail) {
  if (keys[detail] && !stacks.labels.has(detail)) stacks.labels.set(detail, labelsBy(stacks.m, keys[detail](stacks.m)));
  const key = JSON.stringify([detail, Object.entries(now).filter(([k]) => !idle.includes(k)).sort()]), list = kept.get(stacks) || [];
  let found = list.find((x) => x.key === key);
  if (!found) {
    found = new Spots(stacks, now, detail);
    found.key = key;
    kept.set(stacks, [found, ...list].slice(0, most));
  }
  return found;
}

class Spots {
  constructor(stacks, now, detail) {
    this.m = stacks.m;
    const shown = stacks.build(now, { mode: measured(this.m, stacks.modes.find((x) => x.id === now.weight) || stacks.modes[0], now), detail });
    Object.assign(this, { mode: shown.mode, compare: shown.compare, scale: shown.tree.baseScale, whole: shown.whole, list: shown.tree.labels.list, sums: byLabel(shown.tree) });
    this.at = new Map(this.list.map((l, i) => [l.text, i]));
  }

  // total and self are what a label weighs in all, and itself.
  total(text) {
    return this.at.has(text) ? this.sums.total[this.at.get(text)] : 0;
  }
  self(text) {
    return this.at.has(text) ? this.sums.self[this.at.get(text)] : 0;
  }

  // change is how much a label's total has grown since the base.
  change(text) {
    const l = this.at.get(text);
    return l === undefined ? 0 : this.sums.total[l] - this.sums.base[l] * this.scale;
  }

  // write is a label's weight with its interval, "" where it has none.
  write(text, own) {
    return this.writeAll([text], own);
  }

  // writeAll is that of several labels together.
  writeAll(texts, own) {
    const sum = {};
    for (const text of texts) {
      if (!this.at.has(text)) continue;
      for (const [k, x] of Object.entries(sumAt(this.sums, this.at.get(text), own))) sum[k] = (sum[k] || 0) + x;
    }
    return Math.abs(sum.total || 0) > 1e-9 * Math.abs(this.whole.total) ? short(this.m, this.mode, sum) : "";
  }
}

// isFiltered reports whether a state has filters.
export const isFiltered = (now) => ["focus", "ignore", "hide", "show", "from", "prune", "tagfocus", "tagignore"].some((k) => now[k]);
