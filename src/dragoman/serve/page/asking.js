// Questions to the server. Every failure becomes a Problem: a calm sentence, and when to try again if that helps.

export class Problem extends Error {
  constructor(sentence, { retryAfter = null, needsKey = false } = {}) {
    super(sentence);
    this.retryAfter = retryAfter;
    this.needsKey = needsKey;
  }
}

let key = sessionStorage.getItem("api-key") ?? "";

export function useKey(value) {
  key = value;
  sessionStorage.setItem("api-key", value);
}

export function hasKey() {
  return key !== "";
}

export function get(address) {
  return answered(address, {});
}

export function post(address, fields, signal) {
  const body = JSON.stringify(key ? { ...fields, api_key: key } : fields);
  return answered(address, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
}

export function postFile(address, file, fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(key ? { ...fields, api_key: key } : fields)) body.append(name, value);
  body.append("file", file);
  return answered(address, { method: "POST", body });
}

async function answered(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached. Your text is still here; trying again…", { retryAfter: 3 });
  }
  if (response.ok) return response.json();
  const sentence = await response.json().then((answer) => answer.error, () => null);
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    throw new Problem(`The server is busy; trying again in ${seconds} s.`, { retryAfter: seconds });
  }
  throw new Problem(sentence ?? `The server answered with status ${response.status}.`, {
    needsKey: response.status === 403,
  });
}
