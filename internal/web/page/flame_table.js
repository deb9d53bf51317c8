// The table beside the flame graph: functions with what they cost themselves
// and with their calls.
import { button, el, replace } from "./dom.js";
import { changeText } from "./flame_text.js";
import { byLabel, sumAt } from "./flame_project.js";
import { shortName } from "./format.js";
import { figures, plain, short } from "./measure.js";
import { listed } from "./stacks.js";
import { term } from "./terms.js";

const page = 50;

// FunctionTable lists the labels of a tree. Options: choose(label), pivot(label).
export class FunctionTable {
  constructor(options) {
    this.o = options;
    this.by = "self";
    this.rows = page;
    this.node = el("div", { class: "functions" });
  }

  // set shows a tree; found marks labels that a search has hit, null for all.
  set(v, found) {
    if (this.tree !== v.t) {
      this.sums = byLabel(v.t);
      this.rows = page;
    }
    this.tree = v.t;
    this.v = v;
    this.found = found;
    this.draw();
  }

  draw() {
    const { sums, tree } = this, compare = this.v.compare, mode = tree.mode;
    const value = this.by === "change" ? (l) => Math.abs(sums.total[l] - sums.base[l] * tree.baseScale) : figures(mode, sums, this.by === "self");
    const least = 1e-6 * Math.abs(tree.total[0]);
    let list = tree.labels.list.map((_, l) => l).filter(listed({ tree, compare, grew: this.v.grew }, sums, least));
    if (this.found) list = list.filter((l) => this.found[l]);
    list.sort(this.by === "name" ? (a, b) => tree.labels.list[a].text.localeCompare(tree.labels.list[b].text) : (a, b) => value(b) - value(a) || sums.total[b] - sums.total[a] || a - b);
    const head = (id, label, word) => el("th", { scope: "col", class: id === "name" ? "name" : "num", "aria-sort": this.by === id ? (id === "name" ? "ascending" : "descending") : "none" },
      button(label, () => { this.by = id; this.draw(); }, { class: "sort" }), word ? el("span", { class: "unseen" }, term(word)) : null);
    const weight = (sum) => short(this.v.m, mode, sum);
    const row = (l) => el("tr", {},
      el("td", { class: "num", data: { label: "self" } }, Math.abs(sums.self[l]) <= least ? "" : compare ? plain(mode, sums.self[l]) : weight(sumAt(sums, l, true))),
      el("td", { class: "num", data: { label: "total" } }, weight(sumAt(sums, l))),
      compare ? el("td", { class: "num", data: { label: "change" } }, changeText(mode, sums, l, tree.baseScale)) : null,
      el("td", { class: "name" }, el("span", { class: "one-line" }, button("⇅", () => this.o.pivot(l), { class: "link small", title: "Callers and callees of " + tree.labels.list[l].text, "aria-label": "Callers and callees" }),
        button(shortName(tree.labels.list[l].text), () => this.o.choose(l), { class: "link", title: tree.labels.list[l].text }))));
    replace(this.node,
      el("table", { class: compare ? "with-change" : mode.kind !== "cpu" ? "wide" : "" }, el("caption", { class: "unseen" }, "Functions by weight"),
        el("thead", {}, el("tr", {}, head("self", "self"), head("total", "total"), compare ? head("change", "change") : null, head("name", "function"))),
        el("tbody", {}, list.slice(0, this.rows).map(row))),
      list.length > this.rows ? button(`Show more of ${list.length}`, () => { this.rows += 4 * page; this.draw(); }) : null);
  }
}
