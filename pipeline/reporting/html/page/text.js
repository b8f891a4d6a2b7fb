// Texts of memories become text nodes only; what cannot be seen is shown as its escape.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/u;
const WORD = /[^ \t\r\n]+/g;

function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function fill(node, ...children) { node.replaceChildren(...children.flat().filter(Boolean)); }

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function escapeOf(char) {
  const code = char.codePointAt(0);
  if (code < 0x100) return "\\x" + code.toString(16).padStart(2, "0");
  return code < 0x10000 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
}

// A text as nodes: line breaks stay, every other character without a form of its own becomes its escape.
function shown(text) {
  const nodes = [];
  let plain = "";
  for (const char of text) {
    if (char === "\n" || char === "\t" || !HIDDEN.test(char)) { plain += char; continue; }
    if (plain) nodes.push(plain);
    plain = "";
    nodes.push(el("span", { class: "esc" }, escapeOf(char)));
  }
  if (plain || !nodes.length) nodes.push(plain);
  return nodes;
}

// The same as one line for titles and labels.
function flat(text, width = 90) {
  const line = [...text.replace(/\s+/g, " ").trim()].map((char) => (HIDDEN.test(char) ? escapeOf(char) : char));
  return line.length > width ? line.slice(0, width - 1).join("") + "…" : line.join("");
}

function wordPlaces(text) {
  return [...text.matchAll(WORD)].map((found) => [found.index, found.index + found[0].length]);
}

// A text in which ranges of words are marked as differing.
function marked(text, ranges) {
  const places = wordPlaces(text);
  const spans = ranges.filter(([from, to]) => to > from && places[from])
    .map(([from, to]) => [places[from][0], places[Math.min(to, places.length) - 1][1], "mark", ""]);
  return spanned(text, spans);
}

// A text with spans [start, end, tag, class]; they are sorted and do not overlap.
function spanned(text, spans) {
  const nodes = [];
  let at = 0;
  for (const [start, end, tag, name] of spans) {
    if (start > at) nodes.push(...shown(text.slice(at, start)));
    nodes.push(el(tag, { class: name || null }, shown(text.slice(start, end))));
    at = end;
  }
  if (at < text.length || !nodes.length) nodes.push(...shown(text.slice(at)));
  return nodes;
}

// Places counted in characters become places counted as this language counts.
function units(text, places) {
  const starts = [];
  let at = 0;
  for (const char of text) { starts.push(at); at += char.length; }
  starts.push(at);
  return places.map(([start, end, ...rest]) => [starts[start], starts[end], ...rest]);
}

// Two short texts word above word: what they share stands in one column.
function aligned(a, b, ranges, tags) {
  const words = [a, b].map((text) => text.match(WORD) || []);
  const columns = [el("i", { class: "tag" }, el("span", {}, tags[0]), el("span", {}, tags[1]))];
  const column = (left, right, differs) => columns.push(el("i", {}, ...[left, right].map((word) =>
    el("span", {}, word === undefined ? "" : differs ? el("mark", {}, shown(word)) : shown(word)))));
  let i = 0, k = 0;
  for (const [a0, a1, b0, b1] of [...ranges, [words[0].length, words[0].length, words[1].length, words[1].length]]) {
    while (i < a0 && k < b0) column(words[0][i++], words[1][k++], false);
    while (i < a1 || k < b1) column(i < a1 ? words[0][i++] : undefined, k < b1 ? words[1][k++] : undefined, true);
  }
  return el("div", { class: "aligned", "aria-hidden": "true" }, columns);
}

function plural(count, one, many = one + "s") { return `${count.toLocaleString("en")} ${count === 1 ? one : many}`; }
