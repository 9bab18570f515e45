/**
 * `node test/bench/hedge.ts [PAIRS [SECONDS]]`: how long a rename takes beside four applications that have appended without
 * pause for so long and go on, with the further calls of src/run/execute/hedged-send.ts and with one call alone, in turn. A run that takes
 * longer than the limit counts as the limit.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { lancedb } from "../support/tables.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const appenders = 4;
/** Seconds. */
const limit = 120;
const pairs = Number(process.argv[2] ?? 5);
const before = Number(process.argv[3] ?? 0);

const scratch = mkdtempSync(join(tmpdir(), "lance-migrate-hedge-"));
const seconds: Record<"hedged" | "alone", number[]> = { hedged: [], alone: [] };
try {
  const code = { hedged: sourceWith((text) => text), alone: sourceWith(withOneCall) };
  for (let pair = 0; pair < pairs; pair++)
    for (const way of pair % 2 === 0 ? (["hedged", "alone"] as const) : (["alone", "hedged"] as const)) {
      const took = await renameBeside(code[way]);
      seconds[way].push(took);
      console.log(`${way}: ${took.toFixed(1)} s`);
    }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const [way, all] of Object.entries(seconds)) {
  const sorted = all.toSorted((one, other) => one - other);
  console.log(`${way}: median ${sorted[pairs >> 1]!.toFixed(1)} s, longest ${sorted.at(-1)!.toFixed(1)} s`);
}

function withOneCall(text: string): string {
  const changed = text.replace("const mostCalls = 10;", "const mostCalls = 1;");
  if (changed === text) throw new Error("src/run/execute/hedged-send.ts has no mostCalls to change");
  return changed;
}

function sourceWith(change: (text: string) => string): string {
  const folder = mkdtempSync(join(scratch, "source-"));
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "src/run/execute/hedged-send.ts");
  writeFileSync(file, change(readFileSync(file, "utf8")));
  return folder;
}

async function renameBeside(source: string): Promise<number> {
  const folder = mkdtempSync(join(scratch, "project-"));
  const database = join(folder, ".lancedb");
  const migration = (name: string, ...up: readonly object[]) =>
    writeFileSync(join(folder, "migrations", name), `export const up = ${JSON.stringify(up)};\n`);
  mkdirSync(join(folder, "migrations"));
  const up = () => start([join(source, "src/main/bin.ts"), "up"], folder);
  const int32 = { kind: "int32" };
  const columns = [
    { name: "id", type: int32, nullable: false },
    { name: "value", type: int32, nullable: true },
    { name: "other", type: int32, nullable: true },
  ];
  migration("0001_people.mjs", { kind: "createTable", table: "people", columns });
  await ended(up());
  const table = await (await lancedb.connect(database)).openTable("people");
  await table.add([{ id: -1, value: 0, other: 0 }]);
  migration("0002_rename.mjs", { kind: "renameColumn", table: "people", path: "other", name: "another" });
  const appender = fileURLToPath(new URL("../fault/appender.ts", import.meta.url));
  const beside = Array.from({ length: appenders }, (_, own) =>
    start([appender, database, "people", String(own)], root),
  );
  await Promise.all(beside.map(async ({ stdout }) => await once(stdout!, "data")));
  await setTimeout(before * 1_000);
  const started = performance.now();
  const running = up();
  const timer = globalThis.setTimeout(() => running.kill("SIGKILL"), limit * 1_000);
  const [code, signal] = await once(running, "close");
  const took = (performance.now() - started) / 1_000;
  clearTimeout(timer);
  for (const one of beside) one.kill("SIGKILL");
  await Promise.all(beside.map(async (one) => one.exitCode ?? one.signalCode ?? (await once(one, "close"))));
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`the rename ended with ${code}`);
  rmSync(folder, { recursive: true });
  return took;
}

function start(args: readonly string[], cwd: string): ChildProcess {
  return spawn(process.execPath, [...args], { cwd, stdio: ["pipe", "pipe", "inherit"] });
}

async function ended(running: ChildProcess): Promise<void> {
  const [code] = await once(running, "close");
  if (code !== 0) throw new Error(`the first migration ended with ${code}`);
}
