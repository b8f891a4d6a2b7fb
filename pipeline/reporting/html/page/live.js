// What only a live page does: answers go to the server at once, and the server's word is what is shown.
const SAID = { accept: "Accepted", reject: "Rejected", a: "A stays", b: "B stays", both: "Both hold", skip: "Left open" };
const KEYS = { accept: "a", reject: "r", edit: "e", a: "a", b: "b", both: "o", skip: "s", undo: "u" };

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
    if (answer && answer.data) { data = { ...answer.data }; show(); }
    if (answer && answer.moved) { Object.assign(data.live, { readonly: true, moved: answer.error }); show(); }
    throw error;
  }
  if (answer.data) { data = answer.data; show(); }
  if (answer.live) { Object.assign(data.live, answer.live); showBar(); }
  return answer;
}

function notice(words, tone = "", ...more) {
  $("notices").replaceChildren(el("div", { class: `notice ${tone}` }, el("span", {}, shown(words)), ...more, el("button", { type: "button", "aria-label": "Close", onclick: () => $("notices").replaceChildren() }, "×")));
}

function redraw(card) {
  const old = $(`c-${card.key}`);
  if (!old) return;
  const had = old.contains(document.activeElement);
  const fresh = cardNode(card);
  old.replaceWith(fresh);
  if (had) fresh.focus({ preventScroll: true });
}

async function answer(card, say, more = {}) {
  state.editing = null;
  state.sending = true;
  await send("/answer", { key: card.key, say, ...more }).catch(() => null);
  state.sending = false;
  redraw(card);
}
async function takeBack(card) { await send("/withdraw", { key: card.key }).then(() => redraw(card), () => {}); }
async function pin(id, pinned) { await send("/pin", { id, pinned }).then(() => showList(), () => {}); }
async function acceptAll(cards) { await send("/accept", { keys: cards.filter((card) => !answerTo(card)).map((card) => card.key) }).then(() => showList(), () => {}); }

function button(card, name, words, main, act) {
  return el("button", { type: "button", class: main ? "main" : null, "data-say": name, onclick: act }, words, KEYS[name] ? el("kbd", { "aria-hidden": "true" }, KEYS[name]) : null);
}

function controls(card) {
  if (!canWrite()) return null;
  if (pinnedIn(card)) return el("div", { class: "do" }, el("span", { class: "said" }, "Pinned: this is not touched"));
  const said = answerTo(card);
  if (said) return el("div", { class: "do" }, el("span", { class: "said" }, SAID[said.say] + (said.text ? ", in your words" : "")), button(card, "undo", "Undo answer", false, () => takeBack(card)));
  if (state.editing === card.key) return editor(card);
  const say = (name, words, main) => button(card, name, words, main, () => answer(card, name));
  if (card.kind === "resolve") return el("div", { class: "do" }, say("a", "Keep A", card.newer === "a"), say("b", "Keep B", card.newer === "b"), say("both", "Both hold"), say("skip", "Skip"));
  return el("div", { class: "do" }, say("accept", "Accept", !card.unsure), say("reject", "Reject"), card.kind === "merge" ? button(card, "edit", "Edit text", false, () => edit(card)) : null);
}

function edit(card) { state.editing = card.key; redraw(card); const box = $(`c-${card.key}`).querySelector("textarea"); if (box) box.focus(); }

// The merged text under a person's hands; the guards look at it as it is typed.
function editor(card) {
  const before = card.text !== undefined ? card.text : memory(card.members[card.stays || 0]).text;
  const told = el("div", { role: "status" }, el("p", { class: "small quiet" }, "Nothing is lost so far."));
  const save = el("button", { type: "button", class: "main", "data-do": "save", onclick: () => answer(card, "accept", { text: box.value }) }, "Accept this text");
  let waiting = null, asked = 0;
  const check = async () => {
    const mine = ++asked;
    const found = await send("/check", { key: card.key, text: box.value }).catch(() => null);
    if (!found || mine !== asked) return;
    save.disabled = found.lost.length > 0;
    told.replaceChildren(found.lost.length ? el("div", { class: "lost-list" }, "This would lose:", el("ul", { class: "plainlist" }, found.lost.map(([kind, detail]) => el("li", {}, `${kind}: `, el("b", {}, shown(detail)))))) : el("p", { class: "small quiet" }, "Nothing is lost."));
  };
  const box = el("textarea", { "aria-label": "The merged text", oninput: () => { save.disabled = true; clearTimeout(waiting); waiting = setTimeout(check, 150); }, onkeydown: (event) => { if (event.key === "Escape") { state.editing = null; redraw(card); $(`c-${card.key}`).focus(); } } });
  box.value = before;
  return el("div", { class: "edit" }, el("p", { class: "label" }, "The merged text"), box, told, el("div", { class: "do" }, save, el("button", { type: "button", "data-do": "cancel", onclick: () => { state.editing = null; redraw(card); } }, "Cancel")));
}

function pressed(key, card) {
  if (!canWrite() || pinnedIn(card)) return false;
  if (state.sending) return true; // a key that is held down answers one proposal
  const said = answerTo(card);
  if (key === "u" && said) { takeBack(card); return true; }
  if (said) return false;
  const moves = card.kind === "resolve" ? { a: "a", b: "b", o: "both", r: "both", s: "skip" } : { a: "accept", r: "reject" };
  if (key === "e" && card.kind === "merge") { edit(card); return true; }
  if (!moves[key]) return false;
  answer(card, moves[key]).then(() => move(1));
  return true;
}

function showBar() {
  const bar = $("bar");
  bar.hidden = false;
  if (!canWrite()) { bar.replaceChildren(el("div", { class: "inner" }, el("span", {}, data.live.moved || "Read-only: nothing can be changed from here."))); return; }
  const answered = data.cards.filter((card) => answerTo(card)).length, count = data.live.changes;
  bar.replaceChildren(el("div", { class: "inner" },
    el("span", { class: "grow" }, `${answered} of ${plural(data.cards.length, "proposal")} answered`),
    el("span", { class: "small quiet keys" }, el("kbd", {}, "j"), el("kbd", {}, "k"), " next, previous"),
    data.live.labelled >= data.live.offer ? el("button", { type: "button", "data-do": "calibrate", onclick: calibrate }, "Calibrate") : null,
    el("button", { type: "button", "data-do": "refresh", onclick: refresh }, "Look again"),
    el("button", { type: "button", class: "main", "data-do": "apply", disabled: !count, onclick: preview }, `Apply ${plural(count, "change")}`)));
}

async function refresh() { await send("/refresh").then((told) => notice(told.told), () => {}); }
async function calibrate() { await send("/calibrate").then((told) => notice(told.told, "good"), () => {}); }

async function preview() {
  const found = await send("/preview").catch(() => null);
  if (!found || !found.digest) return;
  const box = $("dialog");
  fill(box, el("h2", { id: "dialog-title" }, `Apply ${plural(found.changes, "change")}?`), el("pre", { tabindex: "0", "aria-label": "All that will be done" }, shown(found.lines.join("\n"))),
    ...found.notes.map((note) => el("p", { class: "small" }, shown(note))), found.careful ? el("p", { class: "warn" }, found.careful) : null,
    el("div", { class: "do" }, el("button", { type: "button", class: "main", "data-do": "confirm", onclick: () => { box.close(); apply(found.digest); } }, "Apply"), el("button", { type: "button", "data-do": "cancel", onclick: () => box.close() }, "Not yet")));
  box.showModal();
}

async function apply(digest) {
  const meter = el("progress", { "aria-label": "Progress" });
  const stage = el("span", { class: "grow" }, "Applying …");
  $("bar").replaceChildren(el("div", { class: "inner" }, stage, meter));
  let going = true;
  const poll = async () => {
    while (going) {
      await new Promise((done) => setTimeout(done, 200));
      const told = going && await send("/progress").catch(() => null);
      if (!going || !told) break;
      stage.textContent = told.stage ? `${told.stage}: ${told.done}${told.total ? ` of ${told.total}` : ""}` : "Applying …";
      if (told.total) { meter.max = told.total; meter.value = told.done; }
    }
  };
  poll();
  const found = await send("/apply", { digest }).catch(() => null);
  going = false;
  showBar();
  if (found && found.run !== undefined) applied(found);
}

function applied(found) {
  const undo = found.run ? el("button", { type: "button", "data-do": "undo-run", onclick: () => undoRun(found.run) }, "Undo") : null;
  notice(`${found.told}${found.undo ? " Take it back with: " : ""}`, "good", found.undo ? el("code", {}, found.undo) : null, undo);
  window.scrollTo(0, 0);
}

async function undoRun(run) { await send("/undo", { run }).then((told) => notice(told.told, "good"), () => {}); }
