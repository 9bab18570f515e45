/** Takes a service of the family through all that may happen to runs, and tells what went wrong. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "../../../src/features/embed/feature.ts";
import { doctor } from "../../../src/features/repair/doctor.ts";
import { repair } from "../../../src/features/repair/repair/repair.ts";
import { status } from "../../../src/commands/status.ts";
import { up } from "../../../src/commands/up.ts";
import { verifyLedger, verifyTables } from "../../../src/commands/verify/verify.ts";
import { isMigrateError } from "../../../src/errors/migrate-error.ts";
import { migrationsIn, type MigrationSource } from "../../../src/migrations/source.ts";
import type { MigratorOptions } from "../../../src/run/run-context.ts";
import { open } from "../../../src/features/rest/rest.ts";
import type { RowValues } from "../../../src/schema/row-values.ts";
import { systemClock, type Clock } from "../../../src/time/clock.ts";
import { sleepingClock } from "../../support/clocks.ts";
import { columnsOf, rowsOf } from "../../support/tables.ts";
import { apiKey, startFamily, type Family, type Ways } from "./family-service.ts";

const files = {
  "0001_createDocs.ts": `createTable("Docs", { a: int32(), b: int32(), c: utf8(), source: struct({ url: utf8() }), score: float32() }, { rows: ${JSON.stringify(
    [0, 1, 2].map((n) => ({ a: n, b: n * 10, c: `text ${n}`, source: { url: `u${n}` }, score: n / 2 })),
  )} }), createTable("_people", { id: int32().notNull() })`,
  "0002_several.ts": `alterColumns("Docs", [{ path: "a", rename: "x" }, { path: "b", rename: "y", type: int64() }, { path: "source.url", rename: "link", type: largeUtf8() }])`,
  "0003_swap.ts": `alterColumns("Docs", [{ path: "x", rename: "y" }, { path: "y", rename: "x" }])`,
  "0004_required.ts": `setNullable("Docs", "c", false), alterColumns("_people", [{ path: "id", rename: "number", type: int64(), nullable: true }])`,
  "0005_finer.ts": `retypeColumn("Docs", "score", float64())`,
};
const expected = {
  Docs: ["y: int32", "x: int64", "c: utf8 not null", "source: struct<link: largeUtf8>", "score: float64"],
  _people: ["number: int64"],
};
const rows: readonly RowValues[] = [0, 1, 2].map((n) => ({
  y: n,
  x: n * 10,
  c: `text ${n}`,
  source: { link: `u${n}` },
  score: n / 2,
}));

/** The migrations, in a folder that the caller removes. */
export function writeMigrations(): MigrationSource & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-family-"));
  const names =
    "alterColumns, createTable, float32, float64, int32, int64, largeUtf8, retypeColumn, setNullable, struct, utf8";
  for (const [name, steps] of Object.entries(files))
    writeFileSync(join(folder, name), `import { ${names} } from "lance-migrate";\nexport const up = [${steps}];\n`);
  return { ...migrationsIn(folder), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Trial {
  readonly ways: Ways;
  readonly works: boolean;
  readonly migrations: MigrationSource;
  /** At which of its requests a run is killed, and loses an answer: as a share of all its requests, from 0 to 1. */
  readonly shares: readonly number[];
  /** How many runs start at once. */
  readonly crowds: readonly number[];
}

/** What went wrong, as text. Empty if all migrations ran as they should, or if nothing was changed, as expected. */
export async function tryService(trial: Trial): Promise<readonly string[]> {
  const problems: string[] = [];
  const scene = async (what: string, work: (scene: Scene) => Promise<readonly string[]>): Promise<void> => {
    await using scene = await aScene(trial);
    const found = await work(scene).catch((error: unknown) => [String((error as Error).stack)]);
    problems.push(...found.map((problem) => `${what}: ${problem}`));
  };
  let requests = 0;
  await scene("one run", async (one) => {
    const found = [...(await asExpected(one, trial))];
    requests = one.family.requests.get("first") ?? 0;
    return found;
  });
  if (!trial.works || problems.length > 0) return problems;
  for (const share of trial.shares)
    for (const [dead, acts] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const request = 1 + Math.floor(share * requests);
      const what = `${dead ? "killed at" : "no answer to"} request ${request}, which ${acts ? "acts" : "does not act"}`;
      await scene(what, async (one) => {
        const struck = Promise.withResolvers<void>();
        one.family.strike = { run: "first", request, acts, dead, done: struck.resolve };
        const first = one.up("first").then(
          () => {},
          (error: unknown) => {
            if (!isMigrateError(error)) throw error;
          },
        );
        // Nobody waits for a run that is dead.
        await (dead ? Promise.race([first, struck.promise]) : first);
        await one.up("second");
        return await whatIsWrong(one);
      });
    }
  for (const crowd of trial.crowds)
    await scene(`${crowd} runs`, async (one) => {
      const runs = Array.from({ length: crowd }, (_, index) => one.up(`run ${index}`, systemClock));
      const ended = await Promise.allSettled(runs);
      const failed = ended.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
      return failed.length > 0 ? failed : await whatIsWrong(one);
    });
  return problems;
}

/** Nobody waits. Records have whole milliseconds. */
function aClock(): Clock {
  const clock = sleepingClock();
  return { ...clock, wall: () => Math.round(clock.wall()) };
}

/**
 * How three runs end that follow one another, on a service that no check finds unfit in advance: as outcome, and whether
 * the run has changed a table.
 */
export async function runsInTurn(ways: Ways, migrations: MigrationSource): Promise<readonly string[]> {
  await using scene = await aScene({ ways, migrations });
  const tables = async () =>
    await Promise.all(scene.family.tables().map(async (name) => [name, await columnsOf(scene.folder, name)]));
  const ends: string[] = [];
  for (const run of ["first", "second", "third"]) {
    const before = JSON.stringify(await tables());
    const end = await scene.up(run).then(
      () => "well",
      (error: unknown) => (isMigrateError(error) ? error.outcome : String(error)),
    );
    ends.push(`${end}${JSON.stringify(await tables()) === before ? "" : ", changed"}`);
  }
  return ends;
}

interface Scene extends AsyncDisposable {
  readonly family: Family;
  readonly folder: string;
  options(run: string, clock?: MigratorOptions["clock"]): Promise<MigratorOptions>;
  up(run: string, clock?: MigratorOptions["clock"]): Promise<{ readonly applied: number }>;
}

async function aScene({ ways, migrations }: Pick<Trial, "ways" | "migrations">): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-family-"));
  const family = await startFamily(folder, ways);
  const targets: { close(): Promise<void> }[] = [];
  const scene: Scene = {
    family,
    folder,
    async options(run, clock = aClock()) {
      const target = await open(
        { kind: "rest", endpoint: family.url, apiKey, headers: { "x-run": run } },
        { name: "family", folder },
      );
      targets.push(target);
      return {
        target,
        migrations,
        ledger: "_migrations",
        computing: embed.computing,
        lease: { duration: 5_000, patience: 120_000 },
        clock,
      };
    },
    up: async (run, clock) => await whenReached(async () => await up(await scene.options(run, clock))),
    async [Symbol.asyncDispose]() {
      for (const target of targets) await target.close();
      await family[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return scene;
}

/**
 * Repeats a command that could not reach the service, as a pipeline does. Where each n-th request fails, the same one of
 * a command may fail each time.
 */
async function whenReached<Result>(command: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await command();
    } catch (error) {
      if (tries === 5 || !isMigrateError(error) || error.outcome !== "unreachable") throw error;
    }
}

/** Doctor and the first run agree: the service is fit and all is done, or it is not and nothing is. */
async function asExpected(scene: Scene, trial: Trial): Promise<readonly string[]> {
  const { target, clock } = await scene.options("doctor");
  const told = await whenReached(() => doctor(target, "_migrations", () => {}, clock)).catch((error: unknown) =>
    String(error),
  );
  const fit = typeof told === "string" ? false : told.fit;
  const lacking = typeof told === "string" ? told : told.findings.filter(({ found, needed }) => needed && !found);
  const doctored = fit === trial.works ? [] : [`doctor: fit ${fit}: ${JSON.stringify(lacking)}`];
  let refused: unknown;
  await scene.up("first").catch((error: unknown) => (refused = error));
  if (trial.works)
    return refused === undefined ? [...doctored, ...(await whatIsWrong(scene))] : [...doctored, String(refused)];
  const isRefused = isMigrateError(refused) && (refused.outcome === "refused" || refused.outcome === "unreachable");
  const tables = scene.family.tables();
  return [
    ...doctored,
    ...(isRefused ? [] : [`it was not refused: ${String(refused)}`]),
    ...(tables.length === 0 ? [] : [`it has made ${tables.join(", ")}`]),
  ];
}

/** After all migrations have run. */
async function whatIsWrong(scene: Scene): Promise<readonly string[]> {
  const { family, folder } = scene;
  const problems: string[] = [];
  const expect = (what: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) problems.push(`${what}: ${JSON.stringify(found)}`);
  };
  expect("tables", family.tables().toSorted(), Object.keys(expected));
  for (const [name, columns] of Object.entries(expected)) expect(name, await columnsOf(folder, name), columns);
  expect("values", await rowsOf(folder, "Docs"), rows);
  const options = await scene.options("after");
  expect("a run with nothing to do", (await scene.up("after")).applied, 0);
  const { applied, pending, doubts, problem } = await whenReached(() => status(options));
  expect("status", [applied.length, pending.length, doubts, problem], [5, 0, [], undefined]);
  expect("verify", (await whenReached(() => verifyTables(options))).differences, []);
  expect("verify --ledger", (await whenReached(() => verifyLedger(options))).findings, []);
  expect("repair", (await whenReached(() => repair(options))).does, "nothing");
  return problems;
}
