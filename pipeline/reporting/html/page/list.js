// The list of proposals, page by page; what filters it, and the line from which merges are automatic.
function tiles() {
  const s = data.summary;
  const rows = [[s.memories, "memory", "memories"], [s.merges, "merge"], [s.conflicts, "conflict"], [s.prunes, "prune"], [s.rewrites, "change"], [s.unsure, "unsure", "unsure"]];
  const drawn = data.run && data.history.runs.find((run) => run.id === data.run.id);
  if (drawn) rows.unshift([drawn.before.reduce((a, b) => a + (b || 0), 0), "before", "before"], [drawn.after.reduce((a, b) => a + (b || 0), 0), "afterwards", "afterwards"]);
  if (drawn) rows.splice(2, 1);
  $("summary").replaceChildren(...rows.filter(([count], place) => place < 4 || count).map(([count, one, many = one + "s"]) => el("div", { class: "tile" }, el("b", {}, count.toLocaleString("en")), el("span", {}, count === 1 ? one : many))));
  const run = data.run;
  const count = data.cards.length;
  $("title").textContent = run ? `Run ${run.id}, ${run.state}` : count ? `${live ? "Review: " : ""}${plural(count, "proposal")} for ${plural(s.memories, "memory", "memories")}` : live && data.live.readonly ? "Review" : "Nothing to propose";
  $("subtitle").replaceChildren(`${data.kind} store · judged by ${data.scorer.split("@")[0]} · ${data.now.slice(0, 16).replace("T", " ")} UTC`, ...(run && run.undo ? [" · take it back: ", el("code", {}, run.undo)] : []));
}

function choice(label, name, options) {
  return el("label", {}, label, el("select", { "data-filter": name, onchange: (event) => { state[name] = event.target.value; state.page = 0; showList(); } },
    options.map(([value, words]) => el("option", { value, selected: String(value) === String(state[name]) }, words))));
}

function filters() {
  const counts = {};
  for (const card of data.cards) counts[group(card)] = (counts[group(card)] || 0) + 1;
  const kinds = [["all", "All", data.cards.length], ["merge", "Merges", counts.merge], ["resolve", "Conflicts", counts.resolve], ["prune", "Prunes", counts.prune], ["rewrite", "Changes", counts.rewrite], ["unsure", "Unsure", counts.unsure]];
  const chips = kinds.filter(([kind, , count]) => count || kind === "all").map(([kind, words, count]) => el("button", { class: "chip", type: "button", "data-kind": kind, "aria-pressed": String(state.kind === kind), onclick: () => { state.kind = kind; state.page = 0; show(); } }, `${words} ${count || 0}`));
  return el("div", { class: "filters" }, el("div", { class: "chips", role: "group", "aria-label": "Kind" }, chips),
    data.scopes.length > 1 && choice("Scope", "scope", [["", "all"], ...data.scopes.map((name, place) => [place, flat(name, 40)])]),
    data.categories.length > 1 && choice("Category", "category", [["", "all"], ...data.categories.map((name, place) => [place, flat(name, 40)])]),
    choice("Confidence", "confidence", [["", "all"], ["high", "90% and more"], ["middle", "60% to 90%"], ["low", "below 60%"]]),
    el("label", {}, el("span", { class: "visually-hidden" }, "Search"), el("input", { type: "search", placeholder: "Search texts", value: state.search, oninput: (event) => { state.search = event.target.value.toLowerCase(); state.page = 0; showList(); } })),
    live && el("label", {}, el("input", { type: "checkbox", "data-filter": "open", checked: state.open, onchange: (event) => { state.open = event.target.checked; state.page = 0; showList(); } }), "unanswered only"));
}

function lineWords() {
  const now = data.cards.filter((card) => automaticAt(card, data.thresholds[0]));
  const then = data.cards.filter((card) => automaticAt(card, state.line));
  const more = then.filter((card) => !now.includes(card)).length, fewer = now.filter((card) => !then.includes(card)).length;
  const change = more || fewer ? `${more} more and ${fewer} fewer than at ${data.thresholds[0].toFixed(3)}, where the line lies now.` : "That is where the line lies now, or as good as there.";
  return [then, `${plural(then.length, "merge")} would need no person. ${change}`];
}

function linePanel() {
  if (!data.thresholds || data.run || !data.cards.some((card) => card.kind === "merge")) return null;
  if (state.line === null) state.line = data.thresholds[0];
  const told = el("p", { class: "small", role: "status" });
  const shownLine = el("output", { for: "line" }, state.line.toFixed(3));
  const accept = canWrite() ? el("button", { type: "button", "data-do": "accept-line", onclick: () => acceptAll(lineWords()[0]) }, "Accept these merges") : null;
  const update = () => { const [then, words] = lineWords(); told.textContent = words; shownLine.textContent = state.line.toFixed(3); if (accept) accept.disabled = !then.length; };
  const slider = el("input", { id: "line", type: "range", min: "0", max: "1", step: "0.005", value: String(state.line), "aria-label": "Automatic threshold", oninput: (event) => { state.line = Number(event.target.value); state.near = true; near.checked = true; state.page = 0; update(); showList(); } });
  const near = el("input", { type: "checkbox", "data-do": "near", onchange: (event) => { state.near = event.target.checked; state.page = 0; showList(); } });
  near.checked = state.near;
  update();
  return el("details", { class: "panel", id: "line-panel", open: state.near }, el("summary", {}, "Automatic threshold"),
    el("p", { class: "small quiet" }, "From which score on may merges happen without a person? Move the line to see what would change; nothing is stored."),
    el("div", { class: "slider" }, slider, shownLine), told, el("div", { class: "do" }, accept, el("label", { class: "small" }, near, " nearest to the line first")));
}

function showList() {
  const cards = listed();
  const pages = Math.max(1, Math.ceil(cards.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  const part = state.everything ? cards : cards.slice(state.page * PAGE, (state.page + 1) * PAGE);
  const turn = (by) => { state.page += by; state.current = null; showList(); window.scrollTo(0, $("list").offsetTop - 80); };
  $("list").replaceChildren(...(part.length ? part.map(cardNode) : [el("p", { class: "empty" }, data.cards.length ? "Nothing matches these filters." : live && data.live.readonly ? "Open the link that the terminal printed to see the proposals." : "No duplicate, contradictory, or stale memories found.")]));
  $("pages").replaceChildren(...(pages > 1 ? [el("button", { type: "button", "data-do": "previous", disabled: state.page === 0, onclick: () => turn(-1) }, "Previous"), el("span", { class: "small quiet" }, `Page ${state.page + 1} of ${pages} · ${plural(cards.length, "proposal")}`), el("button", { type: "button", "data-do": "next", disabled: state.page >= pages - 1, onclick: () => turn(1) }, "Next")] : []));
}

function proposals() {
  const heard = data.gaps.map((gap) => el("div", { class: "notice bad" }, el("span", {}, "Read-only: ", shown(gap))));
  const remarks = data.remarks.length ? el("details", { class: "panel", open: true }, el("summary", {}, "Besides"), el("ul", { class: "plainlist small" }, data.remarks.map((line) => el("li", {}, shown(line))))) : null;
  const notes = data.notes.map((note) => el("p", { class: "small quiet" }, shown(note)));
  return [...heard, filters(), linePanel(), ...notes, el("div", { id: "list" }), el("div", { id: "pages", class: "pages" }), remarks, apart()].filter(Boolean);
}

function apart() {
  if (!data.apart.length) return null;
  return el("details", { class: "panel" }, el("summary", {}, `Equal words that stay apart (${data.apart.length})`),
    el("ul", { class: "plainlist small" }, data.apart.map(([a, b, why]) => el("li", {}, el("code", {}, shown(a)), " and ", el("code", {}, shown(b)), ": ", shown(why)))));
}

// The neighbour of the present proposal, on the next page if need be.
function move(by) {
  const cards = listed();
  if (!cards.length) return;
  const at = cards.findIndex((card) => card.key === state.current);
  const next = at < 0 ? (by > 0 ? state.page * PAGE : 0) : Math.max(0, Math.min(cards.length - 1, at + by));
  jump(cards[next], cards);
}

function jump(card, cards = listed()) {
  const place = cards.indexOf(card);
  if (place < 0) return;
  if (Math.floor(place / PAGE) !== state.page || !$(`c-${card.key}`)) { state.page = Math.floor(place / PAGE); showList(); }
  state.current = card.key;
  const node = $(`c-${card.key}`);
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: "nearest" });
}
