/** Dotted column paths as the engine reads them: `a.b`, and `` `a.b`.c `` if a name itself contains a dot. */
import { MigrateError } from "../errors/migrate-error.ts";

export type Path = readonly string[];

/** The names of a path, outermost first. Throws ERR_PATH_INVALID. */
export function parsePath(text: string): Path {
  const names: string[] = [];
  let at = 0;
  for (;;) {
    const [name, end] = text[at] === "`" ? quotedName(text, at) : plainName(text, at);
    if (name === "") throw new MigrateError("ERR_PATH_INVALID", { path: text, problem: "has an empty part" });
    names.push(name);
    if (end === text.length) return names;
    if (text[end] !== ".")
      throw new MigrateError("ERR_PATH_INVALID", { path: text, problem: "continues after a closing backtick" });
    at = end + 1;
  }
}

/** The path as the engine accepts it. Names with a dot or a backtick are quoted. */
export function formatPath(path: Path): string {
  return path.map((name) => (/[.`]/.test(name) ? `\`${name.replaceAll("`", "``")}\`` : name)).join(".");
}

/** What follows `start` in a path; undefined if the path does not begin with it. */
export function restOf(path: Path, start: Path): Path | undefined {
  return isWithin(path, start) ? path.slice(start.length) : undefined;
}

/** Whether a path is that of `outer`, or of something inside it. */
export function isWithin(path: Path, outer: Path): boolean {
  return outer.every((name, index) => path[index] === name);
}

function plainName(text: string, from: number): [string, number] {
  const dot = text.indexOf(".", from);
  const end = dot === -1 ? text.length : dot;
  const name = text.slice(from, end);
  if (name.includes("`"))
    throw new MigrateError("ERR_PATH_INVALID", { path: text, problem: "has a backtick inside a name" });
  return [name, end];
}

function quotedName(text: string, from: number): [string, number] {
  let name = "";
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== "`") name += text[at];
    else if (text[at + 1] === "`") name += text[at++];
    else return [name, at + 1];
  }
  throw new MigrateError("ERR_PATH_INVALID", { path: text, problem: "has a backtick that is not closed" });
}
