// What is shown: the data of the page, a person's answers, and which of the proposals are looked at.
let data = JSON.parse(document.getElementById("data").textContent);
const live = data.live || null;
const PAGE = 25;
const NAMES = { merge: "Merge", resolve: "Conflict", prune: "Prune", rewrite: "Change", append: "New facts", reindex: "Index", relate: "Relations", promote: "Promotion" };
const CHANGES = new Set(["append", "reindex", "relate", "promote"]);
const HOLDING = new Set(["ending", "order", "unclear"]);
const state = { tab: "proposals", kind: "all", scope: "", category: "", confidence: "", open: false, search: "", page: 0, current: null, line: null, near: false, editing: null };
const $ = (id) => document.getElementById(id);

// Every new text counts and looks like a change, whatever its kind.
function group(card) { return card.unsure ? "unsure" : CHANGES.has(card.kind) ? "rewrite" : card.kind; }
function answerTo(card) { return live ? data.live.answers[card.key] : undefined; }
function memory(row) { return data.memories[row]; }
function pinnedIn(card) { return live && card.members.some((row) => data.live.pins.includes(memory(row).id)); }
function vetoed(card) { return (card.verdicts || []).some((v) => (v.evidence || []).some(([kind, , veto]) => veto || HOLDING.has(kind))); }

// Whether a merge would need no person if the automatic threshold lay at `line`.
function automaticAt(card, line) {
  if (card.kind !== "merge" || card.p === undefined) return false;
  const held = (card.verdicts || []).some((v) => !v.exact && !v.auto && data.thresholds && v.p[0] >= data.thresholds[0]);
  return card.p >= line && !held && !vetoed(card);
}

function matches(card) {
  const answered = Boolean(answerTo(card)) || pinnedIn(card);
  const [low, high] = { "": [-1, 2], high: [0.9, 2], middle: [0.6, 0.9], low: [-1, 0.6] }[state.confidence];
  const p = card.p === undefined ? 1 : card.p;
  return (state.kind === "all" || group(card) === state.kind)
    && (state.scope === "" || card.scope === Number(state.scope))
    && (state.category === "" || card.members.some((row) => memory(row).category === Number(state.category)))
    && p >= low && p < high
    && !(state.open && answered)
    && (!state.search || card.members.some((row) => memory(row).text.toLowerCase().includes(state.search) || memory(row).id.toLowerCase().includes(state.search)));
}

function listed() {
  const cards = data.cards.filter(matches);
  if (!state.near) return cards;
  const distance = (card) => (card.kind === "merge" && card.p !== undefined ? Math.abs(card.p - state.line) : 9);
  return cards.map((card, place) => [distance(card), place, card]).sort((x, y) => x[0] - y[0] || x[1] - y[1]).map((row) => row[2]);
}
