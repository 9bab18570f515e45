/**
 * `npm run histories -- --histories N` runs N random histories of migrations beside an application that writes, and ends with 1
 * when one of them lost something. `--target namespace` runs them through `migrate serve`. Started again with the same options
 * it resumes where it was stopped; `--fresh` begins again.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkHistories, type Progress } from "./check.ts";

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "3000" },
    first: { type: "string", default: "1" },
    target: { type: "string", default: "lance" },
    jobs: { type: "string", default: "3" },
    fresh: { type: "boolean", default: false },
  },
});
const { target } = values;
if (target !== "lance" && target !== "namespace") throw new TypeError("--target is lance or namespace");
const [first, count] = [Number(values.first), Number(values.histories)];
const file = join(tmpdir(), `lance-migrate-histories-${target}-${first}-${count}.json`);
if (values.fresh) rmSync(file, { force: true });

interface State {
  readonly next: number;
  readonly seconds: number;
  readonly counts: readonly (readonly [string, number])[];
  readonly violations: Progress["violations"];
}

const saved = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as State) : undefined;
const progress: Progress = {
  next: saved?.next ?? first,
  counts: new Map(saved?.counts),
  violations: [...(saved?.violations ?? [])],
};
if (saved !== undefined) console.log(`resumes at history ${saved.next}`);
const started = performance.now();
const seconds = () => (saved?.seconds ?? 0) + (performance.now() - started) / 1_000;
let told = progress.violations.length;

await checkHistories(progress, first + count, target, Number(values.jobs), ({ next, counts, violations }) => {
  for (const { seed, words } of violations.slice(told)) console.log(`history ${seed}: ${words}\n`);
  told = violations.length;
  const state: State = { next, seconds: seconds(), counts: [...counts], violations };
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
});

const commits = new Map<string, number>();
for (const [what, times] of [...progress.counts].toSorted()) {
  const [, kind] = /^(\w+), .*: acknowledged$/.exec(what) ?? [];
  if (kind !== undefined) commits.set(kind, (commits.get(kind) ?? 0) + times);
  console.log(`${what}: ${times}`);
}
const words = [...commits].map(([kind, times]) => `${kind} ${times}`).join(", ");
console.log(`\ncommits of the application: ${words}`);
console.log(`${count} histories on ${target}, ${Math.round(seconds())} s, ${progress.violations.length} violations`);
for (const { seed, words } of progress.violations) console.log(`history ${seed}: ${words.split("\n")[0]}`);
rmSync(file, { force: true });
process.exit(progress.violations.length === 0 ? 0 : 1);
