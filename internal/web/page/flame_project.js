// From the call tree of the data to the tree that is shown: filtered, with the
// wanted detail, and from the wanted point of view.
import { filters, place } from "./flame_filter.js";
import { errorSums, groups, meanSums, weigh } from "./flame_model.js";
import { keyList, splitSets } from "./labels.js";

// Tree is the tree that is shown. Node 0 is the root; calls come after their
// caller. Its arrays are sums over a node with its calls, but self.
class Tree {
  constructor(labels, size) {
    this.labels = labels;
    this.n = 1;
    this.parent = new Int32Array(size);
    this.label = new Int32Array(size).fill(-1);
    this.depth = new Int32Array(size);
    this.called = new Int32Array(size); // 0: every call was inlined
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
    for (const k of ["parent", "label", "depth", "called"]) {
      const bigger = new Int32Array(2 * this[k].length);
      bigger.set(this[k]);
      this[k] = bigger;
    }
  }
}

const sums = ["total", "variance", "collected", "events", "base", "baseVariance", "baseCollected"];
const selves = ["self", "selfVariance", "selfCollected", "selfEvents"];

// own is the name of what stands beside a sum for the node alone.
const own = { total: "self", variance: "selfVariance", collected: "selfCollected", events: "selfEvents", ...Object.fromEntries([...errorSums, ...meanSums].map((k) => [k, `own_${k}`])) };

// before is the name of one of errorSums in the base.
const before = (k) => `base_${k}`;

// sumsOf and selvesOf are the arrays of a tree of a mode.
const sumsOf = (mode) => [...sums, ...mode.errors, ...mode.errors.map(before), ...(mode.mean ? meanSums : [])];
const selvesOf = (mode) => [...selves, ...[...mode.errors, ...(mode.mean ? meanSums : [])].map((k) => own[k])];

// weighed fills in a tree's sums from its parts: the map of each says where the
// weights of a data node go, -1 for nowhere.
function weighed(t, m, mode, parts) {
  const whole = sumsOf(mode);
  for (const k of [...whole, ...selvesOf(mode)]) t[k] = new Float64Array(t.n);
  const groupSums = groups.map((_, g) => (parts.some((p) => p.now.byGroup[g]) ? new Float64Array(t.n) : null));
  for (const part of parts) addPart(t, m, part, { groupSums, errors: mode.errors });
  // One array after another: a page with all calls has some 200 000.
  for (const x of [...whole.map((k) => t[k]), ...groupSums]) if (x) for (let i = t.n - 1; i > 0; i--) x[t.parent[i]] += x[i];
  t.group = new Uint8Array(t.n);
  for (let i = 0; i < t.n; i++) {
    let best = 0;
    for (let g = 0; g < groups.length; g++) if (groupSums[g] && groupSums[g][i] > best) [best, t.group[i]] = [groupSums[g][i], g];
  }
  t.mode = mode;
  return t;
}

function addPart(t, m, { now, base: then, map }, { groupSums, errors }) {
  const add = (to, from) => {
    for (let i = 0; i < m.n; i++) if (map[i] >= 0) to[map[i]] += from[i];
  };
  const parts = { total: "self", variance: "variance", collected: "collected", events: "events" };
  for (const k of [...errors, ...(now.objects ? meanSums : [])]) parts[k] = k;
  for (const [k, from] of Object.entries(parts)) {
    add(t[k], now[from]);
    add(t[own[k]], now[from]);
  }
  if (then) {
    add(t.base, then.self);
    add(t.baseVariance, then.variance);
    add(t.baseCollected, then.collected);
    for (const k of errors) add(t[before(k)], then[k]);
  }
  groupSums.forEach((sum, g) => sum && now.byGroup[g] && add(sum, now.byGroup[g]));
}

// partsOf weighs the samples: all that a state lets through together, or, to be
// put below or above labels of theirs, each of their values for itself.
function partsOf(m, o) {
  const weights = (takes) => ({ now: weigh(m, o.mode, false, takes), base: m.hasBase ? weigh(m, o.mode, true, takes) : null });
  const roots = keyList(o.tagroot), leaves = keyList(o.tagleaf);
  if (!o.view || roots.length + leaves.length === 0) return [{ roots, leaves, ...weights(o.allowed || null) }];
  return splitSets(o.view, roots, leaves, o.allowed).map((g) => ({ ...g, ...weights(g.takes), split: true }));
}

// project builds the tree of a state: {mode, detail, focus, ignore, hide, show,
// from, prune, inline, pivot, view, allowed, tagroot, tagleaf}. With a pivot, a
// label's number, it is the tree of what that one calls, and callers(…) the tree
// of what calls it.
export function project(m, labels, o) {
  const f = filters(m, o), parts = partsOf(m, o);
  const all = { list: labels.list.slice(), of: labels.of }, extra = new Map();
  const label = (text) => {
    if (!extra.has(text)) extra.set(text, all.list.push({ text, fn: 0, file: "", line: 0, pkg: text, owner: "label" }) - 1);
    return extra.get(text);
  };
  const t = new Tree(all, m.n + 1), below = (node, texts) => texts.reduce((at, text) => t.child(at, label(text)), node);
  for (const part of parts) {
    const used = part.split ? usedBy(m, part) : null;
    part.map = place(m, t, { o, f, used, labels, root: used && used[0] ? below(0, part.roots) : 0 });
    if (part.split && part.leaves.length > 0) for (let i = 0; i < m.n; i++) if (part.map[i] >= 0 && weighs(part, i)) part.map[i] = below(part.map[i], part.leaves);
  }
  return weighed(t, m, o.mode, parts);
}

// weighs reports whether a node has any weight itself.
const weighs = (part, i) => part.now.self[i] !== 0 || part.now.events[i] !== 0 || (part.base !== null && part.base.self[i] !== 0);

// usedBy marks the nodes that a part has weight below.
function usedBy(m, part) {
  const used = new Uint8Array(m.n);
  for (let i = m.n - 1; i >= 0; i--) {
    if (weighs(part, i)) used[i] = 1;
    if (used[i] && i > 0) used[m.parent[i]] = 1;
  }
  return used;
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
  const whole = sumsOf(t.mode);
  c.called.fill(1); // what calls is not the callee's caller here
  for (const k of [...whole, ...selvesOf(t.mode)]) c[k] = new Float64Array(c.n);
  for (const [i, at] of where) {
    for (const k of whole) {
      c[k][at] += t[k][i];
      if (own[k]) c[own[k]][at] += t[k][i];
    }
  }
  for (let i = c.n - 1; i > 0; i--) for (const k of whole) c[k][c.parent[i]] += c[k][i];
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
  const n = t.labels.list.length, out = {}, whole = sumsOf(t.mode), alone = selvesOf(t.mode);
  for (const k of [...whole, ...alone]) out[k] = new Float64Array(n);
  const wholes = whole.map((k) => [out[k], t[k]]), alones = alone.map((k) => [out[k], t[k]]);
  const open = new Int32Array(n), path = [], stack = [0];
  while (stack.length > 0) {
    const node = stack.pop(), label = t.label[node];
    if (node > 0) {
      while (path.length >= t.depth[node]) open[path.pop()]--;
      for (const [to, from] of alones) to[label] += from[node];
      if (open[label]++ === 0) for (const [to, from] of wholes) to[label] += from[node];
      path.push(label);
    }
    for (let k = t.from[node + 1] - 1; k >= t.from[node]; k--) stack.push(t.list[k]);
  }
  return out;
}

// edgeSums are what a call between two functions weighs, of a tree.
export const edgeSums = (t) => ["total", "base", "variance", "collected", "events", ...t.mode.errors, ...(t.mode.mean ? meanSums : [])];

// sumAt gathers what an interval needs from such arrays: of a node or a label,
// in all or itself.
export function sumAt(x, at, alone) {
  const out = {};
  for (const k of ["total", "variance", "collected", "events", ...errorSums, ...meanSums]) if (x[k]) out[k] = x[alone ? own[k] : k][at];
  return out;
}

// baseAt is sumAt of the base, scaled.
export function baseAt(x, at, scale) {
  const out = { total: x.base[at] * scale, variance: x.baseVariance[at] * scale ** 2, collected: x.baseCollected[at] * scale, events: x.events[at] };
  for (const k of errorSums) if (x[before(k)]) out[k] = x[before(k)][at] * scale;
  return out;
}
