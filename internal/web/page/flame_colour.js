// Colours of the flame graph: by package, by what the time is spent on, or by
// what has changed.
import { groups } from "./flame_model.js";
import { isDark } from "./theme.js";

// Hues that people of every kind of colour vision tell apart best (after Okabe
// and Ito), with the lightness chosen for dark text in light and light text in
// dark.
const groupHue = { app: [215, 12], runtime: [0, 0], alloc: [38, 85], fill: [52, 75], assist: [330, 45], gc: [205, 65], churn: [18, 80], retention: [275, 35] };

export const groupTitle = {
  app: "application", runtime: "runtime, other", alloc: "malloc", fill: "clearing, copying", assist: "mark assist", gc: "collector", churn: "GC churn, attributed", retention: "GC retention, attributed",
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

// byPackage gives each label a colour of its package; the runtime and the
// standard library get greys of their own.
function byPackage(labels) {
  const made = new Map();
  return labels.list.map((l) => {
    const key = l.owner === "heaptrim" ? "\u0000" : l.pkg || l.text;
    let c = made.get(key);
    if (!c) {
      const h = hash(key);
      if (l.owner === "heaptrim") c = hsl(18, 80, 74, 34);
      else if (l.owner === "runtime") c = hsl(220, 8, 80, 32);
      else if (l.owner === "std") c = hsl(h % 360, 16, 82, 31);
      else c = hsl(h % 360, 55 + ((h >>> 9) % 20), 76 + ((h >>> 17) % 6), 30 + ((h >>> 17) % 6));
      made.set(key, c);
    }
    return c;
  });
}

export const groupColour = (g) => hsl(groupHue[g][0], groupHue[g][1], g === "app" ? 84 : 75, g === "app" ? 30 : 36);

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
  const colours = byPackage(t.labels);
  return (node) => (node === 0 ? hsl(220, 8, 86, 26) : colours[t.label[node]]);
}
