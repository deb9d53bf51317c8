// What frames are called at a level of detail, and where the filters of a state
// let the weights of a call go.
import { isCPU } from "./flame_model.js";

// labelsOf numbers what frames are called at a level of detail: function,
// filefunction, line, address, file or package.
export function labelsOf(m, detail) {
  const index = new Map(), list = [], of = new Int32Array(m.frames.function.length);
  for (let f = 0; f < of.length; f++) {
    const fn = m.frames.function[f], file = m.files[m.frames.file[f]], name = m.functions.name[fn];
    const pkg = m.functions.packages[m.functions.package[fn]];
    const own = m.functions.owner[fn] === "heaptrim";
    const address = detail === "address" && m.frames.place ? m.addresses[m.frames.place[f]] : "";
    const texts = { address: `${name} ${file.split("/").pop()}:${m.frames.line[f]}${address ? ` 0x${address}` : ""}`, line: `${name} ${file.split("/").pop()}:${m.frames.line[f]}`, filefunction: `${name} ${file}`, file: file || name, package: pkg || name };
    const text = !own && Object.hasOwn(texts, detail) && texts[detail] ? texts[detail] : name;
    const key = detail === "function" ? fn : text;
    let at = index.get(key);
    if (at === undefined) {
      at = list.length;
      index.set(key, at);
      list.push({ text, fn, file, line: m.frames.line[f], pkg, owner: m.functions.owner[fn] });
    }
    of[f] = at;
  }
  return { list, of };
}

// compile makes a regular expression, or says what is wrong with it. Unlike in
// pprof, an expression without capitals does not care about them.
export function compile(text) {
  if (!text) return { re: null, error: "" };
  try {
    return { re: new RegExp(text, /[A-Z]/.test(text) ? "" : "i"), error: "" };
  } catch (e) {
    return { re: null, error: e.message };
  }
}

// matches says for each frame whether an expression matches its function or
// file, as pprof's filters do, or its function alone; null without one.
function matches(m, text, functionsOnly) {
  const { re } = compile(text);
  if (!re) return null;
  const byFunction = m.functions.name.map((s) => re.test(s)), byFile = m.files.map((s) => !functionsOnly && s !== "" && re.test(s));
  return Uint8Array.from(m.frames.function, (fn, f) => (byFunction[fn] || byFile[m.frames.file[f]] ? 1 : 0));
}

// Bits of what is known of a call's path.
const focused = 1, ignored = 2, begun = 4, pruned = 8;

// place finds where the weights of each data node go, -1 for nowhere, and makes
// the nodes of the tree t. Options: o as project takes it; f, compiled filters;
// used, data nodes that have any weight below, null for all; labels; root, the
// node to begin at.
export function place(m, t, { o, f, used, labels, root }) {
  const map = new Int32Array(m.n).fill(-1), places = new Int32Array(m.n).fill(-1), path = new Uint8Array(m.n);
  const kept = f.prune ? keptBelow(m, f) : null, cut = kept ? new Int32Array(m.n).fill(-1) : null, merged = o.inline === "off" ? new Uint8Array(m.n) : null;
  // The collector's time stands on frames of its own, which weigh nothing else.
  const virtual = !isCPU(o.mode) || o.mode.id === "churn" || o.mode.id === "retention";
  // As for pprof, what has no frame left is not there.
  const bared = o.pivot === undefined && Boolean(f.hide || f.show);
  if (o.pivot === undefined) places[0] = root;
  path[0] = (f.focus ? 0 : focused) | (f.from ? 0 : begun);
  if (path[0] === (focused | begun)) map[0] = places[0];
  for (let i = 1; i < m.n; i++) {
    if (used && !used[i]) continue;
    const p = m.parent[i], frame = m.frame[i], label = labels.of[frame], isOwn = labels.list[label].owner === "heaptrim";
    path[i] = path[p] | (f.focus && f.focus[frame] ? focused : 0) | (f.ignore && f.ignore[frame] ? ignored : 0) | (f.from && f.from[frame] && !hidden(f, frame) ? begun : 0);
    const inside = Boolean(path[p] & pruned) && !kept[i];
    let shown = Boolean(path[i] & begun) && !hidden(f, frame) && !(virtual && isOwn && p !== 0);
    const prunes = shown && Boolean(f.prune) && f.prune[frame] === 1;
    if (merged) {
      // Inlined code counts to the outermost frame of its call that is shown.
      const before = m.inlined[i] && merged[p];
      merged[i] = before || shown ? 1 : 0;
      shown = shown && !before;
    }
    let at = places[p];
    if (o.pivot !== undefined && at < 0 && label === o.pivot && !inside) at = root;
    else if (at >= 0 && shown && !inside) at = t.child(at, label);
    if (at !== places[p] && !m.inlined[i]) t.called[at] = 1;
    places[i] = at;
    if (cut) cut[i] = prunes ? at : path[p] & pruned ? cut[p] : -1;
    if (prunes) path[i] |= pruned;
    if ((path[i] & (focused | ignored | begun)) === (focused | begun)) map[i] = path[i] & pruned ? cut[i] : at === root && bared ? -1 : at;
  }
  return map;
}

// hidden reports whether the filters take a frame out of its stacks.
const hidden = (f, frame) => Boolean((f.hide && f.hide[frame]) || (f.show && !f.show[frame]));

// keptBelow marks the calls that a stack is cut at or that such a call stands
// below: of what is cut off, nothing else is needed.
function keptBelow(m, f) {
  const kept = new Uint8Array(m.n);
  for (let i = m.n - 1; i > 0; i--) {
    if (f.prune[m.frame[i]] && !hidden(f, m.frame[i])) kept[i] = 1;
    if (kept[i]) kept[m.parent[i]] = 1;
  }
  return kept;
}

// passing says for each data node whether its stack passes through what focus
// wants and through nothing that is ignored; null without such filters.
export function passing(m, o) {
  const f = filters(m, o);
  if (!f.focus && !f.ignore) return null;
  const path = new Uint8Array(m.n), out = new Uint8Array(m.n);
  path[0] = f.focus ? 0 : 1;
  for (let i = 0; i < m.n; i++) {
    if (i > 0) path[i] = path[m.parent[i]] | (f.focus && f.focus[m.frame[i]] ? 1 : 0) | (f.ignore && f.ignore[m.frame[i]] ? 2 : 0);
    out[i] = path[i] === 1 ? 1 : 0;
  }
  return out;
}

// filters compiles the expressions of a state.
export function filters(m, o) {
  return { focus: matches(m, o.focus), ignore: matches(m, o.ignore), hide: matches(m, o.hide), show: matches(m, o.show), from: matches(m, o.from), prune: matches(m, o.prune, true) };
}
