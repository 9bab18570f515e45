/** Preloaded into every process of a test file: appends the marks that its code reaches to the file that MUTANTS_SEEN names. */
import { appendFileSync } from "node:fs";

const file = process.env.MUTANTS_SEEN;
const seen = new Set();
if (file !== undefined)
  globalThis.__seen = (mark) => {
    if (seen.has(mark)) return;
    seen.add(mark);
    appendFileSync(file, `${mark}\n`);
  };
