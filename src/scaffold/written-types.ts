/** The files of `migrate types`: what they have to hold, whether they do, and writing them. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { MigrateError } from "../errors.ts";
import type { Moment } from "../run/moments.ts";
import { applicationTypes, writtenMark } from "./application-types.ts";
import { historyTypes } from "./history-types.ts";

export interface TypesFile {
  readonly path: string;
  readonly text: string;
}

const historyName = "history.d.ts";

/** In the migrations folder, as TypeScript looks there for what the migrations need. */
export function historyFile(migrations: string, moments: readonly Moment[]): TypesFile {
  return { path: join(migrations, historyName), text: historyTypes(moments) };
}

export function applicationFile(path: string, moments: readonly Moment[]): TypesFile {
  return { path, text: applicationTypes(moments.at(-1)?.database ?? new Map()) };
}

/** Whether it is there and as it has to be. Line ends are a matter of the checkout. */
export function isWritten({ path, text }: TypesFile): boolean {
  return existsSync(path) && statSync(path).isFile() && readFileSync(path, "utf8").replaceAll("\r\n", "\n") === text;
}

/** Whether it is there, and written by `migrate types`. */
export function isOurs(path: string): boolean {
  return existsSync(path) && statSync(path).isFile() && readFileSync(path, "utf8").startsWith(writtenMark);
}

/** Refuses to write over what somebody else wrote. Throws ERR_FILE_EXISTS. */
export function checkOurs({ path }: TypesFile): void {
  if (existsSync(path) && !isOurs(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
}

/** As a whole, so that nobody reads half of it. */
export function writeTypes({ path, text }: TypesFile): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID().slice(0, 8)}`;
  try {
    writeFileSync(draft, text, { flag: "wx" });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
