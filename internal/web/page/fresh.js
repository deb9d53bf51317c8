// Of a page that is served: asks the server whether the recording has changed,
// and says so. A page that stands alone asks nothing of anybody.
import { button, el } from "./dom.js";

const every = 2000; // milliseconds

// watchRecording begins to ask; version is that of the data on the page.
export function watchRecording(version) {
  if (!version) return;
  const said = el("div", { class: "fresh", role: "status", hidden: true },
    el("span", {}, "The recording has changed. "), button("Show it", () => location.reload()), button("Later", () => { said.hidden = true; }, { class: "quiet" }));
  document.body.append(said);
  let now = version;
  const ask = async () => {
    try {
      const answer = await fetch("version.json", { cache: "no-store" });
      const { version: there } = await answer.json();
      if (typeof there === "string" && there !== now) {
        now = there;
        said.hidden = there === version;
      }
    } catch {
      // The server has gone; the page stays as it is.
    }
    window.setTimeout(ask, every);
  };
  window.setTimeout(ask, every);
}
