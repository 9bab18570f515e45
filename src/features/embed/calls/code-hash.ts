/** A hash of code of the project that computes values: of a module and what it imports from the project, or of a command's files. */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, resolve, sep } from "node:path";
import type { Computation } from "../../../actions/model/computation.ts";
import { canonicalJson, shortHash, sha256, textHash } from "../../../migrations/checksum.ts";

/**
 * What is imported by a relative path, or by a name of the "imports" of package.json, is among these texts; one that names
 * no file is left out.
 */
const importedNames = /["']((?:\.{1,2}\/|#)[^"'\n]+)["']/g;

/** In bytes. A script is shorter. */
const longestText = 2 ** 24;

/** Undefined for SQL, whose text is in the step. Packages are not among it, nor what a command's files import. */
export function codeHash(code: Computation["with"], folder: string): string | undefined {
  if (typeof code !== "string" && "sql" in code) return undefined;
  const files = new Map<string, string>();
  const words = typeof code === "string" ? [code] : code.command;
  for (const word of words) if (!isAbsolute(word)) addFile(resolve(folder, word), files);
  return shortHash(sha256(canonicalJson([words, [...files.values()].toSorted()])));
}

function addFile(path: string, files: Map<string, string>): void {
  if (files.has(path) || path.split(sep).includes("node_modules")) return;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return; // it names no file
  }
  const isModule = /\.[cm]?[jt]sx?$/.test(path);
  // The weights of a model, say, which take long to read as text, or are too long for one.
  const isText = isModule || (bytes.length < longestText && isUtf8(bytes));
  if (!isText) return void files.set(path, hash("sha256", bytes));
  const text = bytes.toString();
  files.set(path, textHash(text));
  if (isModule) for (const [, name] of text.matchAll(importedNames)) addFile(pathOf(name!, path), files);
}

/** `from`: the file that imports it. */
function pathOf(name: string, from: string): string {
  if (!name.startsWith("#")) return resolve(dirname(from), name);
  try {
    return createRequire(from).resolve(name);
  } catch {
    return name; // such as a colour
  }
}
