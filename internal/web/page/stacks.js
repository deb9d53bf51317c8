// The call tree of the data and what the state makes of it, one for all views
// that show stacks.
import { available, decode } from "./flame_model.js";
import { compile, labelsOf, passing } from "./flame_filter.js";
import { callers, ordered, project, sumAt } from "./flame_project.js";
import { allowedSets } from "./labels.js";
import { allOf, measured } from "./measure.js";

const expressions = ["focus", "ignore", "hide", "show", "from", "prune"];
const filterNames = [...expressions, "tagfocus", "tagignore", "tagroot", "tagleaf", "inline", "grew"];
const measureNames = ["unit", "div", "mean", "rel"];

const made = new WeakMap();

// stacksOf returns the stacks of the data.
export function stacksOf(data) {
  if (!made.has(data)) made.set(data, new Stacks(data.views));
  return made.get(data);
}

class Stacks {
  constructor({ flame, code }) {
    this.m = decode(flame, code);
    this.modes = available(this.m);
    this.labels = new Map();
    this.kept = [];
  }

  // labelsFor numbers what frames are called at a level of detail.
  labelsFor(detail) {
    if (!this.labels.has(detail)) this.labels.set(detail, labelsOf(this.m, detail));
    return this.labels.get(detail);
  }

  // at returns what a state shows, the same value for the same state:
  // {mode, detail, compare, tree, up, whole, pivotName, groups, spared}. Tree is
  // that of the pivot, where the state has one and pivots is not false, and up
  // that of its callers.
  at(now, pivots) {
    const mode = measured(this.m, this.modes.find((x) => x.id === now.weight) || this.modes[0], now), detail = now.detail || "function";
    const pivot = pivots === false ? undefined : now.pivot;
    const key = JSON.stringify([mode.id, detail, now.compare, pivot, ...[...filterNames, ...measureNames].map((f) => now[f])]);
    const have = this.kept.find((x) => x.key === key);
    if (have) return have;
    const shown = this.build(now, { mode, detail, pivot });
    shown.key = key;
    this.kept = [shown, ...this.kept].slice(0, 2);
    return shown;
  }

  // only returns what weigh needs to count the samples that a state's filters let
  // through: {takes, passes}, null for all of them; and a key of these filters.
  only(now) {
    const names = ["focus", "ignore", "tagfocus", "tagignore"], key = JSON.stringify(names.map((f) => now[f]));
    return { key, any: names.some((f) => now[f]), takes: allowedSets(this.m.labels, now), passes: passing(this.m, { focus: compile(now.focus).re ? now.focus : "", ignore: compile(now.ignore).re ? now.ignore : "" }) };
  }

  build(now, { mode, detail, pivot }) {
    const labels = this.labelsFor(detail), options = { mode, detail, view: this.m.labels, allowed: allowedSets(this.m.labels, now), tagroot: now.tagroot, tagleaf: now.tagleaf, inline: now.inline };
    for (const f of expressions) options[f] = compile(now[f]).re ? now[f] : "";
    const number = pivot === undefined ? -1 : labels.list.findIndex((l) => l.text === pivot);
    const whole = project(this.m, labels, options);
    const out = { mode, detail, compare: this.m.hasBase && now.compare !== "off" && !mode.mean, grew: Boolean(now.grew), pivotName: number >= 0 ? pivot : "", spared: 0 };
    out.whole = { total: whole.total[0], sum: sumAt(whole, 0) };
    out.tree = number >= 0 ? project(this.m, labels, { ...options, pivot: number }) : whole;
    out.up = number >= 0 ? callers(whole, number) : null;
    const scale = now.compare === "amounts" || mode.kind === "cpu" || !(whole.base[0] > 0) ? 1 : whole.total[0] / whole.base[0];
    Object.assign(mode, { all: allOf(this.m, mode), whole: whole.total[0] });
    for (const t of [out.tree, out.up]) if (t) ordered(t, widths(t, scale, out));
    out.groups = new Set(out.tree.group);
    for (let i = 1; i < out.tree.n; i++) out.spared -= Math.min(0, out.tree.self[i]);
    return out;
  }
}

function widths(t, scale, { compare, grew }) {
  t.baseScale = scale;
  if (!compare) return t.total;
  return Float64Array.from(t.total, (x, i) => (grew && i > 0 && fell(t, i) ? 0 : (Math.max(0, x) + Math.max(0, t.base[i] * scale)) / 2));
}

// fell reports whether a node has become less than in the base.
const fell = (t, i) => t.total[i] < t.base[i] * t.baseScale;

// listed returns the function from a label to whether a table or a graph has it:
// with any weight, and, where only that is wanted, grown since the base. sums are
// those of byLabel, least the smallest weight.
export function listed(shown, sums, least) {
  const { compare, grew } = shown, scale = shown.tree.baseScale;
  return (l) => (Math.abs(sums.total[l]) > least || (compare && Math.abs(sums.base[l]) > least)) && !(compare && grew && sums.total[l] < sums.base[l] * scale);
}

// isCode reports whether a label stands for code, and not for what heaptrim or a
// label of the samples has put on the stack.
export const isCode = (l) => Boolean(l) && l.owner !== "heaptrim" && l.owner !== "label";

// resetPatch takes all filters and choices away, as the state has them.
export const resetPatch = () => Object.fromEntries(["zoom", "at", "q", "pivot", "node", "box", "cam", "detail", "tagshow", "taghide", ...filterNames, ...measureNames].map((k) => [k, null]));
