// Layered layout of a directed graph (Sugiyama's steps): edges that close a
// circle are turned round, nodes get ranks, long edges get bends, ranks are put
// in an order with few crossings, and places along them are found by least
// squares.

const gapX = 26, gapY = 56, bendWidth = 14, sweeps = 24;

// layout places nodes {w, h} and edges {from, to, weight}: it returns {width,
// height, nodes: [{x, y}] (centres), edges: [{points, turned}]}, the points from
// the lower end of the caller to the upper end of the callee. Edges of a node to
// itself get no points.
export function layout(nodes, edges) {
  const turned = turn(nodes.length, edges);
  const down = edges.map((e, i) => (turned[i] ? { from: e.to, to: e.from, weight: e.weight } : { from: e.from, to: e.to, weight: e.weight }));
  const rank = ranks(nodes.length, down);
  const g = withBends(nodes, down, rank);
  const order = crossings(g);
  const x = places(g, order);
  return drawn(nodes, edges, { g, order, x, turned });
}

// turn marks the edges that would close a circle, lighter ones first.
function turn(n, edges) {
  const out = Array.from({ length: n }, () => []), turned = new Array(edges.length).fill(false);
  const reaches = (from, to) => {
    const seen = new Uint8Array(n), todo = [from];
    while (todo.length > 0) {
      const a = todo.pop();
      if (a === to) return true;
      if (seen[a]) continue;
      seen[a] = 1;
      todo.push(...out[a]);
    }
    return false;
  };
  const byWeight = edges.map((_, i) => i).sort((a, b) => edges[b].weight - edges[a].weight || a - b);
  for (const i of byWeight) {
    const { from, to } = edges[i];
    if (from === to) continue;
    turned[i] = reaches(to, from);
    if (turned[i]) out[to].push(from);
    else out[from].push(to);
  }
  return turned;
}

// ranks gives each node the lowest rank below its callers, and then moves nodes
// to where their edges are shortest.
function ranks(n, edges) {
  const real = edges.filter((e) => e.from !== e.to), ins = lists(n, real, "to"), outs = lists(n, real, "from");
  const rank = new Int32Array(n), left = ins.map((l) => l.length), todo = [];
  left.forEach((k, i) => k === 0 && todo.push(i));
  for (let k = 0; k < todo.length; k++) {
    for (const e of outs[todo[k]]) {
      rank[e.to] = Math.max(rank[e.to], rank[e.from] + 1);
      if (--left[e.to] === 0) todo.push(e.to);
    }
  }
  for (let round = 0; round < 8; round++) {
    for (const i of round % 2 ? todo : todo.slice().reverse()) {
      const low = Math.max(0, ...ins[i].map((e) => rank[e.from] + 1));
      const high = Math.min(...outs[i].map((e) => rank[e.to] - 1));
      if (!Number.isFinite(high)) continue;
      const pull = outs[i].reduce((s, e) => s + e.weight, 0) - ins[i].reduce((s, e) => s + e.weight, 0);
      rank[i] = pull > 0 || ins[i].length === 0 ? Math.max(low, high) : low;
    }
  }
  const least = Math.min(...rank);
  return rank.map((r) => r - least);
}

function lists(n, edges, end) {
  const out = Array.from({ length: n }, () => []);
  for (const e of edges) out[e[end]].push(e);
  return out;
}

// withBends puts a bend into every rank that an edge passes.
function withBends(nodes, edges, rank) {
  const items = nodes.map((v, i) => ({ w: v.w, h: v.h, rank: rank[i], bend: false, up: [], down: [] }));
  const chains = edges.map((e) => {
    if (e.from === e.to) return [];
    const chain = [e.from];
    for (let r = rank[e.from] + 1; r < rank[e.to]; r++) chain.push(items.push({ w: bendWidth, h: 0, rank: r, bend: true, up: [], down: [] }) - 1);
    chain.push(e.to);
    for (let k = 1; k < chain.length; k++) {
      items[chain[k - 1]].down.push({ to: chain[k], weight: e.weight });
      items[chain[k]].up.push({ to: chain[k - 1], weight: e.weight });
    }
    return chain;
  });
  const rows = Array.from({ length: Math.max(0, ...items.map((v) => v.rank)) + 1 }, () => []);
  items.forEach((v, i) => rows[v.rank].push(i));
  return { items, chains, rows };
}

// crossings orders the ranks by the middle of each node's neighbours, down and
// up in turn, and keeps the best order.
function crossings(g) {
  let rows = g.rows.map((r) => r.slice());
  let best = rows.map((r) => r.slice()), least = count(g, rows);
  const at = new Float64Array(g.items.length);
  const number = () => rows.forEach((r) => r.forEach((i, k) => { at[i] = r.length > 1 ? k / (r.length - 1) : 0.5; }));
  for (let s = 0; s < sweeps && least > 0; s++) {
    number();
    const downwards = s % 2 === 0;
    const list = downwards ? rows.map((_, k) => k).slice(1) : rows.map((_, k) => k).slice(0, -1).reverse();
    for (const k of list) {
      const middle = new Map(rows[k].map((i) => [i, centre(downwards ? g.items[i].up : g.items[i].down, at, at[i])]));
      rows[k].sort((a, b) => middle.get(a) - middle.get(b) || at[a] - at[b]);
      rows[k].forEach((i, n) => { at[i] = rows[k].length > 1 ? n / (rows[k].length - 1) : 0.5; });
    }
    const now = count(g, rows);
    if (now < least) [best, least] = [rows.map((r) => r.slice()), now];
  }
  return best;
}

function centre(list, at, self) {
  let sum = 0, weight = 0;
  for (const { to, weight: w } of list) {
    sum += at[to] * (w + 1e-9);
    weight += w + 1e-9;
  }
  return weight > 0 ? sum / weight : self;
}

// count is the number of crossings between neighbouring ranks.
function count(g, rows) {
  let sum = 0;
  for (let k = 0; k + 1 < rows.length; k++) {
    const below = new Map(rows[k + 1].map((i, n) => [i, n]));
    const ends = rows[k].flatMap((i) => g.items[i].down.map((e) => below.get(e.to)).sort((a, b) => a - b));
    for (let a = 0; a < ends.length; a++) for (let b = a + 1; b < ends.length; b++) if (ends[a] > ends[b]) sum++;
  }
  return sum;
}

// places finds the centres along the ranks: each wants to stand in the middle of
// its neighbours, and none may overlap. For a rank at a time that is a problem of
// least squares in a given order, which pooling neighbours solves.
function places(g, rows) {
  const x = new Float64Array(g.items.length);
  for (const row of rows) {
    let at = 0;
    for (const i of row) {
      x[i] = at + g.items[i].w / 2;
      at += g.items[i].w + gapX;
    }
    for (const i of row) x[i] -= at / 2;
  }
  for (let s = 0; s < sweeps; s++) {
    const downwards = s % 2 === 0, both = s >= sweeps - 6;
    for (const row of downwards ? rows : rows.slice().reverse()) {
      const want = row.map((i) => {
        const v = g.items[i], near = both ? [...v.up, ...v.down] : downwards ? v.up : v.down;
        return { at: centre(near, x, x[i]), pull: near.length === 0 ? 0.05 : v.bend ? 2 : 1 };
      });
      spread(g, row, want, x);
    }
  }
  return x;
}

function spread(g, row, want, x) {
  const offset = new Float64Array(row.length), blocks = [];
  for (let k = 1; k < row.length; k++) offset[k] = offset[k - 1] + (g.items[row[k - 1]].w + g.items[row[k]].w) / 2 + gapX;
  want.forEach((v, k) => {
    let block = { sum: (v.at - offset[k]) * v.pull, pull: v.pull, n: 1 };
    while (blocks.length > 0 && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].pull > block.sum / block.pull) {
      const last = blocks.pop();
      block = { sum: last.sum + block.sum, pull: last.pull + block.pull, n: last.n + block.n };
    }
    blocks.push(block);
  });
  let k = 0;
  for (const b of blocks) for (let n = 0; n < b.n; n++, k++) x[row[k]] = b.sum / b.pull + offset[k];
}

// drawn turns ranks and places into points.
function drawn(nodes, edges, { g, order, x, turned }) {
  const heights = order.map((row) => Math.max(20, ...row.map((i) => g.items[i].h))), top = [];
  let y = 0;
  for (const h of heights) {
    top.push(y + h / 2);
    y += h + gapY;
  }
  const left = Math.min(...g.items.map((v, i) => x[i] - v.w / 2)), right = Math.max(...g.items.map((v, i) => x[i] + v.w / 2));
  const at = (i) => ({ x: x[i] - left, y: top[g.items[i].rank] });
  return {
    width: nodes.length > 0 ? right - left : 0, height: Math.max(0, y - gapY), nodes: nodes.map((_, i) => at(i)),
    edges: edges.map((e, i) => {
      const points = g.chains[i].map((k) => at(k));
      if (points.length > 1) {
        points[0].y += g.items[g.chains[i][0]].h / 2;
        points[points.length - 1].y -= g.items[g.chains[i][g.chains[i].length - 1]].h / 2;
      }
      return { points: turned[i] ? points.reverse() : points, turned: turned[i] };
    }),
  };
}
