// Elements. Text is only ever put in as text, so no name can become markup.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && known(value)) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter(known));
  return element;
}

// What would move, reorder or hide text is shown by its code.
const ACTS = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
function clean(text) {
  return text.replace(ACTS, (c) => {
    const code = c.codePointAt(0);
    if (c === "\n") return "\\n";
    if (c === "\r") return "\\r";
    if (c === "\t") return "\\t";
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}
function shorten(text, most) {
  const letters = Array.from(clean(text));
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}
const nameOf = (number) => known(number) ? data.names[number] : null;
const plainName = (number, most = 60) => {
  const name = nameOf(number);
  return name === null ? UNKNOWN : name === "" ? "unknown" : shorten(name, most);
};
// A name that a click shows in full.
function name(number, most = 90) {
  const text = nameOf(number);
  if (text === null || text === "") return plainName(number);
  const short = shorten(text, most);
  if (short === clean(text)) return short;
  const span = el("span", { class: "name" }, short);
  const button = el("button", { class: "full", "aria-expanded": "false", onclick: (event) => {
    event.stopPropagation();
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    button.textContent = open ? "full name" : "shorten";
    span.textContent = open ? short : clean(text);
  } }, "full name");
  return [span, " ", button];
}
function replace(host, ...children) {
  host.replaceChildren(...children.flat(9).filter(known));
}
// Buttons of which one is on.
function choice(label, options, current, choose) {
  const buttons = options.map(([value, text]) => el("button", {
    type: "button", "aria-pressed": String(value === current), onclick: () => {
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][0] === value)));
      choose(value);
    },
  }, text));
  return el("span", { class: "switch", role: "group", "aria-label": label }, buttons);
}
// A part of the page: its title and a remark in the margin.
function block(id, title, remark, ...body) {
  return el("section", { class: "block", id, "aria-label": title },
    el("h2", {}, title), el("p", { class: "aside" }, remark), el("div", { class: "body" }, body));
}
