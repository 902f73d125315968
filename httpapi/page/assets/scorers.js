// Handing the scoring of a game over and back. The node shows who has it. While another device has it, the keys of this one are set aside; they
// work again at a tap, also while the node is unreachable, since scoring never waits for anybody.
import { request } from "./request.js";

let taken = false; // here, and the node does not know it yet
let sending = false;

function draw() {
  const away = Boolean(document.querySelector("[data-away]"));
  if (!away && !sending) taken = false;
  for (const keys of document.querySelectorAll("[data-scoring-keys]")) keys.inert = away && !taken;
}

async function send(form) {
  sending = true;
  const body = JSON.stringify(Object.fromEntries(new FormData(form)));
  const answer = await request(form.getAttribute("action"), {
    method: "POST", body, headers: { "Content-Type": "application/json" },
  }).catch(() => null);
  sending = false;
  return answer;
}

document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.matches("form[data-scorers]")) return;
  e.preventDefault();
  const button = form.querySelector("button");
  const { scorers: does } = form.dataset;
  if (does === "take" || does === "share") {
    taken = true;
    draw();
  }
  const answer = await send(form);
  if (answer?.ok) return document.dispatchEvent(new CustomEvent("touchline:sent"));
  button.textContent = taken ? "Done here. The node does not answer" : "The node does not answer. Try again";
  button.dataset.held = "";
});
document.addEventListener("touchline:refreshed", () => {
  const again = taken && !sending && document.querySelector('form[data-scorers="take"]');
  if (again) send(again).then((answer) => { if (answer?.ok) document.dispatchEvent(new CustomEvent("touchline:sent")); });
  draw();
});
draw();
