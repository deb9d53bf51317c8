// Elements, made from data without ever parsing text as HTML.

// el makes an element. Of props, class, on (listeners), style (CSS properties)
// and data (data-* attributes) are special; a key with a dash is an attribute;
// the rest are properties. Children are nodes, texts, numbers, lists of these,
// or null.
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined) continue;
    if (key === "class") node.className = value;
    else if (key === "on") for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
    else if (key === "style") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key.includes("-") || key === "role" || key === "for" || key === "scope" || key === "colspan") node.setAttribute(key, value);
    else node[key] = value;
  }
  append(node, children);
  return node;
}

// append adds children as el takes them.
export function append(node, children) {
  for (const c of children) {
    if (c === null || c === undefined || c === false) continue;
    if (Array.isArray(c)) append(node, c);
    else node.append(c instanceof Node ? c : document.createTextNode(visible(String(c))));
  }
}

// replace gives a node new children.
export function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

// Characters that show nothing or turn the direction of writing, so that a name
// could look like another one: C0 and C1 controls but tab and newline, marks of
// direction, and of no width.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// visible shows such characters by their number.
export function visible(text) {
  return text.replace(unseen, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// prose is a sentence of the report as children of an element: what stands
// between backticks is code. An odd one is no pair, so the text stays as it is.
export function prose(text) {
  const parts = text.split("`");
  return parts.length % 2 === 0 ? text : parts.map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

// button makes a button that acts.
export function button(label, act, props) {
  return el("button", { type: "button", ...props, on: { click: act } }, label);
}

// select makes a labelled choice; options are [value, label] pairs.
export function select(label, options, value, change) {
  const box = el("select", { "aria-label": label, on: { change: () => change(box.value) } },
    options.map(([v, text]) => el("option", { value: v }, text)));
  box.value = value;
  return el("label", { class: "field" }, el("span", {}, label), box);
}

// table makes a table with a caption for those who do not see it. Columns are
// {title, cell(row), class, help}; a title may be a node.
export function table(caption, columns, rows, rowProps) {
  return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col", class: c.class }, c.title)))),
      el("tbody", {}, rows.map((r, i) => el("tr", rowProps ? rowProps(r, i) : {},
        columns.map((c) => el("td", { class: c.class, data: { label: typeof c.title === "string" ? c.title : c.label || "" } }, c.cell(r, i))))))));
}
