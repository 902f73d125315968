// Requests that give up. A connection whose other end is gone has no answer, and a browser waits for it for minutes. The worker has these
// functions too.

const silence = 10000; // ms without a byte; a slow line may take longer
const bare = [204, 205, 304]; // answers without a body, which some browsers give a stream all the same

// request is fetch for an answer as a whole. It fails if nothing arrives for 10 s, before the answer or within its body. Of a page,
// "touchline:doubt" is then raised at the document.
export async function request(address, options = {}) {
  try {
    return await whole((signal) => fetch(address, { ...options, signal }));
  } catch (err) {
    globalThis.document?.dispatchEvent(new Event("touchline:doubt"));
    throw err;
  }
}

// whole returns the answer of a fetch together with its body, or fails as request does.
export async function whole(start) {
  const stop = new AbortController();
  const answer = await heard(start(stop.signal), stop);
  if (!answer.body || bare.includes(answer.status)) return answer;
  const chunks = [];
  const from = answer.body.getReader();
  try {
    for (;;) {
      const { done, value } = await heard(from.read(), stop);
      if (done) break;
      chunks.push(value);
    }
  } catch (err) {
    from.cancel().catch(() => {}); // a fetch that did not take the signal goes on otherwise
    throw err;
  }
  return new Response(joined(chunks), { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}

function joined(chunks) {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

// heard waits for the next sign of life, and ends the request if there is none.
function heard(sign, stop) {
  return new Promise((ok, no) => {
    const timer = setTimeout(() => {
      const err = new DOMException("The node is silent.", "TimeoutError");
      no(err);
      stop.abort(err);
    }, silence);
    sign.then(ok, no).finally(() => clearTimeout(timer));
  });
}
