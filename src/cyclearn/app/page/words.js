// What the library says in the words of its options, in the words of this page.

import { LABELS as OPTIONS, MENUS } from "./options.js";

const LABELS = {
  ...OPTIONS, missing_codes: "Codes for missing values", drop: "Columns to leave out", columns: "Columns", n_samples: "Number of rows",
  header: "The first line contains names", sheet: "Sheet",
};

// A remedy in brackets that names arguments of Python or options of the command line.
const REMEDY = /\s*\((?:[^()]|\([^()]*\))*?(?:--[a-z]|\b[a-z_]+=)(?:[^()]|\([^()]*\))*\)/g;
const CALL = /,?\s*(?:or |as )?cl\.\w+\([^)]*\)/g;
const ARGUMENT = /\b([a-z_]+)=(?:'([^']*)'|"([^"]*)"|(\[[^\]]*\]|…|[\w.]+))/g;

/** A sentence without names that only Python or the command line have. */
export function plain(words) {
  return words.replace(REMEDY, "").replace(CALL, "").replace(/\s*\((?:or )?--[a-z-]+[^)]*\)|\s--[a-z-]+/g, "")
    .replace(ARGUMENT, (whole, name, ...values) => {
      const label = LABELS[name], value = values.slice(0, 3).find((each) => each !== undefined);
      if (!label) return whole;
      const choice = MENUS[name]?.[1].find(([each]) => each === value)?.[1] ?? value;
      return choice === "…" ? `“${label}”` : `“${label}”: ${choice}`;
    });
}
