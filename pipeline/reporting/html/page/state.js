// What is shown: the data of the page, a person's answers, and which of the proposals are looked at.
let data = JSON.parse(document.getElementById("data").textContent);
const live = data.live || null;
const PAGE = 25;
const NAMES = { merge: "Merge", resolve: "Conflict", prune: "Prune", rewrite: "Change", append: "New facts", reindex: "Index", relate: "Relations", promote: "Promotion" };
const CHANGES = new Set(["append", "reindex", "relate", "promote"]);
const HOLDING = new Set(["ending", "order", "unclear"]);
const RANGES = { "": [-1, 2], high: [0.9, 2], middle: [0.6, 0.9], low: [-1, 0.6] };
const ADDRESS = ["tab", "kind", "scope", "category", "sure", "sort", "q"];
const TABS = live ? [["open", "Open"], ["answered", "Answered"], ["applied", "Applied"], ["history", "Over time"]] : [["open", data.run ? "Before and after" : "Proposals"], ["history", "Over time"]];
// `fresh` are answers given since the list was drawn: their folded cards stay where they are.
const state = { page: 0, current: null, line: null, near: false, editing: null, fresh: new Set() };
const $ = (id) => document.getElementById(id);

// Filters and the tab stand in the address, so that a link or a reload finds them again.
function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of ADDRESS) state[name] = given.get(name) || "";
  if (!TABS.some(([name]) => name === state.tab)) state.tab = "open";
}

function choose(name, value) {
  Object.assign(state, { [name]: value, page: 0 });
  state.fresh.clear();
  const kept = new URLSearchParams(ADDRESS.filter((each) => state[each] && state[each] !== "open").map((each) => [each, state[each]]));
  history.replaceState(null, "", `#${kept}`);
}

// Every new text counts and looks like a change, whatever its kind.
function group(card) { return card.unsure ? "unsure" : CHANGES.has(card.kind) ? "rewrite" : card.kind; }
function answerTo(card) { return live ? data.live.answers[card.key] : undefined; }
function memory(row) { return data.memories[row]; }
function pinnedIn(card) { return live && card.members.some((row) => data.live.pins.includes(memory(row).id)); }
function answered(card) { return Boolean(answerTo(card) || pinnedIn(card)); }
function certainty(card) { return card.p === undefined ? 1 : card.p; }
function vetoed(card) { return (card.verdicts || []).some((v) => (v.evidence || []).some(([kind, , veto]) => veto || HOLDING.has(kind))); }
// What a folded card says: what stays of a conflict, else what stands.
function headline(card) {
  const said = (answerTo(card) || {}).say, side = said === "b" ? 1 : 0;
  const text = (place) => (card.said && card.said.length ? card.said[place] : memory(card.members[place && card.sides ? card.sides[0] : place]).text);
  if (said === "a" || said === "b") return text(side);
  return card.kind !== "resolve" ? stand(card) : `${flat(text(0), 60)} / ${flat(text(1), 60)}`;
}
// Of two that may be one fact either can be kept, as in a conflict.
function twoSided(card) { return Boolean(live && data.live.unites && card.unsure && card.kind === "merge" && card.members.length === 2); }
function stand(card) { return card.text !== undefined ? card.text : memory(card.members[card.stays || 0]).text; }

// Whether a merge would need no person if the automatic threshold lay at `line`.
function automaticAt(card, line) {
  if (card.kind !== "merge" || card.p === undefined) return false;
  const held = (card.verdicts || []).some((v) => !v.exact && !v.auto && data.thresholds && v.p[0] >= data.thresholds[0]);
  return card.p >= line && !held && !vetoed(card);
}

function inTab(card) {
  if (!live || state.everything) return true;
  return state.tab === "answered" ? answered(card) : !answered(card) || state.fresh.has(card.key);
}

function matches(card) {
  const [low, high] = RANGES[state.sure] || RANGES[""];
  const words = state.q.toLowerCase();
  return inTab(card)
    && (!state.kind || group(card) === state.kind)
    && (!state.scope || data.scopes[card.scope] === state.scope)
    && (!state.category || card.members.some((row) => data.categories[memory(row).category] === state.category))
    && certainty(card) >= low && certainty(card) < high
    && (!words || card.members.some((row) => memory(row).text.toLowerCase().includes(words) || memory(row).id.toLowerCase().includes(words)));
}

function listed() {
  const cards = data.cards.filter(matches);
  const distance = (card) => (card.kind === "merge" && card.p !== undefined ? Math.abs(card.p - state.line) : 9);
  if (state.near) return cards.sort((a, b) => distance(a) - distance(b));
  return state.sort ? cards.sort((a, b) => (certainty(b) - certainty(a)) * (state.sort === "certain" ? 1 : -1)) : cards;
}
