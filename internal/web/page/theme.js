// Light and dark: the system's choice until the reader makes another.
import { button } from "./dom.js";

const listeners = [];
const dark = matchMedia("(prefers-color-scheme: dark)");

function stored() {
  try {
    return localStorage.getItem("heaptrim-theme") || "";
  } catch {
    return ""; // files have no storage in some browsers
  }
}

// isDark reports which theme is on.
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

// onTheme calls f when the theme has changed.
export function onTheme(f) {
  listeners.push(f);
}

// color reads a colour of the style sheet, for what is drawn on a canvas.
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// toggleTheme changes to the other theme.
export function toggleTheme() {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("heaptrim-theme", next);
  } catch {
    // then it holds for this visit
  }
  tell();
}

function tell() {
  for (const f of listeners) f();
}

// themeButton makes the switch and applies the stored choice.
export function themeButton() {
  if (stored()) document.documentElement.dataset.theme = stored();
  dark.addEventListener("change", tell);
  return button("Theme", toggleTheme, { class: "quiet", title: "Light or dark (t)" });
}
