/**
 * The crash matrix: real processes on the real engine, or over real HTTP, are killed at every call of a run in turn, and
 * the next run has to find out how far they got.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "../../src/features/embed/feature.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import { loadAnyTarget, type AnyTargetConfig } from "../support/any-target.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { startService } from "../../src/features/serve/start-service.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { changesRows } from "../../src/actions/apply-action.ts";
import { compileStep, stepNames, type StepName } from "../../src/steps/registry.ts";
import { leapingOverLeases } from "../support/clocks.ts";
import { aProxy } from "../support/proxy.ts";
import { ofThisTurn, turns } from "../support/rounds.ts";
import { addRows, belongingsOf, columnsOf, rowsOf, versionsOf } from "../support/tables.ts";
import { atBoundaries, type Place } from "./boundaries.ts";
import { deleteAppended } from "./crowded.ts";
import { limited, slots } from "./limited.ts";
import { matrixCases, rows, table, type MatrixCase } from "./matrix-cases.ts";
import { startVictim } from "./start-victim.ts";
import type { Order } from "./victim.ts";

export const matrixTargets = ["embedded", "rest/service", "rest/namespace"] as const;
export type MatrixTarget = (typeof matrixTargets)[number];
const places = ["before", "during", "after"] as const satisfies readonly Place[];
/**
 * Services carry these out with the requests of other kinds, and backfill.test.ts and reembed.test.ts kill runs that compute
 * values through a service. They are tried on services every night.
 */
const asOthers: ReadonlySet<StepName> = new Set([
  "setNullable",
  "renameColumn",
  "rebuildIndex",
  "backfillColumn",
  "reembedColumn",
  "populateTable",
]);

/** What became of one kind on one target. */
export interface Verdict {
  readonly kind: StepName;
  readonly target: MatrixTarget;
  /** Why the target can't do it, where that is so: then nobody is killed. */
  refused: string | undefined;
  /** Calls and requests at which a process was killed, whatever its case. */
  killed: number;
  converged: number;
  /** The calls and requests at which one was. */
  readonly seen: Set<string>;
  readonly problems: string[];
}

export interface Extent {
  /** Kills at every call, or at every so-many-th. */
  readonly every: number;
  /** Before, during and after it, or in each case at just one of these. */
  readonly places: "all" | "one";
  /**
   * All cases of each kind on every target, or just those that take code paths of their own: of several every second one,
   * and the first one of half of the kinds on one of the services. The next commit has the others.
   */
  readonly cases: "all" | "few";
  /** Just this one. */
  readonly kind?: string | undefined;
}

const apiKey = "matrix";
/** A run makes about ten calls; that a matrix ends after fewer would be a mistake in it. */
const fewestCalls = 8;

export async function crashMatrix({ every, places: wanted, cases, kind: only }: Extent): Promise<readonly Verdict[]> {
  const work = mkdtempSync(join(tmpdir(), "lance-migrate-matrix-"));
  const missing = stepNames.filter((kind) => !Object.hasOwn(matrixCases, kind));
  if (missing.length > 0) throw new Error(`the crash matrix has no case for ${missing.join(", ")}`);
  const verdicts: Verdict[] = [];
  const chains: (() => Promise<void>)[] = [];
  let scenes = 0;
  for (const kind of stepNames.filter((kind) => only === undefined || kind === only))
    for (const target of matrixTargets) {
      if (cases === "few" && !isOneOfFew(kind, target)) continue;
      const verdict: Verdict = {
        kind,
        target,
        refused: undefined,
        killed: 0,
        converged: 0,
        seen: new Set(),
        problems: [],
      };
      verdicts.push(verdict);
      const possible = matrixCases[kind].filter((one) => target === "embedded" || !(one.crowded || one.embeddedOnly));
      for (const one of cases === "all" ? possible : fewOf(possible, target)) {
        const scene = aScene(work, target, one);
        scenes++;
        for (const place of wanted === "all" ? places : [places[scenes % places.length]!]) {
          const first = 1 + (chains.length % every);
          chains.push(async () => {
            const made = await scene();
            if ("refused" in made) verdict.refused = made.refused;
            else await killInTurn(made, place, first, every, verdict);
          });
        }
      }
    }
  try {
    await limited(5, chains);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return verdicts;
}

function isOneOfFew(kind: StepName, target: MatrixTarget): boolean {
  if (target === "embedded") return true;
  const [, ...services] = matrixTargets;
  const turn = turns() + stepNames.indexOf(kind);
  return !asOthers.has(kind) && target === services[turn % (2 * services.length)];
}

function fewOf(cases: readonly MatrixCase[], target: MatrixTarget): readonly MatrixCase[] {
  if (target !== "embedded") return cases.slice(0, 1);
  const few = cases.filter(({ isNightly = false }) => !isNightly);
  return few.length === 1 ? few : ofThisTurn(few, 2);
}

interface Scene {
  readonly name: string;
  readonly target: MatrixTarget;
  /** The tables before, to be copied. */
  readonly origin: string;
  readonly migrations: string;
  /** Tables after a run that nobody disturbed. */
  readonly expected: readonly Found[];
  /** How many calls that run made, and how many requests to a service. */
  readonly calls: number;
  readonly requests: number;
  /** How often at most somebody may have changed rows once more, who could not know that it was done. */
  readonly onceMore: number;
  readonly crowded: boolean;
  /** The most versions that a table may have: those of a run without groups, which is made when they are first needed. */
  readonly mostVersions: () => Promise<readonly number[]>;
}

interface Refused {
  readonly refused: string;
}

/** Made when it is first needed. */
function aScene(work: string, target: MatrixTarget, one: MatrixCase): () => Promise<Scene | Refused> {
  let made: Promise<Scene | Refused> | undefined;
  return () => (made ??= make(work, target, one));
}

async function make(
  work: string,
  target: MatrixTarget,
  { name, before, pending, following = [], crowded = false }: MatrixCase,
): Promise<Scene | Refused> {
  const home = mkdtempSync(join(work, "scene-"));
  const [origin, migrations] = [join(home, "origin"), join(home, "migrations")];
  mkdirSync(origin);
  mkdirSync(migrations);
  const write = (file: string, steps: unknown) =>
    writeFileSync(join(migrations, file), `export const up = ${JSON.stringify(steps)};\n`);
  if (before !== undefined) {
    write("0001_before.mjs", before);
    await using opened = await openOn(target, origin);
    const refused = await refusalOf(run(opened.given, migrations));
    if (refused !== undefined) return { refused };
    await addRows(origin, table, rows);
  }
  write("0002_pending.mjs", pending);
  for (const [index, steps] of following.entries()) write(`000${index + 3}_following.mjs`, steps);
  const undisturbed = join(home, "undisturbed");
  cpSync(origin, undisturbed, { recursive: true });
  await using opened = await openOn(target, undisturbed);
  const counted = { calls: 0, requests: 0 };
  const refused = await refusalOf(countedRun(opened.given, migrations, counted));
  if (refused !== undefined) return { refused };
  const onceMore = pending.flatMap(compileStep).some(fillsRows) ? 1 : 0;
  const expected = await tablesOf(undisturbed, target);
  let versions: Promise<readonly number[]> | undefined;
  const mostVersions = () => (versions ??= versionsOneByOne(home, origin, migrations, target));
  return { name, target, origin, migrations, expected, ...counted, onceMore, crowded, mostVersions };
}

/** After a run that was killed before it stated its group, the first migration runs alone, and so each step may. */
async function versionsOneByOne(
  home: string,
  origin: string,
  migrations: string,
  target: MatrixTarget,
): Promise<readonly number[]> {
  const folder = join(home, "one-by-one");
  cpSync(origin, folder, { recursive: true });
  await using opened = await openOn(target, folder);
  await run(opened.given, migrations, { stepByStep: true });
  return (await tablesOf(folder, target)).map(({ version = 0 }) => version);
}

async function countedRun(
  given: AnyTargetConfig,
  migrations: string,
  counted: { calls: number; requests: number },
): Promise<void> {
  const closes: (() => void)[] = [];
  try {
    const proxy = given.kind === "rest" ? await aProxy(given.endpoint!, (close) => closes.push(close)) : undefined;
    const through = given.kind === "rest" ? { ...given, endpoint: proxy!.url } : given;
    await run(through, migrations, {
      around: (target) => atBoundaries(target, (call) => (counted.calls = call)),
    });
    counted.requests = proxy?.passed.length ?? 0;
  } finally {
    for (const close of closes) close();
  }
}

/** Whoever goes on with a column that is being made fills it again: others may have written meanwhile. */
function fillsRows(action: Action): boolean {
  return changesRows(action) || action.kind === "convertColumn";
}

/** Why the target can't do it: the plan refuses it, or the service says that it does not have it. Undefined when it can. */
async function refusalOf(running: Promise<unknown>): Promise<string | undefined> {
  try {
    await running;
    return undefined;
  } catch (error) {
    const { cause } = error as Error;
    const isAbsent = isMigrateError(cause, "ERR_ANSWER") && cause.details.status === 501;
    if (isAbsent || isMigrateError(error, "ERR_UNSUPPORTED")) return (error as Error).message;
    throw error;
  }
}

async function killInTurn(scene: Scene, place: Place, first: number, every: number, verdict: Verdict): Promise<void> {
  // Where some calls are left out, so is the run that is not killed: it only shows that there are no more calls. With a
  // crowd, the number of calls is not known.
  const known = callsOf(scene, place);
  const last = every === 1 || scene.crowded ? Infinity : known;
  // A run with fewer calls is killed at one of them anyway.
  for (let call = 1 + ((first - 1) % known); call <= last; call += every) {
    const { name, target } = scene;
    const where = `${verdict.kind} (${name}), ${target}, ${place} call ${call}`;
    try {
      const outcome = await killOnce(scene, place, call);
      if (outcome === undefined) {
        if (call <= fewestCalls) verdict.problems.push(`${where}: the run made no such call`);
        return;
      }
      verdict.killed++;
      verdict.seen.add(outcome.at);
      if (outcome.problem === undefined) verdict.converged++;
      else verdict.problems.push(`${where} (${outcome.at}): ${outcome.problem}`);
    } catch (error) {
      verdict.killed++;
      verdict.problems.push(`${where}: ${error instanceof Error ? error.stack : String(error)}`);
      if (verdict.problems.length > 5) return;
    }
  }
}

function callsOf({ target, calls, requests }: Scene, place: Place): number {
  return target !== "embedded" && place === "during" ? requests : calls;
}

interface Outcome {
  readonly at: string;
  readonly problem: string | undefined;
}

/** Kills a run at a call and lets the next one go on; undefined when the run ended before that call. */
async function killOnce(scene: Scene, place: Place, call: number): Promise<Outcome | undefined> {
  const folder = mkdtempSync(join(scene.migrations, "..", "run-"));
  const tables = join(folder, "tables");
  cpSync(scene.origin, tables, { recursive: true });
  try {
    await using opened = await openOn(scene.target, tables);
    const at = await die(scene, tables, opened.given, place, call);
    if (at === undefined) return undefined;
    if (scene.crowded) await deleteAppended({ folder: tables, table });
    await run(opened.given, scene.migrations);
    const found = await tablesOf(tables, scene.target);
    const versions = await versionsOf(tables);
    const again = await run(opened.given, scene.migrations);
    const moved = JSON.stringify(await versionsOf(tables)) !== JSON.stringify(versions);
    const problem = !(await areAsExpected(found, scene))
      ? `the tables are ${JSON.stringify(found)}`
      : again.applied !== 0 || moved
        ? `a third run applied ${again.applied} migrations${moved ? " and changed tables" : ""}`
        : undefined;
    return { at, problem };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the process was when it was killed; undefined when it ended well before. Throws when it ended in another way. */
async function die(
  { target, migrations, crowded }: Scene,
  tables: string,
  given: AnyTargetConfig,
  place: Place,
  call: number,
): Promise<string | undefined> {
  const closes: (() => void)[] = [];
  let request: string | undefined;
  try {
    const crowd = crowded ? { folder: tables, table } : undefined;
    let order: Order = { migrations, target: given, crowd, death: { call, place } };
    let kill = () => {};
    if (given.kind === "rest" && place === "during") {
      // The client is dead by the time that the service is asked, and the service acts.
      const proxy = await aProxy(given.endpoint!, (close) => closes.push(close));
      proxy.fate = (count, path) => {
        if (count === call) {
          request = path.replace(/\?.*/, "").replace(/_migrations\.[^/]*/, "_migrations.…");
          kill();
        }
        return "passes";
      };
      order = { migrations, target: { ...given, endpoint: proxy.url } };
    }
    const { stdout, signal, code, stderr } = await childProcess(async () => {
      const running = startVictim(order, migrations);
      kill = () => void running.process.kill("SIGKILL");
      return { ...(await running.finished), signal: running.process.signalCode };
    });
    if (signal === "SIGKILL") return request ?? stdout;
    if (code !== 0) throw new Error(`a run on ${target} that nobody killed ended with ${code}: ${stderr}`);
    return undefined;
  } finally {
    for (const close of closes) close();
  }
}

/** At most two at a time: what they cost is mostly their start. */
const childProcess = slots(2);

interface RunOptions {
  readonly around?: (target: Target) => Target;
  readonly stepByStep?: boolean;
}

/** In this process, since it is nobody's victim. */
async function run(
  given: AnyTargetConfig,
  migrations: string,
  { around = (target) => target, stepByStep }: RunOptions = {},
): Promise<{ readonly applied: number }> {
  const module = await loadAnyTarget(given.kind);
  const target = await module.open(given, { name: "matrix", folder: tmpdir() });
  try {
    return await up(
      {
        target: around(target),
        migrations: migrationsIn(migrations),
        ledger: "_migrations",
        // On a busy machine, the request of a killed run may come while this one leaps, and then its holder seems to be alive.
        computing: embed.computing,
        lease: { duration: 30_000, patience: 600_000 },
        ...leapingOverLeases(),
      },
      { stepByStep },
    );
  } finally {
    await target.close();
  }
}

async function openOn(
  target: MatrixTarget,
  folder: string,
): Promise<AsyncDisposable & { readonly given: AnyTargetConfig }> {
  if (target === "embedded")
    return { given: { kind: "lance", uri: folder }, [Symbol.asyncDispose]: () => Promise.resolve() };
  const service = await startService({ data: folder, host: "127.0.0.1", port: 0, workers: 0, apiKey, log: () => {} });
  const dialect = target === "rest/service" ? "service" : "namespace";
  return {
    given: { kind: "rest", endpoint: service.url, apiKey, dialect },
    [Symbol.asyncDispose]: () => service.close(),
  };
}

interface Found {
  readonly version: number | undefined;
  readonly state: unknown;
}

/** All that there is; and versions where no question to the target makes one, so that each step is seen to run once. */
async function tablesOf(folder: string, target: MatrixTarget): Promise<readonly Found[]> {
  const versions = await versionsOf(folder);
  const names = Object.keys(versions)
    .filter((name) => !name.startsWith("_migrations"))
    .toSorted();
  return await Promise.all(
    names.map(async (name) => ({
      version: target === "rest/service" ? undefined : versions[name],
      state: {
        name,
        columns: await columnsOf(folder, name),
        belongings: await belongingsOf(folder, name),
        rows: (await rowsOf(folder, name)).map(withoutAppend).toSorted(),
      },
    })),
  );
}

async function areAsExpected(
  found: readonly Found[],
  { expected, onceMore, crowded, mostVersions }: Scene,
): Promise<boolean> {
  const statesOf = (tables: readonly Found[]) => JSON.stringify(tables.map(({ state }) => state));
  if (statesOf(found) !== statesOf(expected)) return false;
  // Others' commits make versions too.
  if (crowded) return true;
  const more = found.map(({ version = 0 }, index) => version - (expected[index]!.version ?? 0));
  if (more.some((one) => one < 0)) return false;
  // A run in steps makes no fewer versions than one that was not disturbed.
  if (more.every((one) => one <= onceMore)) return true;
  const most = await mostVersions();
  return found.every(({ version = 0 }, index) => version <= most[index]! + onceMore);
}

/** A row as text, without the part of a mark that is another one in each append. */
function withoutAppend(row: unknown): string {
  return JSON.stringify(row).replace(/(#\d+\.)[a-z0-9]+/, "$1");
}
