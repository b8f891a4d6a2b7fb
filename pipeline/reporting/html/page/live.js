// What only a live page does: answers go to the server at once, and the server's word is what is shown.
const SAID = { yes: "Accepted", no: "Rejected", edit: "Accepted, in your words", a: "A stays", b: "B stays", both: "Both hold", same: "The same", still: "Still true", skip: "Left open", "taken back": "Taken back", pinned: "Pinned" };
const KEYS = { yes: "a", no: "r", edit: "e", a: "a", b: "b", both: "o", same: "m", still: "t", skip: "s", undo: "u" };

function canWrite() { return Boolean(live) && !data.live.readonly; }

async function send(path, body) {
  const token = new URLSearchParams(location.search).get("token") || "";
  let answer;
  try {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Dream-Token": token, "X-CSRF-Token": data.live.csrf, "X-Dream-Seat": data.live.seat }, body: JSON.stringify(body || {}) });
    answer = await response.json();
    if (!response.ok) throw new Error(answer.error || `The server answered ${response.status}.`);
  } catch (error) {
    notice(error instanceof TypeError ? "The review has ended, or cannot be reached; start `mem0-dream review` again." : error.message, "bad");
    if (answer && answer.data) { data = answer.data; show(); }
    else if (answer && answer.live) {
      const known = Boolean(data.live.interrupted);
      Object.assign(data.live, answer.live);
      if (known !== Boolean(data.live.interrupted)) show();
    }
    if (answer && answer.moved) { Object.assign(data.live, { readonly: true, moved: answer.error }); show(); }
    throw error;
  }
  if (path !== "/progress" && $("notices").querySelector(".bad")) fill($("notices")); // it works again
  if (answer.data) { data = answer.data; state.fresh.clear(); show(); }
  if (answer.live) { Object.assign(data.live, answer.live); showBar(); head(); }
  return answer;
}

// Something that takes a while: nothing else can be done meanwhile, and how far it came is shown.
async function work(words, path, body) {
  const meter = el("progress", { "aria-label": "Progress" }), stage = el("span", { class: "grow" }, `${words} …`);
  state.busy = true;
  $("main").inert = true;
  fill($("notices"));
  fill($("controls"), stage, meter);
  const poll = async () => {
    while (state.busy) {
      await new Promise((done) => setTimeout(done, 200));
      const told = state.busy && await fetchProgress();
      if (!state.busy || !told) break;
      if (told.stage) stage.textContent = `${words} · ${told.stage}: ${told.done}${told.total ? ` of ${told.total}` : ""}`;
      if (told.total) { meter.max = told.total; meter.value = told.done; }
    }
  };
  const fetchProgress = () => send("/progress").catch(() => null);
  poll();
  const found = await send(path, body).catch(() => null);
  state.busy = false;
  $("main").inert = false;
  showBar();
  if (found && found.told && typeof found.told === "string") notice(found.told, "good");
  const card = $(`c-${state.current}`);
  (card || $("main")).focus({ preventScroll: true });
  return found;
}

// It stands in the bar, where the eye is, wherever the list was scrolled to.
function notice(words, tone = "", ...more) {
  fill($("notices"), el("div", { class: `notice ${tone}`, role: tone === "bad" ? "alert" : null }, el("span", {}, shown(words), more[0]), more.slice(1), el("button", { type: "button", "aria-label": "Close", onclick: () => fill($("notices")) }, "×")));
}

function redraw(card) {
  const old = $(`c-${card.key}`);
  if (!old) return;
  const had = old.contains(document.activeElement), fresh = cardNode(card);
  old.replaceWith(fresh);
  if (had) fresh.focus({ preventScroll: true });
}

// Whether it was kept; an answer that was not leaves the card as it is.
async function answer(card, say, more = {}) {
  if (state.sending) return false;
  state.sending = true;
  const node = $(`c-${card.key}`), buttons = [...node.querySelectorAll(".do button")];
  node.setAttribute("aria-busy", "true");
  for (const each of buttons) each.disabled = true;
  const kept = await send("/answer", { key: card.key, say, ...more }).catch(() => null);
  state.sending = false;
  if (kept) {
    state.editing = null;
    state.fresh.add(card.key);
    if ($(`c-${card.key}`)) redraw(card);
    else if ($("list")) showList(); // another list was opened meanwhile
    return true;
  }
  node.removeAttribute("aria-busy");
  for (const each of buttons) each.disabled = false;
  return false;
}

async function takeBack(cards) {
  if (!await send("/withdraw", { keys: cards.map((card) => card.key) }).catch(() => null)) return;
  if (cards.length === 1 && state.tab === "open") { redraw(cards[0]); return; }
  show();
  if (cards.length > 1) notice(`${plural(cards.length, "answer")} withdrawn.`, "good");
}
async function pin(id, pinned) { if (await send("/pin", { id, pinned }).catch(() => null)) showList(); }

// What one answer to several would do, in numbers and texts, before it is given.
function askAll(cards, say) {
  const open = bulkOf(cards), left = cards.filter((card) => !answered(card)).length - open.length;
  if (!open.length) return;
  const box = $("dialog"), close = () => box.close(), verb = say === "yes" ? "Accept" : "Reject", counts = {};
  for (const card of open) counts[card.kind] = (counts[card.kind] || 0) + 1;
  const told = say === "yes" ? "Accepted as they stand below. Nothing is changed before you apply." : "All of these stay as they are, and are not proposed again.";
  const act = el("button", { type: "button", class: "main", "data-do": "sure", onclick: () => { close(); answerAll(open, say); } }, `${verb} ${plural(open.length, "proposal")}`);
  fill(box, el("h2", { id: "dialog-title" }, `${verb} ${plural(open.length, "proposal")}?`), el("p", { class: "tally" }, Object.entries(counts).map(([kind, count]) => `${NAMES[kind]}: ${count.toLocaleString("en")}`).join(", ")),
    el("p", { class: "small" }, told, left ? ` ${plural(left, "other needs", "others need")} an answer of ${left === 1 ? "its" : "their"} own: conflicts, and what is merely likely.` : ""),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "What is answered" }, open.map((card) => el("section", { class: "each" }, el("h3", {}, NAMES[card.kind]), body(card)))),
    el("div", { class: "do" }, act, el("button", { type: "button", "data-do": "cancel", onclick: close }, "Not yet")));
  box.showModal();
  act.focus();
}

async function answerAll(open, say) {
  if (!await send("/answers", { keys: open.map((card) => card.key), say }).catch(() => null)) return;
  for (const card of open) state.fresh.add(card.key);
  showList();
  notice(`${plural(open.length, "proposal")} ${say === "yes" ? "accepted" : "rejected"}.`, "good", null, el("button", { type: "button", "data-do": "undo-all", onclick: () => { fill($("notices")); takeBack(open); } }, "Undo"));
}

function button(name, words, main, act) {
  return el("button", { type: "button", class: main ? "main" : null, "data-say": name, onclick: act }, words, KEYS[name] ? el("kbd", { "aria-hidden": "true" }, KEYS[name]) : null);
}

function controls(card) {
  if (!canWrite()) return null;
  if (state.editing === card.key) return editor(card);
  const say = (name, words, main) => button(name, words, main, () => answer(card, name));
  if (twoSided(card)) return el("div", { class: "do" }, say("same", "The same"), say("a", "Keep A"), say("b", "Keep B"), say("both", "Both hold"), button("edit", "Edit text", false, () => edit(card)));
  if (card.kind === "resolve") return el("div", { class: "do" }, say("a", "Keep A", card.newer === "a"), say("b", "Keep B", card.newer === "b"), say("both", "Both hold"), say("same", "The same"), say("still", "Still true"), say("skip", "Skip"));
  if (card.unsure && card.kind === "prune") return el("div", { class: "do" }, say("still", "Still true"), say("yes", "Out of date"), say("skip", "Skip"));
  return el("div", { class: "do" }, say("yes", "Accept", !card.unsure), say("no", "Reject"), card.kind === "merge" ? button("edit", "Edit text", false, () => edit(card)) : card.kind === "prune" ? say("still", "Still true") : null);
}

function edit(card) { state.editing = card.key; redraw(card); const box = $(`c-${card.key}`).querySelector("textarea"); if (box) box.focus(); }

// The merged text under a person's hands; the guards look at it as it is typed.
function editor(card) {
  const told = el("div", { role: "status" });
  const save = el("button", { type: "button", class: "main", "data-do": "save", onclick: () => answer(card, "edit", { text: box.value }) }, "Accept this text");
  const leave = () => { state.editing = null; redraw(card); $(`c-${card.key}`).focus(); };
  let waiting = null, asked = 0;
  const check = async () => {
    const mine = ++asked, found = await send("/check", { key: card.key, text: box.value }).catch(() => null);
    if (!found || mine !== asked) return;
    save.disabled = found.lost.length > 0;
    fill(told, found.lost.length ? el("div", { class: "warn lost-list" }, "This would lose:", el("ul", { class: "plainlist" }, found.lost.map(([kind, detail]) => el("li", {}, `${kind}: `, el("b", {}, shown(detail)))))) : null,
      found.words.length ? el("p", { class: "warn" }, "Careful, this leaves out: ", el("b", {}, shown(found.words.join(", "))), ".") : !found.lost.length && el("p", { class: "small quiet" }, "Nothing is lost."));
  };
  const box = el("textarea", { "aria-label": "The merged text", dir: "auto", oninput: () => { save.disabled = true; clearTimeout(waiting); waiting = setTimeout(check, 150); }, onkeydown: (event) => { if (event.key === "Escape") leave(); } });
  box.value = stand(card);
  check();
  return el("div", { class: "edit" }, box, told, el("div", { class: "do" }, save, el("button", { type: "button", "data-do": "cancel", onclick: leave }, "Cancel")));
}

function pressed(key, card) {
  if (!canWrite()) return false;
  if (state.sending) return true; // a key that is held down answers one proposal
  if (key === "u" && answerTo(card)) { takeBack([card]); return true; }
  if (answered(card)) return false;
  const moves = twoSided(card) || card.kind === "resolve" ? { a: "a", b: "b", o: "both", r: "both", m: "same", s: "skip" } : { a: "yes", r: "no" };
  if (card.kind === "resolve" || card.kind === "prune") moves.t = "still";
  if (card.unsure && card.kind === "prune") moves.s = "skip";
  if (key === "e" && card.kind === "merge") { edit(card); return true; }
  if (!moves[key]) return false;
  answer(card, moves[key]).then((kept) => { if (kept) move(1, true); });
  return true;
}

function showBar() {
  if (state.busy) return;
  $("bar").hidden = false;
  if (!canWrite()) { fill($("controls"), el("span", {}, data.live.moved || "Read-only: nothing can be changed from here.")); return; }
  const done = data.cards.filter((card) => answerTo(card)).length, count = data.live.changes;
  fill($("controls"), el("span", { class: "grow" }, `${done} of ${plural(data.cards.length, "proposal")} answered`),
    el("button", { type: "button", class: "link keys", "data-do": "keys", onclick: keySheet }, "Keys ", el("kbd", {}, "?")),
    data.live.labelled >= data.live.offer ? el("button", { type: "button", "data-do": "calibrate", onclick: () => work("Calibrating", "/calibrate") }, "Calibrate") : null,
    el("button", { type: "button", "data-do": "refresh", onclick: refresh }, "Look again"),
    el("button", { type: "button", class: "main", "data-do": "apply", disabled: !count, onclick: preview }, `Apply ${plural(count, "change")}`, el("kbd", { "aria-hidden": "true" }, "p")));
}

function refresh() { return work("Looking again", "/refresh"); }

// What goes and what comes, before anything is done; over the delete budget it is asked twice.
async function preview() {
  if (!data.live.changes) return;
  const found = await work("Working out what would be done", "/preview");
  if (!found) return;
  const box = $("dialog"), close = () => box.close(), gone = (expires) => found.done.filter((each) => Boolean(each.expires) === expires).flatMap((each) => each.gone), changed = found.done.filter((each) => each.lines.length);
  const act = el("button", { type: "button", class: "main", "data-do": "confirm", onclick: () => { if (found.careful) twice(); else { close(); apply(found, false); } } }, found.careful ? "Apply …" : "Apply");
  const careful = found.careful ? el("p", { class: "warn", role: "alert" }, found.careful) : null;
  const twice = () => {
    const sure = el("button", { type: "button", class: "main bad", "data-do": "over", onclick: () => { close(); apply(found, true); } }, `Yes, remove all ${found.tally.deleted + found.tally.expired}`);
    act.replaceWith(sure);
    sure.focus();
  };
  fill(box, el("h2", { id: "dialog-title" }, `Apply ${plural(found.done.length, "change")}?`), el("p", { class: "tally" }, tallyWords(found.tally)), careful,
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "What will be done" },
      [["These texts disappear", gone(false)], ["These texts expire", gone(true)]].map(([title, texts]) => texts.length ? [el("h3", {}, title), el("ul", { class: "gone" }, texts.map((text) => el("li", { dir: "auto" }, shown(text))))] : null),
      changed.length ? [el("h3", {}, "These change"), changed.map((each) => [el("p", { class: "meta" }, el("code", {}, shown(idOf(each.name)))), lineDiff(each.lines)])] : null,
      el("details", {}, el("summary", {}, "All of it, line by line"), el("pre", { tabindex: "0", "aria-label": "All that will be done" }, shown(found.lines.join("\n"))))),
    found.notes.map((note) => el("p", { class: "small" }, shown(note))), el("div", { class: "do" }, act, el("button", { type: "button", "data-do": "cancel", onclick: close }, "Not yet")));
  box.showModal();
  act.focus();
}

async function apply(agreed, over) {
  const found = await work("Applying", "/apply", { digest: agreed.digest, over });
  if (!found) return;
  notice([`Done: ${tallyWords(found.tally)}.`, ...found.told, found.undo ? "Take it back with: " : ""].join(" "), "good", found.undo ? el("code", {}, found.undo) : null,
    found.run ? el("button", { type: "button", "data-do": "undo-last", onclick: () => work("Taking the run back", "/undo", { run: found.run }) }, "Undo") : null);
}
