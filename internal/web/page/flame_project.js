// From the call tree of the data to the tree that is shown: filtered, with the
// wanted detail, and from the wanted point of view.
import { groups, weigh } from "./flame_model.js";
import { splitSets } from "./labels.js";

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

// weighed fills in a tree's sums from its parts: the map of each says where the
// weights of a data node go, -1 for nowhere.
function weighed(t, m, mode, parts) {
  for (const k of [...sums, ...selves]) t[k] = new Float64Array(t.n);
  const groupSums = groups.map((_, g) => (parts.some((p) => p.now.byGroup[g]) ? new Float64Array(t.n) : null));
  for (const part of parts) addPart(t, m, part, groupSums);
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

function addPart(t, m, { now, base: then, map }, groupSums) {
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
    for (let g = 0; g < groups.length; g++) if (groupSums[g] && now.byGroup[g]) groupSums[g][at] += now.byGroup[g][i];
  }
}

// partsOf weighs the samples: all that a state lets through together, or, to be
// put below or above a label of theirs, each value for itself.
function partsOf(m, o) {
  const weights = (takes) => ({ now: weigh(m, o.mode, false, takes), base: m.hasBase ? weigh(m, o.mode, true, takes) : null });
  if (!o.view || (!o.tagroot && !o.tagleaf)) return [{ root: "", leaf: "", ...weights(o.allowed || null) }];
  return splitSets(o.view, o.tagroot, o.tagleaf, o.allowed).map((g) => ({ root: g.root, leaf: g.leaf, ...weights(g.takes), split: true }));
}

// project builds the tree of a state: {mode, detail, focus, ignore, hide, show,
// from, pivot, view, allowed, tagroot, tagleaf}. With a pivot, a label's number,
// it is the tree of what that one calls, and callers(…) the tree of what calls it.
export function project(m, labels, o) {
  const f = filters(m, o), parts = partsOf(m, o);
  const all = { list: labels.list.slice(), of: labels.of }, extra = new Map();
  const label = (text) => {
    if (!extra.has(text)) extra.set(text, all.list.push({ text, fn: 0, file: "", line: 0, pkg: text, owner: "label" }) - 1);
    return extra.get(text);
  };
  const t = new Tree(all, m.n + 1);
  for (const part of parts) {
    const used = part.split ? usedBy(m, part) : null;
    part.map = place(m, t, { o, f, used, labels, root: part.root && used[0] ? t.child(0, label(part.root)) : 0 });
    if (part.leaf) for (let i = 0; i < m.n; i++) if (part.map[i] >= 0 && (part.now.self[i] !== 0 || part.now.events[i] !== 0 || (part.base && part.base.self[i] !== 0))) part.map[i] = t.child(part.map[i], label(part.leaf));
  }
  return weighed(t, m, o.mode, parts);
}

// usedBy marks the nodes that a part has weight below.
function usedBy(m, part) {
  const used = new Uint8Array(m.n);
  for (let i = m.n - 1; i >= 0; i--) {
    if (part.now.self[i] !== 0 || part.now.events[i] !== 0 || (part.base && part.base.self[i] !== 0)) used[i] = 1;
    if (used[i] && i > 0) used[m.parent[i]] = 1;
  }
  return used;
}

// place finds where the weights of each data node go, and makes the nodes.
function place(m, t, { o, f, used, labels, root }) {
  const map = new Int32Array(m.n).fill(-1);
  // The collector's time stands on frames of its own, which weigh nothing else.
  const virtual = o.mode.kind !== "cpu" || o.mode.id === "churn" || o.mode.id === "retention";
  const places = new Int32Array(m.n).fill(-1), inPath = new Uint8Array(m.n);
  if (o.pivot === undefined) places[0] = root;
  if (!f.focus) inPath[0] |= 1;
  if (!f.from) inPath[0] |= 4;
  if (inPath[0] === 5) map[0] = places[0];
  for (let i = 1; i < m.n; i++) {
    if (used && !used[i]) continue;
    const p = m.parent[i], frame = m.frame[i], label = labels.of[frame];
    const isOwn = labels.list[label].owner === "heaptrim";
    inPath[i] = inPath[p] | (f.focus && f.focus[frame] ? 1 : 0) | (f.ignore && f.ignore[frame] ? 2 : 0) | (f.from && f.from[frame] ? 4 : 0);
    let at = places[p];
    if (o.pivot !== undefined && at < 0 && label === o.pivot) at = root;
    else if (at >= 0 && inPath[i] & 4 && !(f.hide && f.hide[frame]) && (!f.show || f.show[frame]) && !(virtual && isOwn && p !== 0)) at = t.child(at, label);
    places[i] = at;
    if ((inPath[i] & 7) === 5) map[i] = at;
  }
  return map;
}

// passing says for each data node whether its stack passes through what focus
// wants and through nothing that is ignored; null without such filters.
export function passing(m, o) {
  const f = filters(m, o);
  if (!f.focus && !f.ignore) return null;
  const path = new Uint8Array(m.n), out = new Uint8Array(m.n);
  path[0] = f.focus ? 0 : 1;
  for (let i = 0; i < m.n; i++) {
    if (i > 0) path[i] = path[m.parent[i]] | (f.focus && f.focus[m.frame[i]] ? 1 : 0) | (f.ignore && f.ignore[m.frame[i]] ? 2 : 0);
    out[i] = path[i] === 1 ? 1 : 0;
  }
  return out;
}

function filters(m, o) {
  return { focus: matches(m, o.focus), ignore: matches(m, o.ignore), hide: matches(m, o.hide), show: matches(m, o.show), from: matches(m, o.from) };
}

// callers builds the tree of what calls a label, outwards, from a projected
// tree: each outermost call of it weighs what it weighs with its own calls.
export function callers(t, pivot) {
  const c = new Tree(t.labels, 1024);
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
