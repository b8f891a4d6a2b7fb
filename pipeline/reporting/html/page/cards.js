// One proposal as a card: what stands, what goes, the answer; everything else behind "Why".
const TALL = 1500; // characters from which a text scrolls in a box of its own
const letter = (place) => (place < 0 ? "the merged text" : String.fromCharCode(65 + place % 26));

function textBox(nodes, length) { return el("div", { class: "text" + (length > TALL ? " long" : ""), dir: "auto", tabindex: length > TALL ? "0" : null }, nodes); }

function row(standing, tag, text, places) {
  return el("div", { class: `row ${standing}` }, el("span", { class: "tag" }, tag), textBox(marked(text, places), text.length));
}

function lineDiff(lines) {
  return el("div", { class: "diff", tabindex: "0", role: "group", "aria-label": "Lines that change" }, lines.map(([sign, text]) =>
    el("div", { class: { "+": "plus", "-": "minus" }[sign] || null, dir: "auto" }, `${sign} `, shown(text))));
}

// Of a run: an action that was skipped changed nothing.
function untouched(card) { return Boolean(card.outcome) && card.outcome[0] === "skipped"; }
function goesWord(card) { return untouched(card) ? "Untouched" : data.run ? "Removed" : "Goes"; }

function merge(card) {
  const said = answerTo(card), own = said && typeof said.text === "string" ? said.text : null;
  const several = card.members.length > 1, name = (place) => (several ? ` ${letter(place)}` : "");
  const before = card.stays !== undefined && (card.writes || own !== null) && !card.lines;
  const kept = said && (said.say === "a" || said.say === "b") ? Number(said.say === "b") : null;
  if (kept !== null) return [row("stays", `Stays${name(kept)}`, memory(card.members[kept]).text), row("goes", goesWord(card) + name(1 - kept), memory(card.members[1 - kept]).text)];
  const label = own !== null ? "Your words" : card.writes === "new" ? "New text" : `Stays${name(card.stays)}`;
  const parts = [card.lines && own === null ? [el("p", { class: "tag" }, label), lineDiff(card.lines)] : row("stays", label, own ?? stand(card), own === null ? card.come : [])];
  card.members.forEach((at, place) => {
    if (place === card.stays && !before) return;
    const word = place === card.stays ? "Was" : goesWord(card);
    parts.push(row("goes", word + name(place), memory(at).text, card.marks[place]));
  });
  for (const [key, values] of Object.entries(card.merged || {})) parts.push(el("p", { class: "small quiet" }, shown(`${key}: ${values.join(" / ")}`), " (all kept, the last counts)"));
  if (card.expires !== undefined) parts.push(el("p", { class: "small quiet" }, `Expires: ${card.expires || "no longer"}`));
  return parts;
}

function conflict(card) {
  const answer = answerTo(card), chosen = answer ? answer.say : card.choice, said = card.said.length ? card.said : null;
  const side = (name, rows, place) => {
    const lost = (chosen === "a" || chosen === "b") && chosen !== name;
    const kept = rows.map((at) => card.rests && card.rests[card.members.indexOf(at)]).filter(Boolean);
    const gone = data.run ? "removed" : "goes", fate = kept.length === rows.length ? "is shortened" : gone;
    const first = memory(rows[0]).text, texts = [said ? said[place] : first, ...rows.slice(1).map((at) => memory(at).text)];
    return el("div", { class: "side" + (chosen === name ? " chosen" : lost ? " lost" : "") },
      el("p", { class: "tag" }, name.toUpperCase(), untouched(card) ? " untouched" : chosen === name ? " stays" : lost ? ` ${fate}` : ""),
      texts.map((text, number) => textBox(marked(text, number ? [] : card.marks[place]), text.length)),
      kept.map((text) => el("p", { class: "small quiet" }, "If it does not hold, this is kept: ", shown(text))),
      card.newer === name && el("p", { class: "small quiet" }, "Stated later: likely to hold"),
      said && said[place] !== first && el("details", {}, el("summary", {}, "The whole memory"), textBox(shown(first), first.length)));
  };
  const count = card.sides[0];
  return [card.topic && el("p", { class: "quiet small" }, "About: ", el("bdi", {}, shown(card.topic))), el("div", { class: "two" }, side("a", card.members.slice(0, count), 0), side("b", card.members.slice(count), 1))];
}

function idOf(name) { return `${data.kind}:${name.replace(/#whole-file$/, "")}`; }

// Of files and graphs: in which of them each text stands.
function places(card) {
  const mark = { md: "#", graph: "::" }[data.kind];
  const names = mark ? [...new Set(card.members.map((at) => memory(at).name.split(mark)[0]))] : [];
  return names.length ? el("p", { class: "quiet small places" }, names.map((name, at) => [at ? " · " : "", el("bdi", {}, flat(name))])) : null;
}

function body(card) {
  if (card.kind === "merge") return merge(card);
  if (card.kind === "resolve") return conflict(card);
  const text = memory(card.members[0]).text;
  if (card.kind === "prune") {
    const age = card.age !== undefined ? `${card.age.toLocaleString("en")} days old` : "age unknown";
    return [row("goes", card.unsure ? "Says" : goesWord(card), text), el("p", { class: "small quiet" }, `${card.reason}, `, (card.detail || "").startsWith(age) ? shown(card.detail) : [age, card.detail && [" · ", shown(card.detail)]])];
  }
  const change = card.lines ? lineDiff(card.lines) : [row("stays", "Will say", card.text, card.come), text && row("goes", "Says", text, card.marks[0])];
  return [change, el("p", { class: "small quiet" }, shown(card.reason))];
}

function metaLine(at, tag, pinnable = true) {
  const found = memory(at), pinned = live && data.live.pins.includes(found.id);
  const told = [found.category !== undefined && data.categories[found.category], found.created ? `created ${found.created}` : "no date", found.updated && `updated ${found.updated}`,
    found.read && `read ${found.read}`, found.expires && `expires ${found.expires}`, found.pinned && "pinned"].filter(Boolean);
  return el("p", { class: "meta" }, tag && el("b", {}, `${tag} `), el("code", {}, shown(idOf(found.name))), shown(` ${told.join(" · ")} `),
    pinnable && canWrite() && el("button", { class: "link noprint", type: "button", "data-pin": found.id, "aria-label": `${pinned ? "Unpin" : "Pin"} ${flat(found.name)}`, onclick: () => pin(found.id, !pinned) }, pinned ? "Unpin" : "Pin"));
}

// What pushed the verdict up and down, in words, and as bars.
function verdict(v) {
  const turned = v.pair[0] > v.pair[1] && v.pair[1] >= 0, [a, b] = (turned ? [...v.pair].reverse() : v.pair).map(letter), entails = turned ? [...v.entails].reverse() : v.entails;
  const pushes = (v.evidence || []).map(([, words, , supports]) => el("li", { class: supports ? "up" : "down" }, el("span", { class: "visually-hidden" }, supports ? "For it: " : "Against it: "), quoted(words)));
  const measured = v.exact ? [] : [["the same fact", v.p[0]], ["against each other", v.p[1]], ["different facts", v.p[2]], [`${a} says all of ${b}`, entails[0]], [`${b} says all of ${a}`, entails[1]], ["near in meaning", v.cosine]];
  const bars = measured.map(([words, value]) => {
    const bar = el("i");
    bar.style.width = `${Math.max(0, Math.min(1, value)) * 100}%`;
    return el("tr", {}, el("th", { scope: "row" }, words), el("td", {}, `${Math.round(value * 100)}%`), el("td", { class: "gauge", "aria-hidden": "true" }, bar));
  });
  return [el("p", { class: "tag" }, `${a} and ${b}${v.exact ? ": word for word the same" : ""}`), pushes.length ? el("ul", { class: "pushes" }, pushes) : null, bars.length ? el("table", { class: "scores" }, el("tbody", {}, bars)) : null];
}

function why(card) {
  const several = card.members.length > 1;
  return el("details", { class: "why" }, el("summary", {}, "Why", live && el("kbd", { "aria-hidden": "true" }, "w")), (card.verdicts || []).map(verdict),
    card.members.map((at, place) => metaLine(at, several && letter(place))), data.scopes.length === 1 && el("p", { class: "meta" }, shown(data.scopes[card.scope])),
    // What else says something like it, so that a decision is not made in the dark.
    card.near && el("div", { class: "near" }, el("p", { class: "tag" }, "Also near"), card.near.map((at) => [textBox(shown(memory(at).text), memory(at).text.length), metaLine(at, null, false)])));
}

function heading(card) {
  const what = card.unsure ? (card.kind === "merge" ? "May be the same" : card.kind === "prune" ? "May be out of date" : "May contradict") : NAMES[card.kind];
  const same = card.kind === "merge" && (card.exact || []).length === card.members.length - 1;
  const outcome = card.outcome ? el("span", { class: `badge ${card.outcome[0]}` }, card.outcome[0] + (card.outcome[1] ? `: ${flat(card.outcome[1])}` : "")) : null;
  return el("header", {}, el("h3", { class: "kind", id: `h-${card.key}` }, what, el("span", { class: "visually-hidden" }, ` ${flat(memory(card.members[0]).text, 60)}`)),
    (card.p || same) && el("span", { class: "small quiet" }, same ? "the same words" : `${Math.round(card.p * 100)}%`), card.shares && el("span", { class: "small quiet" }, `${card.shares[0]} of ${card.shares[1]} that share memories`),
    data.scopes.length > 1 && el("span", { class: "small quiet" }, shown(data.scopes[card.scope])), outcome);
}

// An answered card is one coloured line; a click opens it.
function folded(card) {
  const said = answerTo(card), pinned = pinnedIn(card);
  const words = pinned ? "Pinned: this is not touched" : SAID[said.say === "no" && twoSided(card) ? "both" : said.say];
  return [el("details", {}, el("summary", {}, el("b", { class: "said" }, words), " ", el("span", { class: "quiet" }, NAMES[card.kind]), " ", el("bdi", {}, flat(headline(card), 120))), places(card), body(card), why(card)),
    canWrite() && (pinned ? card.members.filter((at) => data.live.pins.includes(memory(at).id)).slice(0, 1).map((at) => el("button", { type: "button", "data-pin": memory(at).id, onclick: () => pin(memory(at).id, false) }, "Unpin"))
      : button("undo", "Undo answer", false, () => takeBack([card])))];
}

function cardNode(card) {
  const done = answered(card);
  return el("article", { class: `card ${group(card)}${done ? ` folded ${pinnedIn(card) ? "pinned" : answerTo(card).say}` : ""}`, tabindex: "-1", id: `c-${card.key}`, "aria-labelledby": done ? null : `h-${card.key}`, "aria-label": done ? `Answered: ${flat(headline(card), 60)}` : null, onfocusin: () => { state.current = card.key; } },
    done ? folded(card) : [heading(card), places(card), body(card), live ? controls(card) : null, why(card)]);
}
