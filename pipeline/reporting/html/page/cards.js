// One proposal as a card.
const SHORT = 60; // words up to which two texts are shown word above word
const TALL = 1500; // characters from which a text scrolls in a box of its own

function textBox(nodes, length) { return el("div", { class: "text" + (length > TALL ? " long" : ""), tabindex: length > TALL ? "0" : null }, nodes); }

function metaLine(row, tag, standing, pinnable = true) {
  const found = memory(row);
  const dates = [found.created ? `created ${found.created.slice(0, 10)}` : "no date", found.updated && `updated ${found.updated.slice(0, 10)}`,
    found.read && `read ${found.read.slice(0, 10)}`, found.expires && `expires ${found.expires}`, found.pinned && "pinned"].filter(Boolean);
  const pinned = live && data.live.pins.includes(found.id);
  return el("div", { class: "meta" },
    tag && el("b", {}, tag), el("span", { class: "name" }, shown(`${data.kind}:${found.name}`)),
    standing && el("span", { class: standing === "goes" || standing === "removed" ? "goes" : "stays" }, standing),
    found.category !== undefined && el("span", {}, shown(data.categories[found.category])),
    el("span", {}, dates.join(" · ")),
    pinnable && canWrite() && el("button", { class: "link noprint", type: "button", "data-pin": found.id, onclick: () => pin(found.id, !pinned) }, pinned ? "Unpin" : "Pin"));
}

// Of a run: an action that was skipped changed nothing.
function untouched(card) { return Boolean(card.outcome) && card.outcome[0] === "skipped"; }
function leaves() { return data.run ? "removed" : "goes"; }

function members(card) {
  const texts = card.members.map((row) => memory(row).text);
  const tags = card.members.map((_, place) => String.fromCharCode(65 + place % 26));
  const standing = (place) => (untouched(card) ? "untouched" : card.stays === place ? "stays" : leaves());
  const short = texts.length === 2 && texts.every((text) => !text.includes("\n") && (text.match(WORD) || []).length <= SHORT);
  const lines = card.members.map((row, place) => metaLine(row, tags[place], standing(place)));
  if (short && card.diff) {
    return [...lines, aligned(texts[0], texts[1], card.diff, tags), el("div", { class: "visually-hidden" }, texts.map((text, place) => el("p", {}, `${tags[place]}: `, shown(text))))];
  }
  const sides = (place) => (card.diff ? card.diff.map((r) => (place ? r.slice(2) : r.slice(0, 2))) : place && card.diffs ? card.diffs[place - 1].map((r) => r.slice(2)) : []);
  return card.members.map((row, place) => el("div", { class: "member" }, lines[place], textBox(marked(texts[place], sides(place)), texts[place].length)));
}

function lineDiff(lines) {
  return el("div", { class: "diff", tabindex: "0", role: "group", "aria-label": "Lines that change" }, lines.map(([sign, text]) =>
    el("div", { class: { "+": "plus", "-": "minus" }[sign] || null }, `${sign} `, shown(text))));
}

// The text that is alive afterwards, coloured by the source of each clause.
function afterwards(card) {
  const texts = card.members.map((row) => memory(row).text);
  const answer = answerTo(card);
  const edited = answer && answer.text !== undefined && answer.text !== null;
  const text = edited ? answer.text : card.text !== undefined ? card.text : texts[card.stays] ?? "";
  const label = edited ? "Afterwards (your words)" : card.writes === "new" ? "Afterwards: a new memory takes the place of all" : card.writes === "rewrites" ? `Afterwards: ${String.fromCharCode(65 + card.stays)} says` : `Afterwards: ${String.fromCharCode(65 + card.stays)} stays as it is`;
  const spans = edited || !card.origins ? [] : units(text, card.origins).filter((o) => o[2] >= 0).map(([s, e, whose]) => [s, e, "span", `from${whose % 3}`]);
  const parts = [el("p", { class: "label" }, label)];
  if (card.lines && !edited) parts.push(lineDiff(card.lines));
  else if (card.writes || edited) parts.push(textBox(spanned(text, spans), text.length));
  return el("div", { class: "after" }, parts);
}

function sources(card) {
  if (!card.kept || !card.kept.some((places) => places.length)) return null;
  const rows = card.members.map((row, place) => {
    const text = memory(row).text;
    const spans = units(text, card.kept[place] || []).map(([s, e, kept]) => [s, e, "span", kept ? "kept" : "dropped"]);
    return el("div", { class: "member" }, el("span", { class: "label" }, String.fromCharCode(65 + place % 26) + " "), textBox(spanned(text, spans), text.length));
  });
  const dropped = card.kept.some((places) => places.some((place) => !place[2]));
  return el("details", { open: dropped || card.writes === "new" }, el("summary", {}, "Clause by clause: ", el("span", { class: "kept" }, "kept"), " or ", el("span", { class: "dropped" }, "dropped")), rows);
}

function evidence(card) {
  const found = new Map();
  for (const verdict of card.verdicts || []) for (const [kind, words, veto] of verdict.evidence || []) found.set(words, [kind, veto]);
  if (!found.size) return null;
  return el("ul", { class: "evidence", "aria-label": "Evidence" }, [...found].map(([words, [kind, veto]]) => el("li", { class: veto ? "veto" : null, title: kind }, shown(words))));
}

function scores(card) {
  if (!card.verdicts || !card.verdicts.length) return null;
  const tag = (place) => (place < 0 ? "the merged text" : String.fromCharCode(65 + place));
  const cell = (value) => el("td", {}, value.toFixed(2));
  const rows = card.verdicts.map((v) => v.exact
    ? el("tr", {}, el("th", { scope: "row" }, `${tag(v.pair[0])} and ${tag(v.pair[1])}`), el("td", { colspan: "6" }, "word for word the same"))
    : el("tr", {}, el("th", { scope: "row" }, `${tag(v.pair[0])} and ${tag(v.pair[1])}`), ...v.p.map(cell), ...v.entails.map(cell), cell(v.cosine)));
  const heads = ["Pair", "duplicate", "contradiction", "distinct", "first entails second", "second entails first", "cosine"];
  return el("details", {}, el("summary", {}, "Scores"), el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Scores" }, el("table", { class: "scores" }, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, rows))));
}

function conflict(card) {
  const answer = answerTo(card);
  const chosen = answer ? answer.say : card.choice;
  const count = card.sides[0];
  const side = (letter, rows, place) => {
    const first = rows[0];
    const text = card.said && card.said.length ? card.said[place] : memory(first).text;
    const lost = (chosen === "a" || chosen === "b") && chosen !== letter;
    const ranges = card.diff.map((r) => (place ? r.slice(2) : r.slice(0, 2)));
    return el("div", { class: "side" + (chosen === letter ? " chosen" : lost ? " lost" : "") },
      metaLine(first, letter.toUpperCase(), untouched(card) ? "untouched" : chosen === letter ? "stays" : lost ? leaves() : null),
      textBox(marked(text, ranges), text.length),
      card.newer === letter && el("p", { class: "small quiet" }, "Stated later: likely to hold"),
      rows.length > 1 && el("details", {}, el("summary", {}, `${plural(rows.length - 1, "more memory", "more memories")} on this side`), rows.slice(1).map((row) => el("div", { class: "member" }, metaLine(row), textBox(shown(memory(row).text), 0)))),
      card.said && card.said.length ? el("details", {}, el("summary", {}, "The whole memory"), textBox(shown(memory(first).text), memory(first).text.length)) : null);
  };
  return [el("p", { class: "quiet small" }, "About: ", shown(card.topic)), el("div", { class: "two" }, side("a", card.members.slice(0, count), 0), side("b", card.members.slice(count), 1))];
}

function body(card) {
  if (card.kind === "merge") {
    const notes = Object.entries(card.merged || {}).map(([key, values]) => el("p", { class: "small" }, shown(`${key}: `), shown(values.join(" / ")), el("span", { class: "quiet" }, " (all kept, the last counts)")));
    const life = card.expires !== undefined && el("p", { class: "small" }, `Expires: ${card.expires || "no longer"}`);
    return [...members(card), afterwards(card), sources(card), life, ...notes, evidence(card), scores(card)];
  }
  if (card.kind === "resolve") return [...conflict(card), evidence(card), scores(card)];
  const row = card.members[0], text = memory(row).text;
  if (card.kind === "prune") {
    const age = card.age !== undefined ? `${card.age.toLocaleString("en")} days old` : "age unknown";
    return [metaLine(row, null, untouched(card) ? "untouched" : leaves()), textBox(shown(text), text.length), el("p", { class: "small" }, el("b", {}, `${card.reason}, ${age}`), card.detail ? [" · ", ...shown(card.detail)] : null)];
  }
  const change = card.lines ? lineDiff(card.lines) : el("div", {},
    el("p", { class: "label" }, "Before"), textBox(marked(text, card.diff.map((r) => r.slice(0, 2))), text.length),
    el("p", { class: "label" }, "Afterwards"), textBox(marked(card.text, card.diff.map((r) => r.slice(2))), card.text.length));
  return [metaLine(row, null, "kept"), el("p", { class: "small" }, shown(card.reason)), change];
}

// What else says something like it, so that a decision is not made in the dark.
function neighbours(card) {
  if (!card.near) return null;
  return el("details", { class: "near" }, el("summary", {}, `Also near (${card.near.length})`), card.near.map((row) => el("div", { class: "member" }, metaLine(row, null, null, false), textBox(shown(memory(row).text), memory(row).text.length))));
}

function heading(card) {
  const what = card.unsure ? (card.kind === "merge" ? "May be the same" : "May contradict") : NAMES[card.kind];
  const sure = card.p !== undefined ? el("span", { class: "small quiet" }, (card.exact || []).length === card.members.length - 1 ? "the same words" : `${Math.round(card.p * 100)}%`) : null;
  const outcome = card.outcome ? el("span", { class: "badge " + (card.outcome[0] === "applied" ? "stays" : "goes") }, card.outcome[0] + (card.outcome[1] ? `: ${flat(card.outcome[1])}` : "")) : null;
  return el("header", {}, el("h3", { class: "kind", id: `h-${card.key}` }, what, el("span", { class: "visually-hidden" }, ` ${flat(memory(card.members[0]).text, 60)}`)), sure, outcome,
    el("span", { class: "where small quiet" }, shown(data.scopes[card.scope])));
}

function cardNode(card) {
  const answered = answerTo(card) || pinnedIn(card);
  return el("article", { class: `card ${group(card)}${answered ? " answered" : ""}`, tabindex: "-1", id: `c-${card.key}`, "aria-labelledby": `h-${card.key}`, onfocusin: () => { state.current = card.key; } },
    heading(card), body(card), neighbours(card), live ? controls(card) : null);
}
