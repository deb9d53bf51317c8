// The flame graph: what each stack costs, from every point of view.
import { actKeys, acts, isFree } from "./acts.js";
import { button, el, replace } from "./dom.js";
import { FlameCanvas } from "./flame_canvas.js";
import { painter } from "./flame_colour.js";
import { compile } from "./flame_filter.js";
import { FunctionTable } from "./flame_table.js";
import { describe, say } from "./flame_text.js";
import { flameTools } from "./flame_tools.js";
import { exactly, percent } from "./format.js";
import { amount, measureNote } from "./measure.js";
import { isCode, resetPatch, stacksOf } from "./stacks.js";
import { change, state } from "./state.js";
import { isDark, onTheme } from "./theme.js";

// Flame holds the trees of the state that is shown.
class Flame {
  constructor(data) {
    this.data = data;
    this.stacks = stacksOf(data);
    this.m = this.stacks.m;
    this.keys = {};
    this.tools = flameTools(this.stacks, { next: (step) => this.next(step), reset: () => this.reset() });
    this.main = this.canvas("Flame graph: what the stacks cost");
    this.above = this.canvas("What calls the chosen function");
    this.table = new FunctionTable({ choose: (l) => this.find(l), pivot: (l) => this.pivot(l) });
    this.facts = el("div", { class: "chosen", "aria-live": "polite" });
    this.trail = el("p", { class: "trail" });
    this.notes = el("p", { class: "note" });
    this.graph = el("div", { class: "graph" }, this.trail, this.above.node, this.main.node, this.facts);
    this.node = el("div", { class: "flame-view" }, this.tools.node, el("div", { class: "panes" }, this.graph, this.table.node), this.notes, trimNote(data.views.flame.trim));
    onTheme(() => !this.node.hidden && this.show(state(), true));
    window.addEventListener("keydown", (e) => this.shortcut(e));
  }

  canvas(label) {
    const view = (c) => ({ m: this.m, t: c.tree, compare: this.compare, detail: this.detail, pivotName: this.pivotName, rootName: () => this.rootName() });
    const c = new FlameCanvas({
      label, rootName: () => this.rootName(), describe: (n) => describe(view(c), n), say: (n) => say(view(c), n),
      zoom: (n) => (c === this.above ? n > 0 && this.pivot(c.tree.label[n]) : change({ zoom: n || null, at: n || null })),
      choose: (n) => (c === this.above ? (c.chosen = n, c.draw()) : change({ at: n || null }, true)),
    });
    return c;
  }

  rootName() {
    return this.pivotName || "all";
  }

  // build takes over what the state shows.
  build(now) {
    const shown = this.stacks.at(now);
    if (shown === this.shown) return;
    this.shown = shown;
    Object.assign(this, { mode: shown.mode, detail: shown.detail, compare: shown.compare, grew: shown.grew, pivotName: shown.pivotName, whole: shown.whole, tree: shown.tree, up: shown.up, groups: shown.groups, spared: shown.spared });
    this.keys.search = this.keys.paint = "";
  }

  // search marks the labels that match and gathers the outermost hits.
  search(now) {
    if (this.keys.search === "/" + (now.q || "")) return;
    this.keys.search = "/" + (now.q || "");
    const { re } = compile(now.q), t = this.tree;
    this.found = re ? Uint8Array.from(t.labels.list, (l) => (re.test(l.text) ? 1 : 0)) : null;
    this.hits = [];
    if (!re) {
      this.tools.hits.textContent = "";
      return;
    }
    const inside = new Uint8Array(t.n);
    let sum = 0;
    for (let i = 1; i < t.n; i++) {
      const hit = this.found[t.label[i]] === 1;
      if (hit && t.span[i] > 0) this.hits.push(i);
      if (hit && !inside[t.parent[i]]) sum += t.total[i];
      inside[i] = hit || inside[t.parent[i]] ? 1 : 0;
    }
    this.hits.sort((a, b) => t.span[b] - t.span[a] || a - b);
    this.tools.hits.textContent = this.hits.length === 0 ? "no match" : `${this.hits.length} hit${this.hits.length === 1 ? "" : "s"}, ${percent(sum / t.total[0])}`;
  }

  show(now) {
    this.build(now);
    this.search(now);
    const t = this.tree, wanted = now.colour || (this.compare ? "change" : "package"), colour = wanted === "change" && !this.compare ? "package" : wanted;
    const zoom = Number(now.zoom) || 0, chosen = Number(now.at) || -1, panes = now.panes || "both";
    this.colours(colour);
    this.main.set({ tree: t, paint: this.paint, root: zoom, chosen, found: this.found, up: now.shape === "flame" && !this.up });
    if (this.up) this.above.set({ tree: this.up, paint: this.paintUp, root: 0, chosen: -1, found: this.found, up: true });
    this.above.node.hidden = !this.up;
    this.graph.hidden = panes === "table";
    this.table.node.hidden = panes === "graph";
    this.node.dataset.panes = panes;
    this.tools.show(now, this.mode, { colour, groups: this.groups, packages: true });
    this.path(zoom);
    this.about(chosen > 0 && chosen < t.n ? chosen : zoom > 0 && zoom < t.n ? zoom : 0);
    this.note();
    this.main.draw();
    if (this.up) this.above.draw();
    if (panes !== "graph") this.table.set({ t, m: this.m, compare: this.compare, grew: this.grew }, this.found);
  }

  // colours makes the painters when the trees, the choice or the theme change.
  colours(by) {
    const key = by + isDark();
    if (key === this.keys.paint) return;
    this.keys.paint = key;
    this.paint = painter(this.tree, by);
    this.paintUp = this.up ? painter(this.up, by === "bucket" ? "package" : by) : null;
  }

  // path lists the callers of the zoomed node, to go back by.
  path(zoom) {
    const t = this.tree, steps = [];
    for (let n = zoom < t.n ? zoom : 0; n > 0; n = t.parent[n]) steps.push(n);
    const step = (n, text) => button(text, () => change({ zoom: n || null, at: n || null }), { class: "link" });
    replace(this.trail, this.pivotName ? [button("← whole graph", () => change({ pivot: null, zoom: null, at: null }), { class: "quiet" }), ` callers above and callees below of `, el("b", {}, this.pivotName)] : step(0, "all"),
      steps.reverse().slice(-6).map((n) => [" › ", step(n, this.main.tree.labels.list[t.label[n]].text.split("/").pop())]));
  }

  about(n) {
    const t = this.tree, l = n > 0 ? t.labels.list[t.label[n]] : null;
    replace(this.facts, describe({ m: this.m, t, compare: this.compare, detail: this.detail, pivotName: this.pivotName, rootName: () => this.rootName() }, n), acts(this.actor(), l));
    this.selected = isCode(l) ? t.label[n] : -1;
  }

  actor() {
    return { data: this.data, m: this.m, detail: this.detail, here: "flame" };
  }

  note() {
    const parts = [`In all ${amount(this.m, this.mode, this.whole.sum)}.`];
    if (this.spared > 1e-6) parts.push(`Not drawn: ${percent(this.spared)} that retention spares, because live memory raises the heap goal; it is taken off the totals.`);
    replace(this.notes, parts.join(" "), " ", measureNote(this.m, this.mode));
  }

  find(label) {
    change({ q: exactly(this.tree.labels.list[label].text) });
  }

  pivot(label) {
    const l = this.tree.labels.list[label];
    if (l.owner !== "label") change({ pivot: l.text, zoom: null, at: null });
  }

  next(step) {
    if (this.hits.length === 0) return;
    const at = this.hits.indexOf(Number(state().at));
    const n = this.hits[(at < 0 ? (step > 0 ? 0 : this.hits.length - 1) : at + step + this.hits.length) % this.hits.length];
    change({ at: n }, true);
  }

  reset() {
    change(resetPatch());
  }

  shortcut(e) {
    if (this.node.hidden || !isFree(e)) return;
    const keys = { "/": () => this.tools.search.focus(), u: () => this.tools.figures(), n: () => this.next(1), N: () => this.next(-1), r: () => this.reset(), ...actKeys(this.actor(), this.selected >= 0 ? this.tree.labels.list[this.selected] : null) };
    if (!Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  }
}

// trimNote says what the limit on calls has done.
export function trimNote(trim) {
  if (trim.kept >= trim.nodes && !trim.folded) return null;
  const worst = Math.max(0, ...Object.values(trim.moved));
  return el("p", { class: "note" }, `The ${trim.kept} heaviest of ${trim.nodes} calls are here; at most ${percent(worst)} of any weight counts to a caller instead. `,
    trim.folded ? "The recording has more calls than the page lists." : "heaptrim view shows them all.");
}

// flameView is there when the recording has stacks.
export const flameView = {
  id: "flame",
  title: "Flame graph",
  there: (data) => Boolean(data.views.flame),
  make(data) {
    const f = new Flame(data);
    f.node.flame = f;
    return { node: f.node, show: (now) => f.show(now) };
  },
};
