// Script of the play page: keyboard, typed letters, a guess that is not sent yet, sharing. It never grades. Without it, readers who have a
// user ID or a cookie can still play with the text field. Other pages use it only to find the reader's date.
import "./refresh.js";
import { queue } from "./offline.js";
import { request } from "./request.js";

const main = document.querySelector("[data-date]");
const form = document.querySelector(".guess");
const word = document.getElementById("word");
const said = document.getElementById("said");

// ownDay goes to the page for the reader's date, once, if it differs from the node's. It also sets the countdown to the next puzzle.
function ownDay() {
  const now = new Date();
  const two = (n) => String(n).padStart(2, "0");
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  if (main.dataset.latest && !location.search && day !== main.dataset.date) location.replace(main.dataset.latest + day);
  const next = document.querySelector(".next time");
  if (next) next.dateTime = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).toISOString();
}

// asGuest gets a guest's cookie for a reader without an ID, and loads the page again with it.
async function asGuest() {
  if (!("nobody" in main.dataset)) return;
  const answer = await request(main.dataset.mount + "/session", { method: "POST" }).catch(() => null);
  if (answer?.status === 204) location.reload();
}

const reader = document.documentElement.dataset.reader;
const guesses = () => queue.entries.filter((e) => e.reader === reader && e.path === form.getAttribute("action"));
const waiting = () => guesses().find((e) => e.state === "queued" || e.state === "sending");

// draw shows the typed letters, or the guess that is not sent yet, in the first free row.
function draw() {
  const waits = waiting();
  const text = waits ? JSON.parse(waits.body).word_guessed : word.value;
  const board = document.querySelector(".board");
  const row = document.querySelectorAll(".row")[Number(board.dataset.moves)];
  if (!row || "over" in board.dataset) return;
  [...row.children].forEach((square, i) => {
    const letter = text[i] ?? "";
    if (square.textContent !== letter) square.textContent = letter;
    square.className = waits ? "square square--waits" : "square";
  });
  if (waits?.state === "queued") tell("Not sent yet. It will be sent as soon as the node can be reached.");
  else if (said.textContent.startsWith("Not sent")) tell("");
}

function tell(text) {
  if (said.textContent !== text) said.textContent = text;
}

function press(letter) {
  word.value = letter ? (word.value + letter).slice(0, 5) : word.value.slice(0, -1);
  tell("");
  draw();
}

function guessing() {
  form.classList.add("guess--keys");
  form.addEventListener("click", (e) => {
    const key = e.target.closest("[data-letter]");
    if (key) press(key.dataset.letter);
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === word) return;
    if (/^[a-zA-Z]$/.test(e.key)) press(e.key.toLowerCase());
    else if (e.key === "Backspace") press("");
    else if (e.key === "Enter" && !e.target.closest("button, a, summary")) form.requestSubmit();
    else return;
    e.preventDefault();
  });
  word.addEventListener("input", draw);
  // At most one guess may wait to be sent: the player chooses the next one by its grades.
  document.addEventListener("submit", (e) => {
    if (e.target !== form || !waiting()) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    tell("Not sent yet: one guess is already waiting.");
  }, true);
  form.addEventListener("invalid", (e) => {
    e.preventDefault();
    tell("Guess must be exactly 5 letters");
  }, true);
  form.addEventListener("reset", () => setTimeout(draw));
  queue.addEventListener("change", async () => {
    for (const e of guesses().filter((e) => e.state === "refused")) { // shown on this page, once
      await queue.discard(e.n);
      tell(e.words);
      if (!word.value) word.value = JSON.parse(e.body).word_guessed; // to be changed and sent again
    }
    draw();
  });
  document.addEventListener("touchline:refreshed", draw);
  draw();
}

document.addEventListener("click", async (e) => {
  if (e.target.closest("[data-seen]")) {
    await request(`${main.dataset.mount}/game/${main.dataset.date}`).catch(() => {});
    document.dispatchEvent(new Event("touchline:sent"));
  }
  if (!e.target.closest("[data-share]")) return;
  const text = document.querySelector(".share").textContent;
  try {
    if (navigator.share) await navigator.share({ text });
    else await navigator.clipboard.writeText(text).then(() => tell("Copied."));
  } catch (err) {
    if (err.name !== "AbortError") getSelection().selectAllChildren(document.querySelector(".share"));
  }
});

if (main) ownDay();
if (main?.classList.contains("play")) {
  asGuest();
  if (form) guessing();
}
