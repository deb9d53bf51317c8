// The labels of the samples: what each value weighs, with ways to keep it, to
// leave it out, or to put it into the tree.
import { button, el, replace, select } from "./dom.js";
import { amount } from "./flame_text.js";
import { weigh } from "./flame_model.js";
import { allowedSets, filterFor, shownValue } from "./labels.js";
import { percent } from "./format.js";
import { change } from "./state.js";

const firstValues = 12;

// labelPanel makes the fold; show brings it in line with the state.
export function labelPanel(stacks) {
  const view = stacks.m.labels;
  const box = el("div", {});
  const where = (name, label) => select(label, [["", "no"], ...view.keys.map((k) => [k, k])], "", (v) => change({ [name]: v, zoom: null, at: null }));
  const root = where("tagroot", "Label as outermost call"), leaf = where("tagleaf", "Label as innermost call");
  let key = "", last = null;
  const node = el("details", { class: "filters labels", on: { toggle: () => node.open && last && draw(...last) } }, el("summary", {}, "Labels"), el("div", { class: "row" }, root, leaf), box);
  const draw = (now, mode) => {
    const id = JSON.stringify([mode.id, now.tagfocus, now.tagignore]);
    if (id === key) return;
    key = id;
    replace(box, breakdown(stacks, now, mode));
  };
  return {
    node,
    show(now, mode) {
      last = [now, mode];
      root.querySelector("select").value = now.tagroot || "";
      leaf.querySelector("select").value = now.tagleaf || "";
      if (now.tagroot || now.tagleaf) node.open = true;
      if (node.open) draw(now, mode);
    },
  };
}

// sumOf adds up what the samples of some label sets weigh.
function sumOf(m, mode, takes) {
  const w = weigh(m, mode, false, takes), out = { total: 0, variance: 0, collected: 0, events: 0 };
  for (let i = 0; i < m.n; i++) {
    out.total += w.self[i];
    out.variance += w.variance[i];
    out.collected += w.collected[i];
    out.events += w.events[i];
  }
  return out;
}

function breakdown(stacks, now, mode) {
  const { m } = stacks, view = m.labels, allowed = allowedSets(view, now) || (() => true);
  const all = sumOf(m, mode, allowed).total;
  const parts = view.keys.map((name, k) => {
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
  const lost = view.lost.find((x) => x.weight === (mode.kind === "cpu" ? "cpu" : mode.id));
  return [parts.some(Boolean) ? parts : el("p", { class: "note" }, "No sample of this weight has a label."),
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
