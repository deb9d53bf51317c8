// Views that the reader keeps under a name, in the browser. A page that is
// opened from a file shares them with other such files, as browsers have it.
import { button, el, replace } from "./dom.js";
import { change, state } from "./state.js";

const place = "heaptrim.views";

// read returns the kept views by name; none where the browser keeps nothing.
function read() {
  try {
    const v = JSON.parse(localStorage.getItem(place) || "{}");
    return v && typeof v === "object" && !Array.isArray(v) ? v : {};
  } catch {
    return {};
  }
}

function write(views) {
  try {
    localStorage.setItem(place, JSON.stringify(views));
    return true;
  } catch {
    return false;
  }
}

// What depends on one recording is not kept.
const fleeting = new Set(["zoom", "at", "box", "cam"]);

function options() {
  return Object.fromEntries(Object.entries(state()).filter(([k]) => !fleeting.has(k)));
}

// savedViews makes the fold.
export function savedViews() {
  const name = el("input", { type: "text", placeholder: "name", "aria-label": "Name of this view", autocomplete: "off" });
  const list = el("ul", { class: "saved" }), said = el("span", { class: "bad", "aria-live": "polite" });
  const draw = () => replace(list, Object.entries(read()).filter(([, v]) => v && typeof v === "object").map(([n, v]) => el("li", {},
    button(n, () => change({ ...Object.fromEntries(Object.keys(state()).map((k) => [k, null])), ...v }), { class: "link" }), " ",
    button("×", () => { const all = read(); delete all[n]; write(all); draw(); }, { class: "quiet", "aria-label": `Forget the view ${n}` }))));
  const keep = () => {
    if (!name.value) return;
    said.textContent = write({ ...read(), [name.value]: options() }) ? "" : "this browser keeps nothing for this page";
    name.value = "";
    draw();
  };
  name.addEventListener("keydown", (e) => e.key === "Enter" && keep());
  const node = el("details", { class: "filters" }, el("summary", {}, "Saved views"), el("div", { class: "row" }, name, button("Save this view", keep), said), list);
  node.addEventListener("toggle", () => node.open && draw());
  return node;
}
