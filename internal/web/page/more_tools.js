// How figures are written, and what is rarely changed of the stacks: one fold of
// controls for all views that show them.
import { el, replace, select } from "./dom.js";
import { meanThere, unitChoices } from "./measure.js";
import { change } from "./state.js";
import { number, onOff } from "./typed.js";

const names = ["unit", "div", "mean", "rel", "inline", "grew"];

// moreTools makes the fold; show brings it in line with the state.
export function moreTools(m) {
  const unit = select("Unit", [["", ""]], "", (v) => change({ unit: v }));
  const rel = select("Shares", [["", "of all"], ["shown", "of what is shown"]], "", (v) => change({ rel: v }));
  const fields = [
    number("div", "Divide by", "All figures but shares are divided by this, such as the number of requests that were served."),
    onOff("mean", "mean size of an object", "Bytes divided by objects; width stays by bytes. There is no comparison with the base then.", "1"),
    onOff("inline", "inlined calls count to their caller", "Code that the compiler put into its caller is not shown by itself.", "off"),
    ...(m.hasBase ? [onOff("grew", "only what has grown", "Leaves out what costs less than in the base, with all that it calls.", "1")] : []),
  ];
  const box = unit.querySelector("select");
  let kind = "";
  const node = el("details", { class: "filters more" }, el("summary", {}, "Figures"), el("div", { class: "row" }, unit, rel, fields.map((f) => f.node)));
  return {
    node,
    focus() {
      node.open = true;
      box.focus();
    },
    show(now, mode) {
      if (kind !== mode.kind) replace(box, unitChoices(mode.kind).map(([v, text]) => el("option", { value: v }, text)));
      kind = mode.kind;
      box.value = mode.unit;
      rel.querySelector("select").value = mode.relative ? "shown" : "";
      for (const f of fields) {
        f.show(now[f.name]);
        if (f.name === "mean") f.node.hidden = !meanThere(m, mode);
      }
      if (names.some((n) => now[n])) node.open = true;
    },
  };
}
