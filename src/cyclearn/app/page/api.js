// The API of the server, which says in words what went wrong.

async function answered(response) {
  const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
  const value = isJson ? await response.json() : { error: (await response.text()).trim() };
  if (!response.ok) throw new Error(value.error || `The server answered ${response.status}.`);
  return value;
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The program does not respond. If it was stopped, start cyclearn app again.");
  }
  return answered(response);
}

const sent = (method, path, value, options = {}) =>
  ask(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value ?? {}), ...options });

export const getState = () => ask("/api/state");
export const getTable = (table) => ask(`/api/tables/${table}`);
export const getJob = (job) => ask(`/api/jobs/${job}`);
export const openExample = (name) => sent("POST", "/api/tables/example", { name });
export const openFile = (file) =>
  ask(`/api/tables?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
export const openWork = (file) => ask("/api/work", { method: "POST", body: file });
export const readAgain = (table, reading) => sent("POST", `/api/tables/${table}/read`, reading);
export const newLink = () => sent("POST", "/api/link");
// A page that is left still sends it; browsers do that up to 64 kB.
export const saveDraft = (table, draft) =>
  sent("PUT", `/api/tables/${table}/draft`, draft, { keepalive: JSON.stringify(draft).length < 20_000 });
export const startJob = (kind, table, of, request) => sent("POST", "/api/jobs", { kind, table, of, request });
export const changeJob = (job, changes) =>
  sent("PUT", `/api/jobs/${job}`, changes, { keepalive: JSON.stringify(changes).length < 20_000 });
export const getSketch = (job) => ask(`/api/jobs/${job}/sketch`);
export const stopJob = (job) => sent("POST", `/api/jobs/${job}/stop`);
export const cancelJob = (job) => sent("POST", `/api/jobs/${job}/cancel`);
export const getMembers = (job, asked) => sent("POST", `/api/jobs/${job}/members`, asked);
export const fileOf = (job, name) => `/api/jobs/${job}/files/${name}`;
export const scriptOf = (job) => (job ? `/api/script?job=${job}` : "/api/script");
export const workFile = (hasRows) => (hasRows ? "/api/work" : "/api/work?tables=no");
export const tableFile = (table) => `/api/tables/${table}/file`;
