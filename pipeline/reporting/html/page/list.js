// The lists of proposals, answers and runs, page by page; what filters them, and the automatic threshold.
function head() {
  const s = data.summary, run = data.run, count = data.cards.length;
  $("title").textContent = run ? `Run ${run.id}, ${run.state}` : count ? `${live ? "Review: " : ""}${plural(count, "proposal")} for ${plural(s.memories, "memory", "memories")}` : live && data.live.readonly ? "Review" : "Nothing to propose";
  const drawn = run && data.history.runs.find((each) => each.id === run.id);
  const sum = (counts) => counts.reduce((a, b) => a + (b || 0), 0).toLocaleString("en");
  const told = [["merges", "merge"], ["conflicts", "conflict"], ["prunes", "prune"], ["changes", "change"], ["unsure", "doubt"]].filter(([name]) => s[name]).map(([name, noun]) => plural(s[name], noun));
  fill($("subtitle"), !count && live && data.live.readonly && told.length && `${[plural(s.memories, "memory", "memories"), ...told].join(" · ")} · `, `${data.kind} store · ${data.scorer ? `judged by ${data.scorer.split("@")[0]} · ` : ""}${data.now.slice(0, 16).replace("T", " ")} UTC`,
    drawn && ` · ${sum(drawn.before)} memories before, ${sum(drawn.after)} afterwards`, run && run.undo && [" · take it back: ", el("code", {}, run.undo)]);
  const done = data.cards.filter(answered).length;
  const counts = { open: live ? count - done : count, answered: done + (data.earlier || []).length, applied: (data.applied || []).reduce((all, each) => all + each.done.length, 0) };
  if ($("bulk")) fill($("bulk"), bulk(listed()));
  $("tabs").replaceChildren(...TABS.map(([name, words]) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(state.tab === name), "aria-controls": "panel", tabindex: state.tab === name ? "0" : "-1",
    onclick: () => openTab(name), onkeydown: (event) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; if (by) openTab(TABS[(TABS.findIndex((each) => each[0] === name) + by + TABS.length) % TABS.length][0]); } },
  words, live && counts[name] !== undefined && el("span", { class: "count" }, counts[name].toLocaleString("en")))));
}

function openTab(name) { choose("tab", name); show(); $(`tab-${name}`).focus(); }

function choice(label, name, options) {
  return el("label", {}, label, el("select", { "data-filter": name, onchange: (event) => { choose(name, event.target.value); showList(); } },
    options.map(([value, words]) => el("option", { value, selected: value === state[name] }, words))));
}

function filters() {
  const counts = {}, cards = data.cards.filter(inTab);
  for (const card of cards) counts[group(card)] = (counts[group(card)] || 0) + 1;
  const kinds = [["", "All", cards.length], ["merge", "Merges"], ["resolve", "Conflicts"], ["prune", "Prunes"], ["rewrite", "Changes"], ["unsure", "Unsure"]];
  const chips = kinds.filter(([kind]) => !kind || counts[kind] || state.kind === kind).map(([kind, words, all]) => el("button", { class: "chip", type: "button", "data-kind": kind || "all", "aria-pressed": String(state.kind === kind), onclick: () => { choose("kind", kind); show(); $("panel").querySelector(`[data-kind="${kind || "all"}"]`).focus(); } }, `${words} ${(all ?? (counts[kind] || 0)).toLocaleString("en")}`));
  const named = (names) => [["", "all"], ...names.map((name) => [name, flat(name, 40)])];
  const chosen = ["scope", "category", "sure", "sort"].some((name) => state[name]);
  return el("div", { class: "filters" }, el("div", { class: "chips", role: "group", "aria-label": "Kind" }, chips),
    el("label", {}, el("span", { class: "visually-hidden" }, "Search"), el("input", { type: "search", id: "search", placeholder: "Search texts", value: state.q, oninput: (event) => { choose("q", event.target.value); showList(); } })),
    el("details", { class: "more", open: chosen || window.innerWidth > 640 }, el("summary", { class: "small quiet" }, "Filter and order"), el("div", { class: "filters" },
    data.scopes.length > 1 && choice("Scope", "scope", named(data.scopes)), data.categories.length > 1 && choice("Category", "category", named(data.categories)),
    choice("Certainty", "sure", [["", "all"], ["high", "90% and more"], ["middle", "60% to 90%"], ["low", "below 60%"]]),
    choice("Order", "sort", [["", "as proposed"], ["certain", "most certain first"], ["doubtful", "least certain first"]]))));
}

function lineWords() {
  const cards = data.cards.filter((card) => !answered(card)), now = cards.filter((card) => automaticAt(card, data.thresholds[0])), then = cards.filter((card) => automaticAt(card, state.line));
  const more = then.filter((card) => !now.includes(card)).length, fewer = now.filter((card) => !then.includes(card)).length;
  const change = more || fewer ? `${more} more and ${fewer} fewer than at ${data.thresholds[0].toFixed(3)}, where the line lies now.` : "That is where the line lies now, or as good as there.";
  return `${plural(then.length, "merge")} would need no person. ${change}`;
}

function linePanel() {
  if (!data.thresholds || data.run || state.tab !== "open" || !data.cards.some((card) => card.kind === "merge")) return null;
  if (state.line === null) state.line = data.thresholds[0];
  const told = el("p", { class: "small", role: "status" }), value = el("output", { for: "line" });
  const update = () => { told.textContent = lineWords(); value.textContent = state.line.toFixed(3); };
  const near = el("input", { type: "checkbox", "data-do": "near", checked: state.near, onchange: (event) => { state.near = event.target.checked; state.page = 0; showList(); } });
  const slider = el("input", { id: "line", type: "range", min: "0", max: "1", step: "0.005", value: String(state.line), "aria-label": "Automatic threshold", oninput: (event) => { state.line = Number(event.target.value); state.near = near.checked = true; state.page = 0; update(); showList(); } });
  update();
  return el("details", { class: "panel", id: "line-panel", open: state.near }, el("summary", {}, "Automatic threshold"),
    el("p", { class: "small quiet" }, "From which score on may merges happen without a person? Move the line to see what would change; nothing is stored."),
    el("div", { class: "do" }, slider, value), told, el("div", { class: "do" }, el("label", { class: "small" }, near, " nearest to the line first")));
}

// All that the filters let through, on every page, but for what needs an answer of its own: conflicts, and what is merely likely.
function bulk(cards) {
  if (!canWrite()) return null;
  if (state.tab === "answered") {
    const given = cards.filter(answerTo);
    return given.length > 1 ? el("button", { type: "button", "data-do": "undo-all", onclick: () => takeBack(given) }, `Undo all ${given.length.toLocaleString("en")} answers shown`) : null;
  }
  const open = bulkOf(cards);
  const all = (say, words, key) => el("button", { type: "button", "data-do": `${say}-all`, onclick: () => askAll(cards, say) }, `${words} ${open.length.toLocaleString("en")} that are certain`, el("kbd", { "aria-hidden": "true" }, key));
  return open.length > 1 ? [all("yes", "Accept", "A"), all("no", "Reject", "R")] : null;
}
function bulkOf(cards) { return cards.filter((card) => !answered(card) && card.kind !== "resolve" && !card.unsure && !card.alone); }


function showList() {
  const cards = listed(), pages = Math.max(1, Math.ceil(cards.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  const part = state.everything ? cards : cards.slice(state.page * PAGE, (state.page + 1) * PAGE);
  const turn = (by) => { state.page += by; state.current = null; showList(); window.scrollTo(0, $("list").offsetTop - 80); };
  const nothing = data.cards.some(inTab) ? "Nothing matches these filters." : state.tab === "answered" ? "Nothing is answered that waits to be applied." : live && data.live.readonly ? "Open the link that the terminal printed to see the proposals."
    : data.cards.length ? "Everything is answered." : "No duplicate, contradictory, or stale memories found.";
  fill($("list"), part.length ? part.map(cardNode) : !(state.tab === "answered" && data.earlier.length) && el("p", { class: "empty" }, nothing));
  fill($("pages"), pages > 1 && [el("button", { type: "button", "data-do": "previous", disabled: state.page === 0, onclick: () => turn(-1) }, "Previous"), el("span", { class: "small quiet" }, `Page ${state.page + 1} of ${pages} · ${plural(cards.length, "proposal")}`), el("button", { type: "button", "data-do": "next", disabled: state.page >= pages - 1, onclick: () => turn(1) }, "Next")]);
  head();
}

function details(title, items) {
  return items.length ? el("details", { class: "panel" }, el("summary", {}, `${title} (${items.length})`), el("ul", { class: "plainlist small" }, items.map((item) => el("li", { dir: "auto" }, item)))) : null;
}

function proposals() {
  const heard = data.gaps.map((gap) => el("div", { class: "notice bad" }, el("span", {}, "Read-only: ", shown(gap))));
  const lists = [el("div", { id: "bulk", class: "do" }), el("div", { id: "list" }), el("div", { id: "pages", class: "pages" })];
  if (state.tab === "answered") return [filters(), lists, earlier()];
  return [heard, filters(), linePanel(), lists, data.notes.map((note) => el("p", { class: "small quiet" }, shown(note))), details("Besides", data.remarks.map((line) => shown(line))),
    details("Equal words that stay apart", data.apart.map(([a, b, reason]) => [el("code", {}, shown(a)), " and ", el("code", {}, shown(b)), ": ", shown(reason)]))];
}

// Answers to what is not proposed any more: refusals, what was taken back, pins.
function earlier() {
  if (!data.earlier.length) return null;
  return [el("h2", {}, "Answered earlier, and not proposed any more"), data.earlier.map((each) => el("div", { class: `card folded ${each.say.replace(" ", "-")}` },
    el("details", {}, el("summary", {}, el("b", { class: "said" }, SAID[each.say]), " ", el("span", { class: "quiet" }, NAMES[each.what] || "Pair", " ", each.at.slice(0, 10)), " ", el("bdi", {}, flat(each.texts[0] || "", 120))), each.texts.map((text) => textBox(shown(text), text.length))),
    canWrite() && el("button", { type: "button", "data-do": "forget", onclick: () => work("Withdrawing", "/forget", { number: each.number }) }, "Undo answer")))];
}

function tallyWords(tally) {
  const relations = tally.relations ? `, ${plural(tally.relations, "relation")} changed` : "";
  return `${tally.deleted} deleted, ${tally.expired ? `${tally.expired} expired, ` : ""}${tally.rewritten} rewritten, ${tally.added} added${relations}`;
}

function applied() {
  if (!data.applied.length) return [el("p", { class: "empty" }, "Nothing was applied yet, or all of it was taken back.")];
  const line = (run, each) => el("div", { class: `card folded ${each.kind}` },
    el("details", {}, el("summary", {}, el("b", { class: "said" }, NAMES[each.kind]), " ", el("bdi", {}, flat(each.text || each.gone[0], 120))), each.lines.length ? lineDiff(each.lines) : each.text && row("stays", "Stands", each.text), each.gone.map((text) => row("goes", each.expires ? "Expired" : "Gone", text))),
    canWrite() && el("button", { type: "button", "data-do": "undo-action", onclick: () => work("Taking it back", "/undo", { run: run.id, action: each.id }) }, "Take back"));
  return data.applied.map((run, place) => {
    const lines = el("div");
    const opened = (event) => { if (event.target.open && !lines.childNodes.length) fill(lines, run.done.map((each) => line(run, each))); };
    return el("section", { class: "run" }, el("h2", {}, tallyWords(run.tally)), el("div", { class: "do" }, el("span", { class: "small quiet" }, `${run.at.slice(0, 16).replace("T", " ")} UTC · `, el("code", {}, run.id)), runButtons(run)),
      el("details", { open: place === 0, ontoggle: opened }, el("summary", {}, plural(run.done.length, "change")), lines));
  });
}

// The neighbour of the present proposal, on the next page if need be; after an answer the next one that is open.
function move(by, open = false) {
  const cards = listed(), at = cards.findIndex((card) => card.key === state.current);
  let next = at < 0 ? (by > 0 ? state.page * PAGE : 0) : at + by;
  while (open && cards[next] && answered(cards[next])) next += by;
  if (cards.length && !(open && !cards[next])) jump(cards[Math.max(0, Math.min(cards.length - 1, next))], cards);
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
