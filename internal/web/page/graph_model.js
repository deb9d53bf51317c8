// From the tree of stacks to the graph of who calls whom: one node for each
// label, one edge for each pair, and what was left out.
import { byLabel } from "./flame_project.js";

const edgeFraction = 0.001; // lighter edges are left out, but for the heaviest into a node

// callGraph returns {nodes, sums, edges, lost}: the nodes that weigh most, {label};
// the weights of byLabel; edges {from, to, total, base, residual} between indices
// of nodes, residual meaning that all of it leads over functions that are
// not drawn. o: {count, fraction, keep}: how many nodes, the least share of the
// whole of a node, and a label that must be there, -1 for none.
export function callGraph(t, o) {
  const sums = byLabel(t), whole = Math.abs(t.total[0]) || 1;
  const weight = (l) => Math.max(Math.abs(sums.total[l]), Math.abs(sums.base[l] * t.baseScale));
  const own = (l) => Math.abs(sums.self[l]);
  let list = t.labels.list.map((_, l) => l).filter((l) => weight(l) >= o.fraction * whole && weight(l) > 0);
  const there = t.labels.list.map((_, l) => l).filter((l) => sums.total[l] !== 0 || sums.base[l] !== 0).length;
  const heaviest = (by) => list.slice().sort((a, b) => by(b) - by(a) || a - b);
  if (list.length > o.count) {
    // Half by what they cost with their calls, which holds the drawing together,
    // and the rest by what they cost themselves.
    const chosen = new Set(heaviest(weight).slice(0, Math.ceil(o.count / 2)));
    for (const l of heaviest(own)) if (chosen.size < o.count) chosen.add(l);
    list = [...chosen];
  }
  if (o.keep >= 0 && !list.includes(o.keep)) list.push(o.keep);
  list.sort((a, b) => weight(b) - weight(a) || a - b);
  const number = new Map(list.map((l, i) => [l, i]));
  const { edges, dropped } = edgesOf(t, number, whole);
  let lost = 0, all = 0;
  for (let l = 0; l < t.labels.list.length; l++) {
    all += own(l);
    if (!number.has(l)) lost += own(l);
  }
  return { nodes: list.map((label) => ({ label })), sums, edges, lost: { nodes: there - list.length, of: there, share: all > 0 ? lost / all : 0, edges: dropped.count, edge: dropped.most / whole } };
}

// edgesOf walks the tree depth first: each stack counts an edge once, at its
// outermost call.
function edgesOf(t, number, whole) {
  const edges = new Map(), open = new Map(), path = [], stack = [0];
  const nearest = new Int32Array(t.n).fill(-1), direct = new Uint8Array(t.n);
  while (stack.length > 0) {
    const node = stack.pop();
    while (path.length > 0 && path[path.length - 1].depth >= t.depth[node]) {
      const { key } = path.pop();
      open.set(key, open.get(key) - 1);
    }
    if (node > 0) {
      const p = t.parent[node], to = number.get(t.label[node]);
      nearest[node] = to === undefined ? nearest[p] : to;
      direct[node] = to === undefined ? 0 : 1;
      if (to !== undefined && nearest[p] >= 0) {
        const from = nearest[p], key = from * 65536 + to;
        let e = edges.get(key);
        if (!e) edges.set(key, (e = { from, to, total: 0, base: 0, residual: true }));
        if (direct[p]) e.residual = false;
        if (!open.get(key)) {
          e.total += t.total[node];
          e.base += t.base[node];
        }
        open.set(key, (open.get(key) || 0) + 1);
        path.push({ key, depth: t.depth[node] });
      }
    }
    for (let k = t.from[node + 1] - 1; k >= t.from[node]; k--) stack.push(t.list[k]);
  }
  return trimmedEdges([...edges.values()], t.baseScale, whole);
}

function trimmedEdges(edges, baseScale, whole) {
  const weight = (e) => Math.max(Math.abs(e.total), Math.abs(e.base * baseScale));
  const best = new Map(), dropped = { count: 0, most: 0 };
  for (const e of edges) if (e.from !== e.to && (!best.has(e.to) || weight(e) > weight(best.get(e.to)))) best.set(e.to, e);
  const kept = edges.filter((e) => {
    if (weight(e) === 0) return false;
    if (weight(e) >= edgeFraction * whole || best.get(e.to) === e) return true;
    dropped.count++;
    dropped.most = Math.max(dropped.most, weight(e));
    return false;
  });
  kept.sort((a, b) => weight(b) - weight(a) || a.from - b.from || a.to - b.to);
  return { edges: kept, dropped };
}

// around lists the direct callers and callees of a label in a tree, with what
// each edge weighs: [{label, total, base, variance, collected, events}]. Calls of
// itself count once for each stack, at the outermost.
export function around(t, label) {
  const callers = new Map(), callees = new Map(), fields = ["total", "base", "variance", "collected", "events"];
  const add = (map, other, node) => {
    let e = map.get(other);
    if (!e) map.set(other, (e = { label: other, total: 0, base: 0, variance: 0, collected: 0, events: 0 }));
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
