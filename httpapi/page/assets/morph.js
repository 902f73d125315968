// Changes one DOM tree into another with minimal changes, so that focus, scrolling, opened disclosures and running animations are
// preserved. Children are matched by data-key, otherwise by position. Those with data-added, which a script has added, are left alone.

// morph makes `from` like `to`. It calls `changed` with each element that has data-wash and new text; one with data-wash="new" counts
// only when it is inserted.
export function morph(from, to, changed) {
  if (from.nodeName !== to.nodeName || from.namespaceURI !== to.namespaceURI) {
    from.replaceWith(to);
    return;
  }
  if (from.hasAttribute && from.hasAttribute("data-held")) return; // managed by a script
  const watch = from.dataset && from.dataset.wash;
  const washed = watch && watch !== "new" && from.textContent !== to.textContent;
  attributes(from, to);
  children(from, to, changed);
  if (washed) changed(from);
}

function attributes(from, to) {
  for (const { name, value } of [...to.attributes]) {
    if (kept(from, name)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !kept(from, name)) from.removeAttribute(name);
  }
}

// The reader decides what is opened and closed.
function kept(el, name) {
  return name === "open" && el.hasAttribute("data-keep");
}

const isAdded = (node) => node.dataset?.added !== undefined;

function children(from, to, changed) {
  const keyed = new Map();
  for (const el of from.children) {
    if (el.dataset && el.dataset.key) keyed.set(el.dataset.key, el);
  }
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const key = next.dataset && next.dataset.key;
    if (key) {
      const old = keyed.get(key);
      if (old) {
        keyed.delete(key);
        if (old === at) at = at.nextSibling;
        else from.insertBefore(old, at);
        morph(old, next, changed);
      } else {
        from.insertBefore(next, at);
        if (next.dataset.wash) changed(next);
      }
      continue;
    }
    while (at && (isAdded(at) || at.dataset?.key)) at = at.nextSibling;
    if (!at) {
      from.append(next);
      continue;
    }
    const old = at;
    at = at.nextSibling;
    if (old.nodeType !== next.nodeType) old.replaceWith(next);
    else if (old.nodeType === Node.ELEMENT_NODE) morph(old, next, changed);
    else if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    if (!isAdded(gone)) gone.remove();
  }
  for (const el of keyed.values()) el.remove();
}
