// What the page shows stands behind the # of its address, so that a link or
// the browser's history brings it back.

const listeners = [];
let current = read();

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

// state returns the values; do not change them.
export function state() {
  return current;
}

// change sets values and tells everyone; null or "" takes one away. Without
// keep, the step can be undone by the browser's back button.
export function change(patch, keep) {
  const next = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined || value === "") delete next[key];
    else next[key] = String(value);
  }
  const hash = "#" + new URLSearchParams(next).toString();
  if (hash === "#" + new URLSearchParams(current).toString()) return;
  current = next;
  if (keep) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  tell();
}

// onChange calls f whenever the values change.
export function onChange(f) {
  listeners.push(f);
}

function tell() {
  for (const f of listeners) f(current);
}

// startState follows the browser's back and forward buttons.
export function startState() {
  const follow = () => {
    current = read();
    tell();
  };
  window.addEventListener("popstate", follow);
  window.addEventListener("hashchange", () => {
    if (new URLSearchParams(current).toString() !== new URLSearchParams(read()).toString()) follow();
  });
}
