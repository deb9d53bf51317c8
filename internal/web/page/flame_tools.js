// The controls of the views of stacks: what is weighed, how it is shown, what is
// left out.
import { button, el, replace, select } from "./dom.js";
import { groups } from "./flame_model.js";
import { groupColour, groupTitle, isMemory } from "./flame_colour.js";
import { compileLabels } from "./labels.js";
import { labelPanel } from "./label_panel.js";
import { moreTools } from "./more_tools.js";
import { savedViews } from "./saved.js";
import { explain } from "./terms.js";
import { change, state } from "./state.js";
import { typed } from "./typed.js";

const filters = [
  ["focus", "Focus", "Only stacks that pass through a function or file that matches."],
  ["ignore", "Ignore", "Without stacks that pass through what matches."],
  ["hide", "Hide", "Takes out the frames that match; what they call moves up to their caller."],
  ["show", "Show", "Only frames that match."],
  ["from", "Show from", "Removes the frames above the first one that matches."],
  ["prune", "Prune from", "Takes out what a function that matches calls: it counts as its own."],
];

const labelFilters = [
  ["tagfocus", "Label focus", "Only samples with a label that matches: an expression, key=expression, or a range of numbers such as bytes=1kb:64kb."],
  ["tagignore", "Label ignore", "Without samples that have a label that matches."],
];

// flameTools makes the controls, one row of them; show brings them in line with the state.
// act: {next(step), reset()}; lacks names controls that a view has no use for, and more are
// those that it has itself.
export function flameTools(stacks, act, lacks, more) {
  const m = stacks.m, without = (name, node) => (lacks && lacks.includes(name) ? null : node);
  const weight = select("Weight", stacks.modes.map((x) => [x.id, x.label]), stacks.modes[0].id, (v) => change({ weight: v, zoom: null, at: null, pivot: null }));
  const weightTip = el("small", { class: "dim" });
  const colour = select("Colour", [["package", "package"], ["bucket", "memory bucket"], ...(m.hasBase ? [["change", "change"]] : [])], "package", (v) => change({ colour: v }));
  const detail = select("Detail", [["function", "functions"], ["filefunction", "functions in files"], ["line", "lines"], ...(m.addresses.length > 1 ? [["address", "addresses"]] : []), ["file", "files"], ["package", "packages"]], "function", (v) => change({ detail: v, zoom: null, at: null, pivot: null, node: null, cam: null }));
  const shape = select("Shape", [["icicle", "icicle, down"], ["flame", "flame, up"]], "icicle", (v) => change({ shape: v }));
  const panes = select("Show", [["both", "graph and table"], ["graph", "graph"], ["table", "table"]], "both", (v) => change({ panes: v }));
  const compare = m.hasBase ? select("Compare", [["", "with the base"], ["off", "off"], ["amounts", "with the base, amounts as they are"]], "", (v) => change({ compare: v })) : null;
  const search = typed("q", "Search");
  const hits = el("span", { class: "hits", "aria-live": "polite" });
  search.node.append(hits);
  const boxes = filters.map((f) => typed(...f));
  const labels = m.labels ? labelPanel(stacks) : null;
  const labelBoxes = m.labels ? labelFilters.map((f) => typed(...f, (v) => compileLabels(v, m.labels))) : [];
  const filter = el("details", { class: "filters" }, el("summary", {}, "Filters"), el("div", { class: "row" }, [...boxes, ...labelBoxes].map((b) => b.node)));
  const figures = moreTools(m);
  const copy = button("Copy link", () => navigator.clipboard.writeText(location.href).then(() => { copy.textContent = "Copied"; }), { class: "quiet" });
  const legend = el("ul", { class: "legend inline", "aria-label": "Colours" });
  search.input.addEventListener("keydown", (e) => {
    if (e.key === "Enter") act.next(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") change({ q: null });
  });
  const looks = [without("colour", colour), without("shape", shape), without("detail", detail), without("panes", panes), ...(more || [])].filter(Boolean);
  const look = looks.length > 0 ? el("details", { class: "filters" }, el("summary", {}, "Look"), el("div", { class: "row" }, looks)) : null;
  const node = el("div", { class: "controls" },
    el("div", { class: "row" }, weight, search.node, compare, look, filter, labels && labels.node, figures.node, savedViews(), button("Reset", () => act.reset(), { class: "quiet", title: "Reset (r)" }), copy), weightTip, legend);
  const boxOf = (label) => label.querySelector("select");
  return {
    node, search: search.input, hits, figures: () => figures.focus(),
    show(now, mode, used) {
      boxOf(weight).value = mode.id;
      weightTip.textContent = explain(mode.word);
      boxOf(colour).value = used.colour;
      boxOf(detail).value = now.detail || "function";
      boxOf(shape).value = now.shape || "icicle";
      boxOf(panes).value = now.panes || "both";
      if (compare) boxOf(compare).value = now.compare || "";
      for (const b of [search, ...boxes, ...labelBoxes]) b.show(now[b.name]);
      if ([...boxes, ...labelBoxes].some((b) => now[b.name])) filter.open = true;
      if (labels) labels.show(now, mode);
      figures.show(now, mode);
      copy.textContent = "Copy link";
      drawLegend(legend, used);
    },
  };
}

function drawLegend(legend, used) {
  const item = (colour, text) => el("li", {}, el("i", { style: { background: colour } }), text);
  if (used.colour === "change") return replace(legend, item("hsl(211 95% 60%)", "less than before"), item("hsl(0 0% 60%)", "the same"), item("hsl(28 95% 60%)", "more than before"), el("li", { class: "dim" }, "width: mean of before and after"));
  const there = groups.filter((g) => used.groups.has(groups.indexOf(g)) && (used.colour === "bucket" || isMemory(g)));
  const first = there.filter((g, i) => there.findIndex((x) => groupTitle[x] === groupTitle[g]) === i);
  replace(legend, first.map((g) => item(groupColour(g), groupTitle[g])), used.colour === "package" && used.packages ? el("li", { class: "dim" }, "other colours: packages") : null);
}

// toggleFilter adds an expression to a filter.
export function toggleFilter(name, expression) {
  const now = state()[name];
  const merged = name === "focus" || name === "from" || name === "prune" || !now ? expression : `${now}|${expression}`;
  change({ [name]: merged, zoom: null, at: null, pivot: null, cam: null });
}
