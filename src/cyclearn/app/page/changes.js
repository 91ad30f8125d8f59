// What two windows change in the same things: only differences are sent, and put together.

const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What has to change to get from one value to another, part by part; null takes a part back. */
export function difference(before, after) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]), found = {};
  for (const name of names) {
    const [old, now] = [before[name], after[name]];
    if (now === undefined) found[name] = null;
    else if (isPlain(old) && isPlain(now)) {
      const inner = difference(old, now);
      if (Object.keys(inner).length) found[name] = inner;
    } else if (JSON.stringify(old) !== JSON.stringify(now)) found[name] = now;
  }
  return found;
}

/** A value with changes; where these are to be sent on, what is taken back stays null. */
export function merged(value, changes, keepsNull = false) {
  const found = { ...value };
  for (const [name, part] of Object.entries(changes)) {
    if (part === null && !keepsNull) delete found[name];
    else found[name] = isPlain(part) ? merged(isPlain(found[name]) ? found[name] : {}, part, keepsNull) : part;
  }
  return found;
}
