// One tooltip for the whole page: for elements with data-tip, and for what the
// flame graph points at.
import { el, replace } from "./dom.js";

let box = null;
let owner = null;

function place(x, y) {
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(4, Math.min(x + 12, document.documentElement.clientWidth - width - 4));
  const top = y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18;
  box.style.left = left + "px";
  box.style.top = top + "px";
}

// showTip shows nodes or texts beside a point of the window.
export function showTip(x, y, ...content) {
  replace(box, ...content);
  place(x, y);
}

// hideTip hides the tooltip.
export function hideTip() {
  box.hidden = true;
  if (owner) owner.removeAttribute("aria-describedby");
  owner = null;
}

function offer(target) {
  if (owner) hideTip();
  owner = target;
  owner.setAttribute("aria-describedby", box.id);
  const at = target.getBoundingClientRect();
  showTip(at.left, at.bottom - 14, target.dataset.tip);
}

// startTips makes the tooltip and watches the page.
export function startTips() {
  box = el("div", { class: "tip", id: "tip", role: "tooltip", hidden: true });
  document.body.append(box);
  const tipOf = (e) => e.target instanceof Element && e.target.closest("[data-tip]");
  document.addEventListener("mouseover", (e) => {
    const target = tipOf(e);
    if (target) offer(target);
    else if (owner) hideTip();
  });
  document.addEventListener("focusin", (e) => {
    const target = tipOf(e);
    if (target) offer(target);
  });
  document.addEventListener("focusout", () => owner && hideTip());
  document.addEventListener("keydown", (e) => e.key === "Escape" && hideTip());
  window.addEventListener("scroll", () => !box.hidden && hideTip(), { passive: true });
}
