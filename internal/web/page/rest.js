// What the page leaves out, asked of the server that it came from. A page that
// stands alone asks nobody.

// Rest remembers what has been answered; arrived is called when more has.
export class Rest {
  constructor(data, arrived) {
    this.version = data.views.version || "";
    this.arrived = arrived;
    this.answers = new Map();
  }

  // get returns what the server says to a question, null while it has not yet
  // answered, and undefined where there is none to ask.
  get(name, question) {
    if (!this.version) return undefined;
    // A name beside the page's own, so that nobody else is ever asked.
    const address = `${name}?${new URLSearchParams({ ...question, version: this.version })}`;
    if (!this.answers.has(address)) {
      this.answers.set(address, null);
      this.ask(address);
    }
    return this.answers.get(address);
  }

  async ask(address) {
    let answer;
    try {
      const r = await fetch(address, { cache: "no-store" });
      answer = r.ok ? await r.json() : { missing: r.status === 409 ? "the recording has changed since; load the page again" : `the server says ${r.status}` };
    } catch {
      answer = { missing: "the server has gone" };
    }
    this.answers.set(address, answer);
    this.arrived();
  }
}
