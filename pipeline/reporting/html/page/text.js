// Texts of memories become text nodes only; what cannot be seen is shown as its escape.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/u;
// Joiners belong to emoji, and to scripts whose letters change their form with them.
const JOINED = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{fe0f}])\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arab}\p{Script=Deva}\p{Script=Beng}\p{Script=Mlym}\p{Script=Sinh}])[\u200c\u200d](?=[\p{Script=Arab}\p{Script=Deva}\p{Script=Beng}\p{Script=Mlym}\p{Script=Sinh}])/gu;

function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function fill(node, ...children) { node.replaceChildren(...children.flat(Infinity).filter(Boolean)); }

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, value);
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
  if (!HIDDEN.test(text)) return [text];
  const joiners = new Set([...text.matchAll(JOINED)].map((found) => found.index));
  const nodes = [];
  let plain = "", at = 0;
  for (const char of text) {
    if (char === "\n" || char === "\t" || joiners.has(at) || !HIDDEN.test(char)) plain += char;
    else {
      nodes.push(plain, el("span", { class: "esc" }, escapeOf(char)));
      plain = "";
    }
    at += char.length;
  }
  return [...nodes, plain];
}

// The same as one line for titles and labels.
function flat(text, width = 90) {
  const line = [...text.replace(/\s+/g, " ").trim()].map((char) => (HIDDEN.test(char) && char !== "\u200d" && char !== "\u200c" ? escapeOf(char) : char));
  return line.length > width ? line.slice(0, width - 1).join("") + "…" : line.join("");
}

// A text with places [start, end, lost]: what differs, and what is not kept anywhere.
function marked(text, places = []) {
  const nodes = [];
  let at = 0;
  for (const [start, end, lost] of places) {
    nodes.push(...shown(text.slice(at, start)), el(lost ? "del" : "mark", {}, shown(text.slice(start, end))));
    at = end;
  }
  return [...nodes, ...shown(text.slice(at))];
}

// Words of evidence: what stands between asterisks is somebody's.
function quoted(words) { return words.split("*").map((part, place) => (place % 2 ? el("b", {}, shown(part)) : shown(part))); }
function plural(count, one, many = one + "s") { return `${count.toLocaleString("en")} ${count === 1 ? one : many}`; }
