// The labels of the samples: what each value weighs, with ways to keep it, to
// leave it out, or to put it into the tree.
import { button, el, replace, select } from "./dom.js";
import { isCPU, meanSums, weigh } from "./flame_model.js";
import { allowedSets, filterFor, keyList, shownKey, shownValue } from "./labels.js";
import { percent } from "./format.js";
import { amount } from "./measure.js";
import { change } from "./state.js";
import { typed } from "./typed.js";

const firstValues = 12;

const keyFilters = [
  ["tagshow", "Keys shown", "Only labels whose key matches are listed here."],
  ["taghide", "Keys hidden", "Labels whose key matches are not listed here."],
];

// chain makes a choice of keys, one after another, as one value of the state.
function chain(name, label, keys) {
  const box = el("div", { class: "row chain" });
  let drawn = null;
  const draw = (chosen) => replace(box, [...chosen, ""].map((key, i) => {
    const free = keys.filter((k) => k === key || !chosen.includes(k));
    if (key === "" && free.length === 0) return null;
    return select(i === 0 ? label : "then", [["", i === 0 ? "no" : "–"], ...free.map((k) => [k, k])], key, (v) => change({ [name]: [...chosen.slice(0, i), ...(v ? [v] : []), ...chosen.slice(i + 1)].join(","), zoom: null, at: null }));
  }));
  return {
    node: box,
    show(text) {
      if (drawn === (text || "")) return;
      drawn = text || "";
      draw(keyList(text).filter((k) => keys.includes(k)));
    },
  };
}

// labelPanel makes the fold; show brings it in line with the state.
export function labelPanel(stacks) {
  const view = stacks.m.labels;
  const box = el("div", {}), keys = view.keys.filter((k) => !k.includes(",")); // a comma divides keys
  const root = chain("tagroot", "Label as outermost call", keys), leaf = chain("tagleaf", "Label as innermost call", keys);
  const fields = view.keys.length > 1 ? keyFilters.map((f) => typed(...f)) : [];
  let key = "", last = null;
  const node = el("details", { class: "filters labels", on: { toggle: () => node.open && last && draw(...last) } }, el("summary", {}, "Labels"), el("div", { class: "row" }, root.node, leaf.node, fields.map((f) => f.node)), box);
  const draw = (now, mode) => {
    const id = JSON.stringify([mode, now.tagfocus, now.tagignore, now.tagshow, now.taghide]);
    if (id === key) return;
    key = id;
    replace(box, breakdown(stacks, now, mode));
  };
  return {
    node,
    show(now, mode) {
      last = [now, mode];
      root.show(now.tagroot);
      leaf.show(now.tagleaf);
      for (const f of fields) f.show(now[f.name]);
      if (now.tagroot || now.tagleaf) node.open = true;
      if (node.open) draw(now, mode);
    },
  };
}

// sumOf adds up what the samples of some label sets weigh.
function sumOf(m, mode, takes) {
  const w = weigh(m, mode, false, takes), from = { total: "self", variance: "variance", collected: "collected", events: "events", ...Object.fromEntries([...mode.errors, ...(mode.mean ? meanSums : [])].map((k) => [k, k])) };
  return Object.fromEntries(Object.entries(from).map(([k, name]) => [k, w[name].reduce((s, x) => s + x, 0)]));
}

function breakdown(stacks, now, mode) {
  const { m } = stacks, view = m.labels, allowed = allowedSets(view, now) || (() => true);
  const all = sumOf(m, mode, allowed).total;
  const shown = shownKey(now);
  const parts = view.keys.map((name, k) => {
    if (!shown(name)) return null;
    const values = new Map();
    view.sets.forEach((set, at) => {
      if (!allowed(at)) return;
      for (const l of set) if (l.key === k) {
        if (!values.has(l.text)) values.set(l.text, { label: l, sets: new Set() });
        values.get(l.text).sets.add(at);
      }
    });
    const rows = [...values.values()].map((v) => ({ ...v, sum: sumOf(m, mode, (set) => v.sets.has(set)) })).filter((r) => r.sum.total !== 0).sort((a, b) => b.sum.total - a.sum.total);
    return rows.length === 0 ? null : keyTable(m, { name, mode, all, rows });
  });
  const lost = view.lost.find((x) => x.weight === (isCPU(mode) ? "cpu" : mode.id));
  return [parts.some(Boolean) ? parts : el("p", { class: "note" }, now.tagshow || now.taghide ? "No label with such a key." : "No sample of this weight has a label."),
    lost && lost.share > 0 ? el("p", { class: "note" }, `${percent(lost.share)} of this weight has labels that are not told apart: the heaviest ${view.sets.length - 1} sets are.`) : null];
}

function keyTable(m, { name, mode, all, rows }) {
  const act = (label, filter, r) => button(label, () => change({ [filter]: filterFor(m.labels, name, r.label), zoom: null, at: null }), { class: "link", "aria-label": `${label} ${name} ${shownValue(r.label)}` });
  const row = (r) => el("tr", { data: { label: r.label.text } }, el("td", { class: "name" }, shownValue(r.label)), el("td", { class: "num" }, amount(m, mode, r.sum)), el("td", { class: "num" }, percent(r.sum.total / all)), el("td", {}, act("focus", "tagfocus", r), " ", act("ignore", "tagignore", r)));
  const body = el("tbody", {}, rows.slice(0, firstValues).map(row));
  const more = rows.length > firstValues ? button(`Show ${rows.length - firstValues} more`, () => { body.append(...rows.slice(firstValues).map(row)); more.remove(); }, { class: "quiet" }) : null;
  return el("div", { class: "label-key" }, el("h3", {}, name), el("table", {}, el("caption", { class: "unseen" }, `Values of the label ${name}`),
    el("thead", {}, el("tr", {}, ["value", "weight", "share", ""].map((t, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "num" : "" }, t)))), body), more);
}
