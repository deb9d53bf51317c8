// What if: the collector's CPU against memory under other settings.
import { button, el, replace, select } from "./dom.js";
import { chart } from "./chart.js";
import { bytes, percent, share, trimmed } from "./format.js";
import { outcome } from "./pacer.js";
import { planChart, planText } from "./plan.js";
import { change } from "./state.js";
import { onTheme } from "./theme.js";
import { term } from "./terms.js";

// Settings of GOGC that the curve goes through, evenly on a scale of ratios.
const curve = Array.from({ length: 61 }, (_, i) => Math.round(25 * 2 ** (i / 7.5)));
const gogcSteps = [25, 33, 50, 67, 75, 100, 125, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1500, 2000, 3000, 5000];
const mib = 1024 * 1024;

// sizes are steps of a slider for bytes, from none upwards in halves of powers.
function sizes(least, most) {
  const out = [0];
  for (let v = 2 ** Math.floor(Math.log2(Math.max(least, mib))); v <= most; v *= 2) out.push(v, v * 1.5);
  return out;
}

function slider(label, word, steps, text, change) {
  const value = el("output", {});
  const input = el("input", { type: "range", min: "0", max: String(steps.length - 1), step: "1", "aria-label": label, on: { input: () => { say(); change(steps[Number(input.value)]); } } });
  const say = () => {
    value.textContent = text(steps[Number(input.value)]);
    input.setAttribute("aria-valuetext", value.textContent);
  };
  return {
    node: el("label", { class: "slider" }, el("span", {}, term(word, label)), input, value),
    set(v) {
      let best = 0;
      steps.forEach((s, i) => { if (Math.abs(s - v) < Math.abs(steps[best] - v)) best = i; });
      input.value = String(best);
      say();
    },
  };
}

class WhatIf {
  constructor(data) {
    this.data = data;
    this.runs = data.views.whatif;
    this.chosen = null;
    this.result = el("div", { class: "result", "aria-live": "polite" });
    this.box = el("div", {});
    this.sliders = el("div", { class: "sliders" });
    this.choice = this.runs.length > 1 ? select("Run", this.runs.map((r) => [r.run, r.run]), this.runs[0].run, (v) => change({ run: v })) : null;
    this.plan = data.views.plan || null;
    this.planBox = el("div", {});
    this.node = el("div", { class: "whatif-view" }, this.plan ? el("section", {}, el("h2", {}, "What to set"), this.planBox, planText(this.plan)) : null, this.runs.length > 0 ? el("h2", {}, "Try a setting") : null, el("div", { class: "row" }, this.choice),
      this.runs.length > 0 && el("p", {}, "What the collector would cost under another setting, predicted by the pacer's formula from the recorded live heap and allocation rate. Requests, load and the program's own CPU are taken to stay as they were. The collector is all that samples show of it but assists: sweeping, write barriers and scavenging are in it, which a log of collections does not count."),
      this.box, this.sliders, this.result);
    onTheme(() => { this.drawn = this.planned = ""; if (!this.node.hidden) this.show({ run: this.w && this.w.run }); });
  }

  show(now) {
    this.showPlan();
    if (this.runs.length === 0) return;
    const w = this.runs.find((r) => r.run === now.run) || this.runs[0];
    if (this.choice) this.choice.querySelector("select").value = w.run;
    if (w !== this.w) this.begin(w);
    const width = Math.min(this.box.clientWidth || this.node.clientWidth, 1100), key = `${w.run} ${width}`;
    if (width === 0 || key === this.drawn) return;
    this.drawn = key;
    this.draw(width);
  }

  showPlan() {
    const width = Math.min(this.node.clientWidth, 1100);
    if (!this.plan || width === 0 || width === this.planned) return;
    this.planned = width;
    if (this.planPlot) this.planPlot.destroy();
    const made = planChart(this.plan, width);
    this.planPlot = made.plot;
    replace(this.planBox, made.node);
  }

  begin(w) {
    this.w = w;
    this.drawn = "";
    this.today = { gogc: w.gogc, limit: w.limit, ballast: w.ballast };
    this.setting = { ...this.today };
    const set = (k) => (v) => {
      this.setting[k] = v;
      this.update();
    };
    // Without the memory beside the heap, limits would look wider than they are.
    this.limits = w.non_heap > 0;
    const least = w.live + w.non_heap, off = (v) => (v === 0 ? "none" : bytes(v));
    const steps = [...new Set([...gogcSteps, Math.max(0, w.gogc)])].sort((a, b) => a - b);
    this.controls = {
      gogc: slider("GOGC", "GOGC", [...steps, -1], (v) => (v < 0 ? "off" : String(v)), set("gogc")),
      limit: slider("Memory limit", "memory limit", [...new Set([0, w.limit, ...sizes(least, Math.max(64 * least, 1024 * mib))])].sort((a, b) => a - b), off, set("limit")),
      ballast: slider("Ballast", "ballast", [...new Set([0, w.ballast, ...sizes(w.live / 4, Math.max(16 * w.live, 512 * mib))])].sort((a, b) => a - b), off, set("ballast")),
    };
    if (!this.limits) delete this.controls.limit;
    replace(this.sliders, this.limits ? null : el("p", { class: "note" }, "There is no slider for a memory limit: the recording does not show the memory that the runtime maps beside the heap."), Object.values(this.controls).map((c) => c.node), button("Today's setting", () => { this.setting = { ...this.today }; this.reset(); }, { class: "quiet" }));
    this.reset();
  }

  reset() {
    for (const [k, c] of Object.entries(this.controls)) c.set(k === "gogc" && this.setting.gogc < 0 ? 1e9 : this.setting[k]);
    this.update();
  }

  // points are the curve, today's setting and the chosen one, by memory.
  points() {
    const at = (s) => outcome(this.w, s), list = curve.map((gogc) => ({ ...at({ ...this.setting, gogc }), kind: "curve", gogc })).filter((p) => p.cpu);
    const today = at(this.today), chosen = at(this.setting);
    if (today) list.push({ ...today, kind: "today" });
    if (chosen) list.push({ ...chosen, kind: "chosen" });
    return list.sort((a, b) => a.memory - b.memory);
  }

  columns() {
    const p = this.points();
    const pick = (f) => p.map(f);
    return [pick((x) => x.memory), pick((x) => (x.kind === "curve" ? x.cpu.value : null)), pick((x) => (x.kind === "curve" ? x.cpu.high : null)), pick((x) => (x.kind === "curve" ? x.cpu.low : null)),
      pick((x) => (x.kind === "today" ? x.cpu.value : null)), pick((x) => (x.kind === "chosen" ? x.cpu.value : null))];
  }

  draw(width) {
    const [xs, value, high, low, today, chosen] = this.columns();
    if (this.plot) this.plot.destroy();
    const made = chart({
      title: `Collector's CPU against ${this.limits ? "Go memory at its peak" : "the heap goal"}`, note: `along GOGC, with the ${this.limits ? "limit and ballast" : "ballast"} below`, xs, x: bytes, xLabel: this.limits ? "memory" : "heap goal", y: percent, height: 300, log: true,
      range: (_, min, max) => [0, Math.min(1, (max || 1) * 1.08)], summary: "see the figures below",
      series: [{ label: "predicted", values: value, color: "line1" }, { label: "95 % high", values: high, color: "line5", dash: [3, 4] }, { label: "95 % low", values: low, color: "line5", dash: [3, 4] },
        { label: "today", values: today, color: "line2", kind: "points", size: 8 }, { label: "chosen", values: chosen, color: "line4", kind: "points", size: 13 }],
    }, width);
    this.plot = made.plot;
    replace(this.box, made.node);
  }

  update() {
    const w = this.w, s = this.setting, then = outcome(w, s), now = outcome(w, this.today);
    if (this.plot && this.drawn) this.plot.setData(this.columns());
    if (!then || !now) return replace(this.result, el("p", { class: "bad" }, s.gogc < 0 && s.limit === 0 ? "Without GOGC and without a limit the collector never runs, and memory grows without end." : "There is no steady state under this setting."));
    const saved = { value: now.cpu.value - then.cpu.value, low: Math.min(now.cpu.low - then.cpu.low, now.cpu.high - then.cpu.high), high: Math.max(now.cpu.low - then.cpu.low, now.cpu.high - then.cpu.high) };
    const tight = then.room < 0.1 * (w.live + s.ballast);
    const text = this.command();
    const copy = button("Copy the setting", () => navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; }));
    return replace(this.result, el("dl", { class: "figures" },
      [["collector", "Collector, without assists", `${share(then.cpu)} of CPU, today ${share(now.cpu)}`], ["saving", saved.value >= 0 ? "Saves" : "Costs", `${share(saved.value >= 0 ? saved : { value: -saved.value, low: -saved.high, high: -saved.low })} of CPU`],
        ["heap goal", "Heap goal", `${bytes(then.goal)}, today ${bytes(now.goal)}`], this.limits && ["held memory", "Go memory", `${bytes(then.memory)}, today ${bytes(now.memory)}`], ["cycle", "Collections", `${trimmed(then.cycles)} × today's`]]
        .filter(Boolean).map(([word, label, v]) => el("div", { class: "figure" }, el("dt", {}, term(word, label)), el("dd", {}, v)))),
    tight ? el("p", { class: "bad" }, "The limit leaves less than a tenth of the live heap between collections: the collector would run nearly all the time.") : null,
    el("p", { class: "setting" }, el("code", { class: "code" }, text), " ", copy, s.ballast > 0 ? el("small", {}, " Ballast is made by the program itself: see rt/ballast.") : null));
  }

  command() {
    const s = this.setting, out = [`GOGC=${s.gogc < 0 ? "off" : s.gogc}`];
    if (s.limit > 0) out.push(`GOMEMLIMIT=${Math.round(s.limit / mib)}MiB`);
    if (s.ballast > 0) out.push(`ballast=${Math.round(s.ballast / mib)}MiB`);
    return out.join(" ");
  }
}

// whatIfView is there when a run's collector could be modelled.
export const whatIfView = {
  id: "whatif",
  title: "What if",
  there: (data) => data.views.whatif.length > 0 || Boolean(data.views.plan),
  make(data) {
    const v = new WhatIf(data);
    return { node: v.node, show: (now) => v.show(now) };
  },
};
