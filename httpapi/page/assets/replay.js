// Keeps the page of replays in step while nobody is at one of its controls. Without it the page works by its forms.
import { morph } from "./morph.js";

const every = 2000;

function idle() {
  const at = document.activeElement;
  return !document.hidden && !(at && at.closest("form"));
}

async function refresh() {
  try {
    if (!idle()) return;
    const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
    const old = document.querySelector('[data-key="playing"]');
    if (!answer.ok || !idle()) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector('[data-key="playing"]');
    if (old && next) morph(old, document.importNode(next, true), () => {});
  } finally {
    setTimeout(refresh, every);
  }
}

setTimeout(refresh, every);
