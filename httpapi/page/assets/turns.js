// The turns that tabs take at the queue. See DESIGN.md in httpapi/page.

const patience = 30000; // ms to wait for a tab that does nothing with its turn

// alone runs work while no other tab does. Without a secure context or storage there are no locks: two tabs may then send the same write twice,
// and the node recognizes it by its key. A browser may freeze the tab whose turn it is: a visible one takes its turn when it has heard
// nothing of other tabs for 30 s.
export async function alone(scope, heardAt, work) {
  const turn = { begun: false, over: false };
  const once = () => {
    turn.begun = true;
    return work(turn);
  };
  if (!navigator.locks) return once();
  const asked = performance.now();
  const stop = new AbortController();
  const watch = setInterval(() => {
    const quiet = performance.now() - Math.max(asked, heardAt());
    if (!turn.begun && quiet > patience && !globalThis.document?.hidden) stop.abort(new DOMException("Nobody uses the lock.", "TimeoutError"));
  }, 1000);
  try {
    return await navigator.locks.request(scope, { signal: stop.signal }, once);
  } catch (err) {
    if (turn.begun) { // another tab has stolen the lock
      turn.over = true;
      throw err;
    }
    return await (stop.signal.aborted ? navigator.locks.request(scope, { steal: true }, once) : once());
  } finally {
    clearInterval(watch);
  }
}
