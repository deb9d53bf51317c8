// Colours of the flame graph: by package, by what the time is spent on, or by
// what has changed.
import { groups } from "./flame_model.js";
import { color, isDark } from "./theme.js";

// Groups have the overview's colours.
const groupVar = { app: "app", runtime: "flame-rest", alloc: "alloc", fill: "fill", stack: "stack", gc: "gc", churn: "gc", retention: "gc" };

export const groupTitle = {
  app: "application", runtime: "scheduler, other", alloc: "allocating", fill: "clearing and copying", stack: "stacks and pages", gc: "collecting", churn: "collecting", retention: "collecting",
};

function hsl(h, s, light, dark) {
  return `hsl(${h} ${s}% ${isDark() ? dark : light}%)`;
}

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 15), 2246822519);
  return (h ^ (h >>> 13)) >>> 0;
}

// byPackage gives each label a colour of its package. Standard library and runtime have
// greys; what the runtime does for memory has the colour of its group.
function byPackage(t) {
  const made = new Map(), byGroup = groups.map(groupColour);
  const colours = t.labels.list.map((l) => {
    if (l.owner === "heaptrim" || l.owner === "runtime") return null;
    const key = l.pkg || l.text;
    let c = made.get(key);
    if (!c) {
      const h = hash(key);
      c = l.owner === "std" ? hsl(h % 360, 16, 82, 31) : hsl(h % 360, 55 + ((h >>> 9) % 20), 76 + ((h >>> 17) % 6), 30 + ((h >>> 17) % 6));
      made.set(key, c);
    }
    return c;
  });
  const rest = hsl(220, 8, 86, 26);
  const runtime = (node) => (t.labels.list[t.label[node]].owner === "runtime" || t.from[node] === t.from[node + 1]) && isMemory(groups[t.group[node]]); // a run is heaptrim's own frame with calls
  return (node) => (node === 0 ? rest : colours[t.label[node]] || (runtime(node) ? byGroup[t.group[node]] : rest));
}

// isMemory reports whether a group is part of memory management.
export const isMemory = (g) => g !== "app" && g !== "runtime";

export const groupColour = (g) => color(groupVar[g]);

// Blue is less and orange is more: both can be told apart without seeing red or
// green, and from grey by their saturation.
const steps = 8;

function byDifference(t) {
  const scale = differenceScale();
  return (node) => scale[steps + Math.round(steps * changeOf(t, node))];
}

function differenceScale() {
  const scale = [];
  for (let i = -steps; i <= steps; i++) {
    const k = Math.abs(i) / steps;
    scale.push(i === 0 ? hsl(0, 0, 88, 28) : hsl(i < 0 ? 211 : 28, 35 + 60 * k, 88 - 28 * k, 28 + 14 * k));
  }
  return scale;
}

// changeColour is the colour of a weight that has changed.
export function changeColour(total, base) {
  return differenceScale()[steps + Math.round(steps * relative(total, base))];
}

// changeOf is the change of a node's weight from -1, gone, over 0, the same, to
// 1, new; a doubling is 0.5.
function changeOf(t, node) {
  return relative(t.total[node], t.base[node] * (t.baseScale || 1));
}

function relative(total, base) {
  const now = Math.max(0, total), then = Math.max(0, base);
  const most = Math.max(now, then);
  return most > 0 ? (now - then) / most : 0;
}

// painter returns the function from a node to its colour.
export function painter(t, by) {
  if (by === "change") return byDifference(t);
  if (by === "bucket") {
    const colours = groups.map(groupColour);
    return (node) => colours[t.group[node]];
  }
  return byPackage(t);
}
