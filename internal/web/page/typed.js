// Fields that stand in the page's state: texts that the reader types, and what is
// on or off.
import { el } from "./dom.js";
import { compile } from "./flame_filter.js";
import { change } from "./state.js";

// label is the words beside a field, explained on hover.
const label = (text, tip) => el("span", tip ? { class: "term", data: { tip } } : {}, text);

// typed makes a field for an expression: {name, input, node, show(value)}. check
// says what is wrong with a text, as compile does.
export function typed(name, text, tip, check) {
  const input = el("input", {
    type: "search", placeholder: "regular expression", spellcheck: false, autocomplete: "off", "aria-label": text, "aria-description": tip,
    on: { input: () => change({ [name]: input.value, zoom: null, at: null }, true) },
  });
  const error = el("span", { class: "bad", "aria-live": "polite" });
  return {
    name, input,
    node: el("label", { class: "field" }, label(text, tip), input, error),
    show(value) {
      if (document.activeElement !== input) input.value = value || "";
      error.textContent = (check || compile)(value).error ? "not an expression" : "";
    },
  };
}

// number makes a field for a number above zero.
export function number(name, text, tip) {
  const input = el("input", {
    type: "number", min: "0", step: "any", placeholder: "1", "aria-label": text, "aria-description": tip,
    on: { input: () => change({ [name]: Number(input.value) > 0 ? input.value : null }, true) },
  });
  return {
    name, node: el("label", { class: "field short" }, label(text, tip), input),
    show(value) {
      if (document.activeElement !== input) input.value = Number(value) > 0 ? value : "";
    },
  };
}

// onOff makes a box to tick: the state has value under name, or nothing.
export function onOff(name, text, tip, value) {
  const input = el("input", { type: "checkbox", "aria-description": tip, on: { change: () => change({ [name]: input.checked ? value : null, zoom: null, at: null, box: null, cam: null }) } });
  return {
    name, node: el("label", { class: "check" }, input, " ", label(text, tip)),
    show(now) {
      input.checked = now === value;
    },
  };
}
