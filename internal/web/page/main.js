// Boots the page: reads the data, makes the views that the data are there for,
// and moves between them.
import { button, el, replace } from "./dom.js";
import { callsView } from "./calls.js";
import { codeView } from "./code.js";
import { date } from "./format.js";
import { flameView } from "./flame.js";
import { watchRecording } from "./fresh.js";
import { functionsView } from "./functions.js";
import { latencyView } from "./latency.js";
import { overviewView } from "./overview.js";
import { proofView } from "./proof.js";
import { sourceView } from "./source.js";
import { change, onChange, startState, state } from "./state.js";
import { themeButton, toggleTheme } from "./theme.js";
import { timeView } from "./time.js";
import { startTips } from "./tip.js";
import { whatIfView } from "./whatif.js";

// A view is {id, title, there(data), make(data) → {node, show(state)}}.
const all = [overviewView, flameView, callsView, functionsView, sourceView, codeView, timeView, whatIfView, latencyView, proofView];

const keys = [
  ["1 … 9, 0", "change the view"], ["/", "search the functions"], ["n, N", "next and previous match"],
  ["← ↑ → ↓", "walk through the flame graph or the call graph"], ["Enter", "zoom in, or choose"], ["Backspace, Esc", "zoom out, or choose nothing"],
  ["+, −, 0", "call graph: larger, smaller, all of it"],
  ["f, i, h", "focus on, ignore, hide the chosen function"], ["c", "callers and callees of the chosen function, as flame graphs"],
  ["p", "peek: callers and callees, as a table"], ["g", "the chosen function in the call graph"],
  ["s", "source of the chosen function"], ["u", "units, shares, means, inlined calls"], ["r", "reset filters and choices"], ["t", "light or dark"], ["?", "this list"],
];

function helpDialog() {
  const dialog = el("dialog", { class: "help", "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el("dl", {}, keys.map(([k, what]) => [el("dt", {}, k), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", {}, "Close")));
  document.body.append(dialog);
  return dialog;
}

function header(data, views) {
  const t = data.report.target;
  const tabs = views.map((v, i) => el("a", {
    class: "tab", href: "#view=" + v.id, id: "tab-" + v.id, title: i < 10 ? `${v.title} (${(i + 1) % 10})` : v.title,
    on: { click: (e) => { e.preventDefault(); change({ view: v.id }); } },
  }, v.title));
  return {
    tabs,
    node: el("header", {},
      el("a", { class: "skip", href: "#", on: { click: (e) => { e.preventDefault(); document.getElementById("main").focus(); } } }, "Skip to the report"),
      el("div", { class: "top" },
        el("h1", {}, el("b", {}, "heaptrim"), " ", el("span", { class: "target" }, t.args.join(" ") || t.module || "recorded files")),
        el("span", { class: "when" }, [date(data.report.created), data.report.environment.go_version].filter(Boolean).join(", "))),
      el("div", { class: "bar" }, el("nav", { "aria-label": "Views" }, tabs), el("div", { class: "tools" }))),
  };
}

function main() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const views = all.filter((v) => v.there(data));
  const made = new Map();
  const head = header(data, views);
  const help = helpDialog();
  const place = el("main", { id: "main", tabIndex: -1 });
  head.node.querySelector(".tools").append(themeButton(), button("Keys", () => help.showModal(), { class: "quiet", title: "Keys (?)" }));
  replace(document.getElementById("app"), head.node, place);
  startTips();
  startState();

  const show = (now) => {
    const v = views.find((x) => x.id === now.view) || views[0];
    if (!made.has(v.id)) {
      const fresh = v.make(data);
      fresh.node.id = "view-" + v.id;
      place.append(fresh.node);
      made.set(v.id, fresh);
    }
    for (const [id, m] of made) m.node.hidden = id !== v.id;
    views.forEach((x, i) => {
      if (x === v) {
        head.tabs[i].setAttribute("aria-current", "page");
        head.tabs[i].scrollIntoView({ block: "nearest", inline: "nearest" });
      }
      else head.tabs[i].removeAttribute("aria-current");
    });
    made.get(v.id).show(now);
  };
  onChange(show);
  window.addEventListener("resize", () => show(state()));
  window.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, dialog")) return;
    const n = e.key === "0" ? 10 : Number(e.key);
    if (n >= 1 && n <= views.length) change({ view: views[n - 1].id });
    else if (e.key === "t") toggleTheme();
    else if (e.key === "?") help.showModal();
    else return;
    e.preventDefault();
  });
  show(state());
  watchRecording(data.views.version);
  document.documentElement.dataset.ready = "yes";
}

main();
