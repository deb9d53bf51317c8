// The call tree as it comes in the data, and the ways to weigh it.

const cpuUnit = 1e-7; // shares of CPU are counted in this

// A mode says which columns make up the weight of a call. kind decides the
// unit: cpu is a share of CPU, bytes and count are amounts.
export const modes = [
  { id: "cost", label: "Cost: CPU + attributed GC", word: "cost", kind: "cpu", cpu: (b) => !b.collector && !b.idle, heap: ["churn", "retention", "remainder"] },
  { id: "memory", label: "Memory management only", word: "memory management", kind: "cpu", cpu: (b) => b.memory && !b.collector && !b.idle, heap: ["churn", "retention", "remainder"] },
  { id: "cpu", label: "CPU only", word: "CPU only", kind: "cpu", cpu: () => true, heap: [] },
  { id: "alloc_space", label: "Allocated bytes", word: "alloc_space", kind: "bytes", heap: ["alloc_space"] },
  { id: "alloc_objects", label: "Allocated objects", word: "alloc_objects", kind: "count", heap: ["alloc_objects"] },
  { id: "inuse_space", label: "Bytes in use", word: "inuse_space", kind: "bytes", heap: ["inuse_space"] },
  { id: "inuse_objects", label: "Objects in use", word: "inuse_objects", kind: "count", heap: ["inuse_objects"] },
  { id: "churn", label: "GC churn", word: "churn", kind: "cpu", heap: ["churn"] },
  { id: "retention", label: "GC retention", word: "retention", kind: "cpu", heap: ["retention"] },
];

const heapCPU = new Set(["churn", "retention", "remainder"]);

// Groups of buckets, for colours.
export const groups = ["app", "runtime", "alloc", "fill", "stack", "gc", "churn", "retention"];

const groupOfBucket = {
  "application": "app", "scheduler, timers, netpoll": "runtime", "scheduler, in no sample": "runtime", "application, in no sample": "app", "profiling itself": "runtime", "not classified": "runtime",
  "stack growth": "stack", "goroutine stacks": "stack", "page faults": "stack", "NUMA balancing": "stack", "huge pages": "stack", "malloc": "alloc", "heap profiler": "alloc",
  "zeroing": "fill", "growslice copying": "fill", "conversion copying": "fill",
};

// addressesOf lists the addresses of the places that frames stand at, by number,
// in hexadecimal digits.
function addressesOf(code) {
  const out = [""];
  for (const f of code ? code.functions : []) {
    let at = BigInt(`0x${f.first}`);
    for (const step of f.step) out.push((at += BigInt(step)).toString(16));
  }
  return out;
}

// decode turns the view's data, and those of the machine code if there are any,
// into typed arrays.
export function decode(v, code) {
  const n = v.parent.length;
  const parent = new Int32Array(n);
  for (let i = 1; i < n; i++) parent[i] = i - v.parent[i];
  const bucket = new Map(v.buckets.map((b) => [b.name, b]));
  const columns = v.weights.map((c) => {
    const at = new Int32Array(c.at.length);
    let last = 0;
    for (let i = 0; i < at.length; i++) at[i] = last += c.at[i];
    const unit = c.cpu || heapCPU.has(c.name) ? cpuUnit : 1;
    const values = Float64Array.from(c.v, (x) => x * unit);
    const group = c.cpu ? groupOfBucket[c.name] || "gc" : c.name === "retention" ? "retention" : "churn";
    return { name: c.name, cpu: c.cpu, base: Boolean(c.base), set: c.set || 0, bucket: c.cpu ? bucket.get(c.name) : null, group: groups.indexOf(group), at, values };
  });
  const inlined = new Uint8Array(n);
  let node = 0;
  for (const step of v.inlined) inlined[(node += step)] = 1;
  const m = { n, parent, inlined, frame: Int32Array.from(v.frame), frames: v.frames, functions: v.functions, files: v.files, columns, runs: v.runs, exact: v.exact, hasBase: Boolean(v.base), trim: v.trim, labels: v.labels || null, addresses: v.frames.place ? addressesOf(code) : [] };
  m.runOf = runsOf(m, false);
  m.runOfBase = m.hasBase ? runsOf(m, true) : null;
  m.errors = errorSums.slice(0, Math.max(1, m.ownRuns.length, m.hasBase ? m.baseRuns.length : 0));
  return m;
}

// runsOf says for each node which run it belongs to: the only one, or the one
// whose node below the root it stands under.
function runsOf(m, base) {
  const runs = m.runs.filter((r) => Boolean(r.base) === base);
  const out = new Int16Array(m.n).fill(runs.length === 1 ? 0 : -1);
  const byName = new Map(runs.map((r, i) => [r.name, i]));
  for (let i = 1; i < m.n; i++) {
    if (m.parent[i] !== 0) out[i] = out[m.parent[i]];
    else {
      const own = byName.get(functionOf(m, i));
      if (own !== undefined && m.functions.owner[m.frames.function[m.frame[i]]] === "heaptrim") out[i] = own;
      else if (runs.length > 1) out[i] = -1;
    }
  }
  m[base ? "baseRuns" : "ownRuns"] = runs;
  return out;
}

// functionOf is the name of a node's function.
function functionOf(m, node) {
  return m.functions.name[m.frames.function[m.frame[node]]];
}

// available lists the modes that there are data for.
export function available(m) {
  return modes.filter((mode) => m.columns.some((c) => !c.base && takes(mode, c)));
}

function takes(mode, c) {
  return c.cpu ? Boolean(mode.cpu && mode.cpu(c.bucket)) : mode.heap.includes(c.name);
}

// isCPU reports whether a mode weighs time of the processor, as shares or as it is.
export const isCPU = (mode) => mode.kind === "cpu" || mode.kind === "time";

// errorSums are by how much the collector's own error moves what is attributed of
// it: one for each run, as runs err independently of each other, and within a run all
// sums the same way. More runs than this share them.
export const errorSums = ["error0", "error1", "error2", "error3", "error4", "error5", "error6", "error7"];

// weigh adds up the columns of a measured mode for each node: value itself;
// variance of what was sampled as CPU; churn and retention with their events and
// errorSums; bytes' events; and by group, for the colours. A mode of kind time is in nanoseconds, of all
// runs together. With takes, only samples of the label sets that it says yes to
// count.
export function weigh(m, mode, base, takesSet) {
  const w = {
    self: new Float64Array(m.n), variance: new Float64Array(m.n), collected: new Float64Array(m.n), events: new Float64Array(m.n),
    byGroup: groups.map(() => null), negative: 0,
  };
  for (const k of mode.errors) w[k] = new Float64Array(m.n);
  const runs = base ? m.baseRuns : m.ownRuns, runOf = base ? m.runOfBase : m.runOf;
  const inUse = mode.id === "retention" || mode.id.startsWith("inuse"), scale = mode.kind === "time" ? nanoseconds(runs) : null;
  for (const c of m.columns) {
    if (c.base !== base || (takesSet && !takesSet(c.set))) continue;
    if (c.name === (inUse ? "inuse_samples" : "alloc_samples")) for (let i = 0; i < c.at.length; i++) w.events[c.at[i]] += c.values[i];
    if (!takes(mode, c)) continue;
    const byGroup = w.byGroup[c.group] || (w.byGroup[c.group] = new Float64Array(m.n));
    for (let i = 0; i < c.at.length; i++) {
      const at = c.at[i], run = runOf[at], factor = scale ? scale(run) : 1, x = c.values[i] * factor;
      if (x < 0 && mode.id !== "retention") w.negative += x;
      w.self[at] += x;
      byGroup[at] += Math.abs(x);
      if (c.cpu) w.variance[at] += x * factor * (run >= 0 ? runs[run].sample : meanSample(runs));
      else if (isCPU(mode)) {
        w.collected[at] += x;
        w[mode.errors[Math.max(run, 0) % mode.errors.length]][at] += x * errorOf(runs, run);
      }
    }
  }
  if (mode.mean && !base) addMeans(m, mode, w, takesSet);
  return w;
}

// meanSums are what the mean of an object and its interval need beside the bytes:
// the objects, and over what n samples have found, b bytes in o objects, the sums
// of b²/n, bo/n and o²/n.
export const meanSums = ["objects", "squares", "products", "objectSquares"];

// addMeans adds up meanSums. Samples of one stack and one set of labels, which
// have the size of the block, stand together.
function addMeans(m, mode, w, takesSet) {
  for (const k of meanSums) w[k] = new Float64Array(m.n);
  const own = m.columns.filter((c) => !c.base && (!takesSet || takesSet(c.set)));
  const objects = new Float64Array(m.n), events = new Float64Array(m.n);
  for (const c of own.filter((x) => x.name === mode.id)) {
    const beside = (name) => own.find((x) => x.name === name && x.set === c.set) || { at: [], values: [] };
    const columns = [[beside(mode.mean), objects], [beside(mode.id.startsWith("inuse") ? "inuse_samples" : "alloc_samples"), events]];
    for (const [x, into] of columns) for (let i = 0; i < x.at.length; i++) into[hostOf(m, x.at[i])] += x.values[i];
    const spread = spreadOf(m, c.set);
    for (let i = 0; i < c.at.length; i++) {
      const at = c.at[i], b = c.values[i], o = objects[at], n = Math.max(events[at], 1);
      w.objects[at] += o;
      w.squares[at] += (b * b + o * o * spread) / n;
      w.products[at] += (b * o) / n;
      w.objectSquares[at] += (o * o) / n;
    }
    for (const [x, into] of columns) for (let i = 0; i < x.at.length; i++) into[hostOf(m, x.at[i])] = 0;
  }
}

// hostOf is the call that a node of the collector's stands under; others are
// their own.
function hostOf(m, node) {
  return m.functions.owner[m.frames.function[m.frame[node]]] === "heaptrim" && m.parent[node] !== 0 ? m.parent[node] : node;
}

// spreadOf is the variance of the sizes in a set of labels that gathers a range
// of them, if they lie evenly in it.
function spreadOf(m, set) {
  const size = m.labels && (m.labels.sets[set] || []).find((l) => m.labels.keys[l.key] === "bytes" && l.low !== undefined);
  return size ? (size.high - size.low) ** 2 / 12 : 0;
}

// nanoseconds returns how long all CPU of a run took that shares are parts of.
// Runs weigh the same as shares: each is a part of its own CPU, divided by their
// number.
function nanoseconds(runs) {
  const all = runs.filter((r) => r.cpu_ns > 0), mean = cpuTime(runs) / Math.max(1, all.length);
  return (run) => (run >= 0 ? runs[run].cpu_ns : mean) * all.length;
}

// cpuTime is the CPU of all runs in nanoseconds.
export function cpuTime(runs) {
  return runs.reduce((s, r) => s + r.cpu_ns, 0);
}

// errorOf is the relative error of the collector's CPU in a run, the largest where
// it is not known which.
function errorOf(runs, run) {
  return run >= 0 ? runs[run].collector_error : Math.max(0, ...runs.map((r) => r.collector_error));
}

function meanSample(runs) {
  return runs.reduce((s, r) => s + r.sample, 0) / Math.max(1, runs.length);
}

// halfWidth is half the 95 % interval of a sum: counts of CPU samples, the
// collector's own error on what is attributed, and the sampling of the heap. A
// share of all CPU cannot be off by more than what is left of it.
export function halfWidth(m, mode, sum) {
  const relative = isExact(m, mode) ? 0 : sum.events > 0 ? 1.96 / Math.sqrt(sum.events) : 1;
  if (mode.kind === "time") {
    const all = cpuTime(m.ownRuns);
    const errors = Object.fromEntries(mode.errors.map((k) => [k, (sum[k] || 0) / all]));
    return all * halfWidth(m, { ...mode, kind: "cpu" }, { total: sum.total / all, variance: sum.variance / all ** 2, collected: sum.collected / all, events: sum.events, ...errors });
  }
  if (mode.kind !== "cpu") return Math.abs(sum.total) * relative;
  const half = Math.hypot(1.96 * Math.sqrt(Math.max(0, sum.variance)), sum.collected * relative, ...mode.errors.map((k) => sum[k] || 0));
  const left = Math.min(1, Math.max(0, 1 - sum.total));
  return left < 1e-4 ? 0 : half * Math.sqrt(left);
}

// isExact reports whether bytes and objects of a mode have no sampling error.
export function isExact(m, mode) {
  return m.exact && !mode.id.startsWith("inuse");
}

// meanOf is the mean of an object in a sum of a mode that has one, with half its
// 95 % interval: that of a ratio of two sums over the same samples.
export function meanOf(m, mode, sum) {
  if (!(sum.objects > 0)) return { value: 0, half: 0 };
  const value = sum.total / sum.objects, variance = (sum.squares || 0) - 2 * value * (sum.products || 0) + value * value * (sum.objectSquares || 0);
  if (isExact(m, mode) || variance < 1e-9 * sum.squares) return { value, half: 0 }; // all of one size, but for rounding
  return { value, half: (1.96 * Math.sqrt(variance)) / sum.objects };
}
