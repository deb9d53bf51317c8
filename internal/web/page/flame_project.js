// From the call tree of the data to the tree that is shown: filtered, with the
// wanted detail, and from the wanted point of view.
import { groups, weigh } from "./flame_model.js";

// labelsOf numbers what frames are called at a level of detail: function, line,
// file or package.
export function labelsOf(m, detail) {
  const index = new Map(), list = [], of = new Int32Array(m.frames.function.length);
  for (let f = 0; f < of.length; f++) {
    const fn = m.frames.function[f], file = m.files[m.frames.file[f]], name = m.functions.name[fn];
    const pkg = m.functions.packages[m.functions.package[fn]];
    const own = m.functions.owner[fn] === "heaptrim";
    const text = own ? name : detail === "line" ? `${name} ${file.split("/").pop()}:${m.frames.line[f]}` : detail === "file" ? file || name : detail === "package" ? pkg || name : name;
    const key = detail === "function" ? fn : text;
    let at = index.get(key);
    if (at === undefined) {
      at = list.length;
      index.set(key, at);
      list.push({ text, fn, file, line: m.frames.line[f], pkg, owner: m.functions.owner[fn] });
    }
    of[f] = at;
  }
  return { list, of };
}

// compile makes a regular expression, or says what is wrong with it. As in
// pprof, an expression without capitals does not care about them.
export function compile(text) {
  if (!text) return { re: null, error: "" };
  try {
    return { re: new RegExp(text, /[A-Z]/.test(text) ? "" : "i"), error: "" };
  } catch (e) {
    return { re: null, error: e.message };
  }
}

// matches says for each frame whether an expression matches its function or
// file, as pprof's filters do; null without one.
function matches(m, text) {
  const { re } = compile(text);
  if (!re) return null;
  const byFunction = m.functions.name.map((s) => re.test(s)), byFile = m.files.map((s) => s !== "" && re.test(s));
  return Uint8Array.from(m.frames.function, (fn, f) => (byFunction[fn] || byFile[m.frames.file[f]] ? 1 : 0));
}

// Tree is the tree that is shown. Node 0 is the root; calls come after their
// caller. Its arrays are sums over a node with its calls, but self.
class Tree {
  constructor(labels, size) {
    this.labels = labels;
    this.n = 1;
    this.parent = new Int32Array(size);
    this.label = new Int32Array(size).fill(-1);
    this.depth = new Int32Array(size);
    this.calls = new Map();
    this.width = size;
  }
  child(node, label) {
    const key = node * 67108864 + label;
    let c = this.calls.get(key);
    if (c === undefined) {
      c = this.n++;
      if (c >= this.parent.length) this.grow();
      this.calls.set(key, c);
      this.parent[c] = node;
      this.label[c] = label;
      this.depth[c] = this.depth[node] + 1;
    }
    return c;
  }
  grow() {
    for (const k of ["parent", "label", "depth"]) {
      const bigger = new Int32Array(2 * this[k].length);
      bigger.set(this[k]);
      this[k] = bigger;
    }
  }
}

const sums = ["total", "variance", "collected", "events", "base", "baseVariance", "baseCollected"];
const selves = ["self", "selfVariance", "selfCollected", "selfEvents"];

// weighed fills in a tree's sums: map says where the weights of a data node go,
// -1 for nowhere.
function weighed(t, m, mode, map, part) {
  for (const k of [...sums, ...selves]) t[k] = new Float64Array(t.n);
  const now = part.now, then = part.base;
  const groupSums = groups.map((_, g) => (now.byGroup[g] ? new Float64Array(t.n) : null));
  for (let i = 0; i < m.n; i++) {
    const at = map[i];
    if (at < 0) continue;
    t.self[at] += now.self[i];
    t.selfVariance[at] += now.variance[i];
    t.selfCollected[at] += now.collected[i];
    t.selfEvents[at] += now.events[i];
    t.total[at] += now.self[i];
    t.variance[at] += now.variance[i];
    t.collected[at] += now.collected[i];
    t.events[at] += now.events[i];
    if (then) {
      t.base[at] += then.self[i];
      t.baseVariance[at] += then.variance[i];
      t.baseCollected[at] += then.collected[i];
    }
    for (let g = 0; g < groups.length; g++) if (groupSums[g]) groupSums[g][at] += now.byGroup[g][i];
  }
  for (let i = t.n - 1; i > 0; i--) {
    const p = t.parent[i];
    for (const k of sums) t[k][p] += t[k][i];
    for (const g of groupSums) if (g) g[p] += g[i];
  }
  t.group = new Uint8Array(t.n);
  for (let i = 0; i < t.n; i++) {
    let best = 0;
    for (let g = 0; g < groups.length; g++) if (groupSums[g] && groupSums[g][i] > best) [best, t.group[i]] = [groupSums[g][i], g];
  }
  t.mode = mode;
  return t;
}

// project builds the tree of a state: {mode, detail, focus, ignore, hide, show,
// from, pivot}. With a pivot, a label's number, it is the tree of what that one
// calls, and callers(…) the tree of what calls it.
export function project(m, labels, o) {
  const f = filters(m, o);
  const part = o.part || { now: weigh(m, o.mode, false), base: m.hasBase ? weigh(m, o.mode, true) : null };
  const t = new Tree(labels, m.n + 1), map = new Int32Array(m.n).fill(-1);
  const virtual = o.mode.id === "churn" || o.mode.id === "retention";
  const place = new Int32Array(m.n).fill(-1), inPath = new Uint8Array(m.n);
  if (o.pivot === undefined) place[0] = 0;
  if (!f.focus) inPath[0] |= 1;
  if (!f.from) inPath[0] |= 4;
  if (inPath[0] === 5) map[0] = place[0];
  for (let i = 1; i < m.n; i++) {
    const p = m.parent[i], frame = m.frame[i], label = labels.of[frame];
    const isOwn = labels.list[label].owner === "heaptrim";
    inPath[i] = inPath[p] | (f.focus && f.focus[frame] ? 1 : 0) | (f.ignore && f.ignore[frame] ? 2 : 0) | (f.from && f.from[frame] ? 4 : 0);
    let at = place[p];
    if (o.pivot !== undefined && at < 0 && label === o.pivot) at = 0;
    else if (at >= 0 && inPath[i] & 4 && !(f.hide && f.hide[frame]) && (!f.show || f.show[frame]) && !(virtual && isOwn && p !== 0)) at = t.child(at, label);
    place[i] = at;
    if ((inPath[i] & 7) === 5) map[i] = at;
  }
  return weighed(t, m, o.mode, map, part);
}

function filters(m, o) {
  return { focus: matches(m, o.focus), ignore: matches(m, o.ignore), hide: matches(m, o.hide), show: matches(m, o.show), from: matches(m, o.from) };
}

// callers builds the tree of what calls a label, outwards, from a projected
// tree: each outermost call of it weighs what it weighs with its own calls.
export function callers(t, labels, pivot) {
  const c = new Tree(labels, 1024);
  const where = [];
  const inside = new Uint8Array(t.n);
  for (let i = 1; i < t.n; i++) {
    const p = t.parent[i];
    if (inside[p] || t.label[i] === pivot) inside[i] = 1;
    if (t.label[i] !== pivot || inside[p]) continue;
    let at = 0;
    for (let up = p; up > 0; up = t.parent[up]) at = c.child(at, t.label[up]);
    where.push([i, at]);
  }
  for (const k of [...sums, ...selves]) c[k] = new Float64Array(c.n);
  for (const [i, at] of where) {
    c.self[at] += t.total[i];
    for (const k of sums) c[k][at] += t[k][i];
  }
  for (let i = c.n - 1; i > 0; i--) for (const k of sums) c[k][c.parent[i]] += c[k][i];
  c.group = new Uint8Array(c.n);
  c.mode = t.mode;
  return c;
}

// ordered gives a tree its calls in the order they are drawn: by width, and in
// one array with the place where each node's begin.
export function ordered(t, width) {
  const from = new Int32Array(t.n + 2), list = new Int32Array(Math.max(0, t.n - 1));
  for (let i = 1; i < t.n; i++) from[t.parent[i] + 2]++;
  for (let i = 2; i < from.length; i++) from[i] += from[i - 1];
  for (let i = 1; i < t.n; i++) list[from[t.parent[i] + 1]++] = i;
  for (let i = 0; i < t.n; i++) {
    if (from[i + 1] - from[i] > 1) list.subarray(from[i], from[i + 1]).sort((a, b) => width[b] - width[a] || a - b);
  }
  t.from = from;
  t.list = list;
  t.span = width;
  return t;
}

// byLabel sums a tree up by label: what each costs itself, and in all, once for
// each outermost call.
export function byLabel(t) {
  const n = t.labels.list.length, out = {};
  for (const k of [...sums, ...selves]) out[k] = new Float64Array(n);
  const open = new Int32Array(n), path = [], stack = [0];
  while (stack.length > 0) {
    const node = stack.pop(), label = t.label[node];
    if (node > 0) {
      while (path.length >= t.depth[node]) open[path.pop()]--;
      for (const k of selves) out[k][label] += t[k][node];
      if (open[label]++ === 0) for (const k of sums) out[k][label] += t[k][node];
      path.push(label);
    }
    for (let k = t.from[node + 1] - 1; k >= t.from[node]; k--) stack.push(t.list[k]);
  }
  return out;
}

// sumAt gathers what an interval needs from such arrays: of a node or a label,
// in all or itself.
export function sumAt(x, at, own) {
  return own ? { total: x.self[at], variance: x.selfVariance[at], collected: x.selfCollected[at], events: x.selfEvents[at] } : { total: x.total[at], variance: x.variance[at], collected: x.collected[at], events: x.events[at] };
}
