// The functions: what each costs itself and with its calls, sorted as the reader
// likes, and of the chosen one who calls it and what it calls.
import { actKeys, acts, isFree } from "./acts.js";
import { button, el, replace } from "./dom.js";
import { trimNote } from "./flame.js";
import { compile } from "./flame_filter.js";
import { byLabel, sumAt } from "./flame_project.js";
import { changeText } from "./flame_text.js";
import { flameTools } from "./flame_tools.js";
import { percent, shortName } from "./format.js";
import { around } from "./graph_model.js";
import { amount, figures, measureNote, shareOf, short } from "./measure.js";
import { listed, resetPatch, stacksOf } from "./stacks.js";
import { change, state } from "./state.js";
import { term } from "./terms.js";

const page = 60, peeks = 10;

class Functions {
  constructor(data) {
    this.data = data;
    this.stacks = stacksOf(data);
    this.m = this.stacks.m;
    this.rows = page;
    this.tools = flameTools(this.stacks, { next: (step) => this.step(step), reset: () => change({ ...resetPatch(), sort: null }) }, ["colour", "shape", "panes"]);
    this.list = el("div", { class: "top" });
    this.peek = el("div", { class: "peek" });
    this.notes = el("p", { class: "note" });
    this.node = el("div", { class: "functions-view" }, this.tools.node, el("div", { class: "panes" }, this.list, this.peek), this.notes, trimNote(data.views.flame.trim));
    window.addEventListener("keydown", (e) => this.shortcut(e));
  }

  show(now) {
    const shown = this.stacks.at(now, false);
    if (shown !== this.shown) {
      this.shown = shown;
      this.sums = byLabel(shown.tree);
      this.rows = page;
    }
    this.chosen = now.node === undefined ? -1 : shown.tree.labels.list.findIndex((l) => l.text === now.node);
    this.tools.show(now, shown.mode, { colour: "none", groups: new Set() });
    this.order(now);
    this.draw();
    this.drawPeek(now);
    replace(this.notes, `In all ${amount(this.m, shown.mode, shown.whole.sum)}. `, measureNote(this.m, shown.mode));
  }

  // order sorts the functions that have any weight: name, or a column, largest
  // first.
  order(now) {
    const { sums, shown } = this, t = shown.tree, least = 1e-7 * Math.abs(t.total[0]), { re } = compile(now.q);
    this.by = ["self", "total", "change", "name"].includes(now.sort) ? now.sort : "self";
    const delta = (l) => sums.total[l] - sums.base[l] * t.baseScale;
    const value = { self: figures(shown.mode, sums, true), total: figures(shown.mode, sums), change: (l) => Math.abs(delta(l)) }[this.by];
    const text = (l) => t.labels.list[l].text;
    let list = t.labels.list.map((_, l) => l).filter(listed(shown, sums, least));
    list.sort(this.by === "name" ? (a, b) => text(a).localeCompare(text(b)) : (a, b) => value(b) - value(a) || sums.total[b] - sums.total[a] || a - b);
    this.before = new Map();
    let sum = 0;
    for (const l of list) this.before.set(l, (sum += sums.self[l]));
    if (re) list = list.filter((l) => re.test(text(l)));
    this.tools.hits.textContent = re ? (list.length === 0 ? "no match" : `${list.length} function${list.length === 1 ? "" : "s"}`) : "";
    this.sorted = list;
  }

  short(sum) {
    return short(this.m, this.shown.mode, sum);
  }

  changed(sums, at) {
    return changeText(this.shown.mode, sums, at, this.shown.tree.baseScale);
  }

  draw() {
    const { sums, shown } = this, t = shown.tree, share = shown.mode.kind !== "cpu", least = 1e-7 * Math.abs(t.total[0] || 1);
    const part = (x) => percent(shareOf(shown.mode, x));
    const head = (id, label, word) => el("th", { scope: "col", class: id === "name" ? "name" : "num", "aria-sort": this.by === id ? (id === "name" ? "ascending" : "descending") : "none" },
      button(label, () => change({ sort: id }), { class: "sort" }), word ? el("span", { class: "unseen" }, term(word)) : null);
    const plainHead = (label) => el("th", { scope: "col", class: "num share" }, label);
    const row = (l) => el("tr", { class: l === this.chosen ? "here" : "", data: { name: t.labels.list[l].text } },
      el("td", { class: "num", data: { label: "self" } }, Math.abs(sums.self[l]) <= least ? "" : this.short(sumAt(sums, l, true))),
      share ? el("td", { class: "num share", data: { label: "self %" } }, part(sums.self[l])) : null,
      el("td", { class: "num share", data: { label: "sum %" } }, part(this.before.get(l))),
      el("td", { class: "num", data: { label: "total" } }, this.short(sumAt(sums, l))),
      share ? el("td", { class: "num share", data: { label: "total %" } }, part(sums.total[l])) : null,
      shown.compare ? el("td", { class: "num", data: { label: "change" } }, this.changed(sums, l)) : null,
      el("td", { class: "name", data: { label: "function" } }, button(shortName(t.labels.list[l].text), () => change({ node: t.labels.list[l].text }), { class: "link", title: t.labels.list[l].text })));
    replace(this.list, el("div", { class: "rows", tabIndex: 0, role: "region", "aria-label": "Functions by weight" }, el("table", {}, el("caption", { class: "unseen" }, "Functions by weight"),
      el("thead", {}, el("tr", {}, head("self", "self", "self"), share ? plainHead("self %") : null, plainHead("sum %"), head("total", "total", "total"), share ? plainHead("total %") : null, shown.compare ? head("change", "change") : null, head("name", "function"))),
      el("tbody", {}, this.sorted.slice(0, this.rows).map(row)))),
      this.sorted.length > this.rows ? button(`Show more of ${this.sorted.length}`, () => { this.rows += 4 * page; this.draw(); }) : null);
  }

  // drawPeek shows the chosen function, or the first ones that the search hits.
  drawPeek(now) {
    const list = this.chosen >= 0 ? [this.chosen] : now.q && compile(now.q).re ? this.sorted.slice(0, peeks) : [];
    if (list.length === 0) return replace(this.peek, el("p", { class: "dim" }, "Choose a function, or search for some, to see their callers and callees."));
    return replace(this.peek, list.map((l) => this.peekOf(l)));
  }

  peekOf(label) {
    const { callers, callees } = around(this.shown.tree, label), l = this.shown.tree.labels.list[label], whole = this.sums.total[label];
    const row = (e) => el("tr", {}, el("td", { class: "num" }, this.short(e)), el("td", { class: "num" }, whole !== 0 ? percent(e.total / whole) : ""), this.shown.compare ? el("td", { class: "num" }, this.changed({ total: [e.total], base: [e.base] }, 0)) : null,
      el("td", { class: "name" }, e.label < 0 ? el("span", { class: "dim" }, "the outermost call") : button(shortName(this.shown.tree.labels.list[e.label].text), () => change({ node: this.shown.tree.labels.list[e.label].text }), { class: "link", title: this.shown.tree.labels.list[e.label].text })));
    const block = (title, list) => el("table", { class: "edges" }, el("caption", {}, title), el("thead", { class: "unseen" }, el("tr", {}, ["weight", "share of the function", ...(this.shown.compare ? ["change"] : []), "function"].map((x) => el("th", { scope: "col" }, x)))), el("tbody", {}, list.map(row)));
    return el("section", { class: "peeked", data: { name: l.text } }, block(callers.length === 0 ? "No callers" : "Called by", callers),
      el("div", { class: "middle" }, el("b", {}, l.text), el("dl", {}, [["self", this.sum(label, true)], ["total", this.sum(label)]].flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])), acts(this.actor(), l)),
      block(callees.length === 0 ? "Calls nothing" : "Calls", callees));
  }

  sum(l, own) {
    return amount(this.m, this.shown.mode, sumAt(this.sums, l, own));
  }

  actor() {
    return { data: this.data, m: this.m, detail: this.shown.detail, here: "functions" };
  }

  step(step) {
    if (this.sorted.length === 0) return;
    const at = this.sorted.indexOf(this.chosen), n = this.sorted.length;
    change({ node: this.shown.tree.labels.list[this.sorted[(at + step + n) % n]].text }, true);
  }

  shortcut(e) {
    if (this.node.hidden || !isFree(e)) return;
    const l = this.chosen >= 0 ? this.shown.tree.labels.list[this.chosen] : null;
    const keys = { "/": () => this.tools.search.focus(), u: () => this.tools.figures(), n: () => this.step(1), N: () => this.step(-1), r: () => change({ ...resetPatch(), sort: null }), ...actKeys(this.actor(), l) };
    if (!Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  }
}

// functionsView is there when the recording has stacks.
export const functionsView = {
  id: "functions",
  title: "Functions",
  there: (data) => Boolean(data.views.flame),
  make(data) {
    const f = new Functions(data);
    f.node.functions = f;
    return { node: f.node, show: (now) => f.show(now) };
  },
};
