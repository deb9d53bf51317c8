// From the tree of stacks to the graph of who calls whom: one node for each
// label, one edge for each pair, and what was left out.
import { byLabel, edgeSums } from "./flame_project.js";

// callGraph returns {nodes, sums, edges, lost}: the nodes that weigh most, {label,
// at}, at being the place of its weights in sums; edges {from, to, total, base, …,
// residual} between indices of nodes, residual meaning that all of it leads over
// functions that are not drawn. o: {count, fraction, edges, keep, takes(label)}:
// how many nodes, the least share of the whole of a node and of an edge, what must
// be there whatever it weighs, -1 for nothing, and what can be.
export function callGraph(t, o) {
  const sums = byLabel(t), all = t.labels.list.map((_, l) => l).filter((l) => sums.total[l] !== 0 || sums.base[l] !== 0);
  const list = heaviest(t, sums, all, o), number = new Map(list.map((l, i) => [l, i]));
  return { nodes: list.map((l) => ({ label: l, at: l })), sums, ...edgesOf(t, { number: (i) => number.get(t.label[i]), o, sums, all, list }) };
}

// callTree is the same with a node for each path that leads to a function.
export function callTree(t, o) {
  const all = [];
  for (let i = 1; i < t.n; i++) if (t.total[i] !== 0 || t.base[i] !== 0) all.push(i);
  const list = heaviest(t, t, all, { ...o, takes: (i) => o.takes(t.label[i]) }), number = new Map(list.map((n, i) => [n, i]));
  return { nodes: list.map((n) => ({ label: t.label[n], at: n })), sums: t, ...edgesOf(t, { number: (i) => number.get(i), o, sums: t, all, list }) };
}

// heaviest chooses nodes by what they weigh, heaviest first.
function heaviest(t, sums, all, o) {
  const whole = Math.abs(t.total[0]) || 1;
  const weight = (l) => Math.max(Math.abs(sums.total[l]), Math.abs(sums.base[l] * t.baseScale));
  const own = (l) => Math.abs(sums.self[l]);
  let list = all.filter((l) => weight(l) >= o.fraction * whole && o.takes(l));
  const by = (value) => list.slice().sort((a, b) => value(b) - value(a) || a - b);
  if (list.length > o.count) {
    // Half by what they cost with their calls, which holds the drawing together,
    // and the rest by what they cost themselves.
    const chosen = new Set(by(weight).slice(0, Math.ceil(o.count / 2)));
    for (const l of by(own)) if (chosen.size < o.count) chosen.add(l);
    list = [...chosen];
  }
  if (o.keep >= 0 && !list.includes(o.keep)) list.push(o.keep);
  return list.sort((a, b) => weight(b) - weight(a) || a - b);
}

// lostOf says what was left out.
function lostOf(t, { sums, all, list }, dropped) {
  const there = new Set(list), whole = Math.abs(t.total[0]) || 1;
  let lost = 0, sum = 0;
  for (const l of all) {
    sum += Math.abs(sums.self[l]);
    if (!there.has(l)) lost += Math.abs(sums.self[l]);
  }
  return { nodes: all.length - list.length, of: all.length, share: sum > 0 ? lost / sum : 0, edges: dropped.count, edge: dropped.most / whole };
}

// edgesOf walks the tree depth first: each stack counts an edge once, at its
// outermost call.
function edgesOf(t, g) {
  const fields = edgeSums(t), columns = fields.map((k) => t[k]);
  const edges = new Map(), open = new Map(), path = [], stack = [0];
  const nearest = new Int32Array(t.n).fill(-1), direct = new Uint8Array(t.n);
  while (stack.length > 0) {
    const node = stack.pop();
    while (path.length > 0 && path[path.length - 1].depth >= t.depth[node]) {
      const { key } = path.pop();
      open.set(key, open.get(key) - 1);
    }
    if (node > 0) {
      const p = t.parent[node], to = g.number(node);
      nearest[node] = to === undefined ? nearest[p] : to;
      direct[node] = to === undefined ? 0 : 1;
      if (to !== undefined && nearest[p] >= 0) {
        const from = nearest[p], key = from * 65536 + to;
        let e = edges.get(key);
        if (!e) edges.set(key, (e = { from, to, residual: true, sums: new Float64Array(columns.length) }));
        if (direct[p] && columns.some((c) => c[node] !== 0)) e.residual = false;
        if (!open.get(key)) for (let k = 0; k < columns.length; k++) e.sums[k] += columns[k][node];
        open.set(key, (open.get(key) || 0) + 1);
        path.push({ key, depth: t.depth[node] });
      }
    }
    for (let k = t.from[node + 1] - 1; k >= t.from[node]; k--) stack.push(t.list[k]);
  }
  for (const e of edges.values()) fields.forEach((k, i) => { e[k] = e.sums[i]; });
  const { kept, dropped } = trimmedEdges([...edges.values()], t.baseScale, g.o.edges * (Math.abs(t.total[0]) || 1));
  return { edges: kept, lost: lostOf(t, g, dropped) };
}

// trimmedEdges leaves light edges out, but for the heaviest into a node.
function trimmedEdges(edges, baseScale, least) {
  const weight = (e) => Math.max(Math.abs(e.total), Math.abs(e.base * baseScale));
  const best = new Map(), dropped = { count: 0, most: 0 };
  for (const e of edges) if (e.from !== e.to && (!best.has(e.to) || weight(e) > weight(best.get(e.to)))) best.set(e.to, e);
  const kept = edges.filter((e) => {
    if (weight(e) === 0) return false;
    if (weight(e) >= least || best.get(e.to) === e) return true;
    dropped.count++;
    dropped.most = Math.max(dropped.most, weight(e));
    return false;
  });
  kept.sort((a, b) => weight(b) - weight(a) || a.from - b.from || a.to - b.to);
  return { kept, dropped };
}

// around lists the direct callers and callees of a label in a tree, with what
// each edge weighs: [{label, total, base, variance, collected, events}]. Calls of
// itself count once for each stack, at the outermost.
export function around(t, label) {
  const callers = new Map(), callees = new Map(), fields = edgeSums(t);
  const add = (map, other, node) => {
    let e = map.get(other);
    if (!e) map.set(other, (e = { label: other, ...Object.fromEntries(fields.map((k) => [k, 0])) }));
    for (const k of fields) e[k] += t[k][node];
  };
  const inside = new Uint8Array(t.n);
  for (let i = 1; i < t.n; i++) {
    const p = t.parent[i];
    inside[i] = inside[p] || t.label[i] === label ? 1 : 0;
    if (t.label[i] === label && !inside[p]) add(callers, p === 0 ? -1 : t.label[p], i);
    // A callee that a callee of the same name has called again is in that one.
    if (p > 0 && t.label[p] === label && !nested(t, p, label, t.label[i])) add(callees, t.label[i], i);
  }
  const order = (map) => [...map.values()].sort((a, b) => Math.abs(b.total) - Math.abs(a.total) || a.label - b.label);
  return { callers: order(callers), callees: order(callees) };
}

// nested reports whether the same call stands on the stack above a node already.
function nested(t, node, from, to) {
  for (let n = node; t.parent[n] > 0; n = t.parent[n]) if (t.label[n] === to && t.label[t.parent[n]] === from) return true;
  return false;
}
