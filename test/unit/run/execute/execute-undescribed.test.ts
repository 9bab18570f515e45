/** A target that can only list, create and alter: a run on it that is killed, cut off or stopped anywhere. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../../../src/migrations/source.ts";
import { isMigrateError, MigrateError } from "../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { parseMarkerName } from "../../../../src/ledger/journal/marker-name.ts";
import { byPlace } from "../../../../src/ledger/state/record.ts";
import { up } from "../../../../src/commands/up.ts";
import { plan } from "../../../../src/commands/plan.ts";
import { status } from "../../../../src/commands/status.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { describeAction } from "../../../../src/actions/apply-action.ts";
import type { Alteration } from "../../../../src/actions/model/alteration.ts";
import type { Column, DataType } from "../../../../src/schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../../src/schema/path.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import { temporaryFolder } from "../../../support/project.ts";

const duration = 30_000;
const ledger = "_migrations";

/** A column with its data: whatever it is called, its id stays. */
interface Stored {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly fields: readonly Stored[];
}

/** What the service says when it does not do a thing. */
class Refusal extends Error {}

/** One `alter_columns` as the engine does it, written without our model: paths are meant as they were before the call. */
function altered(columns: readonly Stored[], alterations: readonly Alteration[]) {
  const effects: string[] = [];
  const left = new Map(alterations.map((one) => [formatPath(parsePath(one.path)), one]));
  const change = (siblings: readonly Stored[], parent: Path): readonly Stored[] => {
    const changed = siblings.map((column) => {
      const path = [...parent, column.name];
      const fields = change(column.fields, path);
      const alteration = left.get(formatPath(path));
      left.delete(formatPath(path));
      const type = alteration?.type === undefined ? column.type : alteration.type.kind;
      const after = {
        id: column.id,
        name: alteration?.rename ?? column.name,
        type,
        fields,
        nullable: alteration?.nullable ?? column.nullable,
      };
      for (const key of ["name", "type", "nullable"] as const)
        if (after[key] !== column[key]) effects.push(`#${column.id} ${column[key]} → ${after[key]}`);
      return after;
    });
    const names = changed.map(({ name }) => name);
    if (new Set(names).size < names.length) throw new Refusal(`duplicate column ${names.join(", ")}`);
    return changed;
  };
  const after = change(columns, []);
  const [missing] = left.keys();
  if (missing !== undefined) throw new Refusal(`Column "${missing}" does not exist in the dataset`);
  return { after, effects };
}

/**
 * What happens to a process at one of its calls. `killed`: it is gone from there on. `lost`: it gets no answer, whether
 * the call is done or not. `delayed`: no answer, and the call is done once so many others have come.
 */
type Fate =
  | { readonly kind: "killed" | "lost"; readonly after: boolean }
  | { readonly kind: "delayed"; readonly calls: number }
  /** Something happens before or after it, while it is stopped. */
  | { readonly kind: "stopped"; readonly after: boolean; readonly meanwhile: () => unknown }
  /** It is not done, and the answer is this error. */
  | { readonly kind: "answered"; readonly error: Error };
const killedAfter: Fate = { kind: "killed", after: true };
const killedBefore: Fate = { kind: "killed", after: false };
type What = "list" | "create" | "execute" | "question" | "any";
/** By what is called, and the how-manieth such call of the process it is. */
type Fates = Readonly<Partial<Record<What, Readonly<Record<number, Fate>>>>>;

/** A service, its tables, the migrations for it, and the time. */
function aWorld(describes = false) {
  const folder = temporaryFolder();
  const clock = sleepingClock();
  const tables = new Map<string, readonly Stored[]>();
  const effects: string[] = [];
  const sent: string[] = [];
  let ids = 0;
  let waiting: { calls: number; readonly work: () => unknown }[] = [];

  const store = ({ name, type, nullable }: Column): Stored => {
    const fields = type.kind === "struct" ? type.fields.map(store) : [];
    return { id: ++ids, name, type: type.kind, nullable, fields };
  };
  const service = {
    list: () => [...tables.keys()],
    create(name: string, columns: readonly Column[]) {
      if (tables.has(name)) throw new Refusal(`table ${name} already exists`);
      const marker = name.startsWith(`${ledger}.`);
      tables.set(name, marker ? [] : columns.map(store));
      if (!marker) effects.push(`create ${name}`);
    },
    alter(name: string, alterations: readonly Alteration[]) {
      const columns = tables.get(name);
      if (columns === undefined) throw new Refusal(`table ${name} does not exist`);
      const { after, effects: now } = altered(columns, alterations);
      tables.set(name, after);
      if (now.length > 0) effects.push(`${name}: ${now.join(", ")}`);
    },
  };
  const execute = (action: Action) =>
    action.kind === "createTable"
      ? service.create(action.table, action.columns)
      : action.kind === "alterColumns"
        ? service.alter(action.table, action.alterations)
        : undefined;
  const someTimeLater = () => {
    const due = waiting.filter(({ calls }) => calls === 0);
    waiting = waiting.filter(({ calls }) => calls > 0).map(({ calls, work }) => ({ calls: calls - 1, work }));
    for (const { work } of due)
      try {
        work();
      } catch {
        // Nobody hears what it is answered.
      }
  };

  /** One process, to which something happens. */
  function aProcess(fates: Fates = {}, more: Partial<MigratorOptions> = {}): MigratorOptions {
    const counts = new Map<What, number>();
    const count = (what: What) => counts.set(what, (counts.get(what) ?? 0) + 1).get(what)!;
    let dead = false;
    const cutOff = () => new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "connection reset" });
    const call = async <Result>(what: What, work: () => Result): Promise<Result> => {
      const [any, own] = [count("any"), count(what)];
      if (dead) throw cutOff();
      someTimeLater();
      const fate = fates.any?.[any] ?? fates[what]?.[own];
      const meet = async () => {
        if (fate?.kind === "stopped") return await fate.meanwhile();
        dead = fate?.kind === "killed";
        throw cutOff();
      };
      if (fate?.kind === "answered") throw fate.error;
      if (fate?.kind === "delayed") {
        waiting.push({ calls: fate.calls, work });
        throw cutOff();
      }
      if (fate !== undefined && !fate.after) await meet();
      const result = work();
      if (fate !== undefined && fate.after) await meet();
      return result;
    };
    const target: Target = {
      name: "test",
      place: "a test",
      call: async () => "",
      capabilities: { actions: { createTable: true, alterColumns: true }, describes, fences: false },
      listTables: () => call("list", service.list),
      async describeTable(name) {
        const found = (await call("list", () => new Map(tables))).get(name);
        return found && { table: { columns: describes ? found.map(asDescribed) : [] }, version: undefined };
      },
      async execute(action) {
        const asks = action.kind === "alterColumns" && action.alterations.every(isQuestion);
        if (!asks) sent.push(describeAction(action));
        await call(asks ? "question" : "execute", () => execute(action));
        return {};
      },
      verdict: (error) => ({ kind: error instanceof Refusal ? "refused" : "unanswered" }),
      explain: (error) => (error instanceof Error ? error.message : String(error)),
      ledger: {
        kind: "markers",
        create: async (name, columns) =>
          await call("create", () => {
            const absent = !tables.has(name);
            if (absent) service.create(name, columns);
            return absent;
          }),
      },
      close: async () => {},
    };
    return { target, migrations: migrationsIn(folder), ledger, clock, lease: { duration, patience: 600_000 }, ...more };
  }

  return {
    aProcess,
    clock,
    /** Everything that has changed a table, once for each change. */
    effects,
    /** Every action that was sent, questions left out. */
    sent,
    /** Somebody does this by hand. */
    byHand: execute,
    oversleep: () => clock.sleep(duration * 2),
    /** What is still under way is done, or refused, now. */
    land() {
      for (; waiting.length > 0;) someTimeLater();
    },
    columns: (table: string) => inWords(tables.get(table) ?? []),
    tables: () => new Map([...tables].filter(([name]) => !name.startsWith(`${ledger}.`))),
    migration: (name: string, steps: readonly object[]) =>
      writeFileSync(join(folder, `${name}.mjs`), `export const up = ${JSON.stringify(steps)};\n`),
    records: () => [...tables.keys()].flatMap((name) => parseMarkerName(ledger, name) ?? []).toSorted(byPlace),
    events() {
      return this.records().map(({ epoch, number, event }) => `${epoch}.${number} ${event}`);
    },
  };
}
type World = ReturnType<typeof aWorld>;

function asDescribed({ name, type, nullable, fields }: Stored): Column {
  // Every other type that is used here has nothing but its kind.
  const described = type === "struct" ? { kind: type, fields: fields.map(asDescribed) } : { kind: type };
  return { name, type: described as DataType, nullable };
}

function isQuestion({ path, rename, type, nullable }: Alteration): boolean {
  return type === undefined && nullable === undefined && rename === parsePath(path).at(-1);
}

function inWords(columns: readonly Stored[]): string {
  return columns
    .map(({ id, name, type, fields }) => `${name}#${id}${type === "struct" ? `(${inWords(fields)})` : ""}`)
    .join(" ");
}

const stepByStep = { stepByStep: true };

async function ended(options: MigratorOptions, choice = {}): Promise<string> {
  try {
    await up(options, choice);
    return "well";
  } catch (error) {
    if (isMigrateError(error)) return error.code;
    throw error;
  }
}

type Step = Readonly<Record<string, unknown>>;

function column(name: string, type: DataType = { kind: "int32" }) {
  return { name, type, nullable: true };
}
const struct = (...fields: readonly string[]): DataType => ({
  kind: "struct",
  fields: fields.map((name) => column(name)),
});
const alter = (...alterations: readonly object[]): Step => ({ kind: "alterColumns", table: "t", alterations });
const rename = (path: string, name: string, table = "t"): Step => ({ kind: "renameColumn", table, path, name });
const retype = (path: string, kind: string): Step => ({ kind: "retypeColumn", table: "t", path, type: { kind } });
const create = (table: string, ...names: readonly string[]): Step => ({
  kind: "createTable",
  table,
  columns: names.map((name) => column(name)),
});
const renamed = (path: string, name: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, rename: name }],
});

interface WithT {
  readonly describes?: boolean;
  /** The steps of migration 2. */
  readonly pending?: readonly object[];
}

/** A world in which migration 1 has created t(a, b, c). */
async function aWorldWithT({ describes = false, pending }: WithT = {}): Promise<World> {
  const world = aWorld(describes);
  world.migration("0001_create", [create("t", "a", "b", "c")]);
  await up(world.aProcess());
  world.effects.length = 0;
  world.sent.length = 0;
  if (pending !== undefined) world.migration("0002_more", pending);
  return world;
}

test("a swap goes as three calls and moves the data", async () => {
  const world = await aWorldWithT({ pending: [alter({ path: "a", rename: "b" }, { path: "b", rename: "a" })] });
  await up(world.aProcess());
  expect(world.columns("t")).toBe("b#1 a#2 c#3");
  expect(world.sent).toHaveLength(3);
});

test("a rename that is refused because somebody has made it by hand is a failure, not done", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d"), rename("b", "e")] });
  world.byHand(renamed("b", "e"));
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_STEP_FAILED", details: { step: 2, done: 1 } });
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_STEP_FAILED", details: { step: 2, done: 1 } });
  world.byHand(renamed("e", "b"));
  await up(world.aProcess());
  expect(world.columns("t")).toBe("d#1 e#2 c#3");
});

test("doubt about one action is none about the next", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d"), rename("b", "e")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  world.byHand(renamed("b", "e"));
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_STEP_FAILED", details: { step: 2, done: 1 } });
});

test("a call that was lost and never done is refused for real when its column is gone", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  const handy: Fate = {
    kind: "stopped",
    after: false,
    meanwhile: () => {
      world.byHand(renamed("a", "z"));
      throw new Error("connection reset");
    },
  };
  await expect(up(world.aProcess({ execute: { 1: handy } }))).rejects.toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(world.columns("t")).toBe("z#1 b#2 c#3");
});

test("a table that somebody else has made is refused in the plan, before anything is sent", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d"), create("u", "a")] });
  world.byHand({ kind: "createTable", table: "u", columns: [column("other")] });
  const before = world.events();
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table: "u" } });
  await expect(plan(world.aProcess())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table: "u" } });
  expect([world.sent, world.events()]).toEqual([[], before]);
});

test("a table that is gone is refused in the plan", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  const { target } = world.aProcess();
  const listTables = async () => (await target.listTables()).filter((name) => name !== "t");
  const blindToT = { ...world.aProcess(), target: { ...target, listTables } };
  await expect(up(blindToT)).rejects.toMatchObject({
    code: "ERR_DRIFT",
    details: { table: "t", differences: ["it does not exist"] },
  });
});

test("a table that somebody makes between the plan and its creation is no creation of ours", async () => {
  const world = await aWorldWithT({ pending: [create("u", "a")] });
  const meanwhile = () => world.byHand({ kind: "createTable", table: "u", columns: [column("other")] });
  const options = world.aProcess({ execute: { 1: { kind: "stopped", after: false, meanwhile } } });
  await expect(up(options)).rejects.toMatchObject({ code: "ERR_STEP_FAILED" });
});

/** A world in which the first of three renames has run, and the second failed. */
async function aPartialWorld(): Promise<World> {
  const world = await aWorldWithT({ pending: [rename("a", "d"), rename("b", "gone"), rename("c", "f")] });
  world.byHand(renamed("b", "z"));
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_STEP_FAILED", details: { step: 2, done: 1 } });
  world.byHand(renamed("z", "b"));
  return world;
}

test("a partial migration whose step that ran is edited is refused", async () => {
  const world = await aPartialWorld();
  world.migration("0002_more", [rename("a", "other"), rename("b", "gone"), rename("c", "f")]);
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_MIGRATION_CHANGED" });
});

test("a partial migration with a new step before the one that ran is refused", async () => {
  const world = await aPartialWorld();
  world.migration("0002_more", [rename("c", "f"), rename("a", "d"), rename("b", "gone")]);
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_MIGRATION_CHANGED" });
});

test("a partial migration whose steps that did not run are edited goes on", async () => {
  const world = await aPartialWorld();
  world.migration("0002_more", [rename("a", "d"), alter({ path: "b", rename: "c" }, { path: "c", rename: "b" })]);
  expect(await up(world.aProcess())).toEqual({ applied: 1, total: 2 });
  expect(world.columns("t")).toBe("d#1 c#2 b#3");
});

test("a partial migration is cut off after the step that ran and is applied so", async () => {
  const world = await aPartialWorld();
  world.migration("0002_more", [rename("a", "d")]);
  expect(await up(world.aProcess())).toEqual({ applied: 1, total: 2 });
  expect(world.columns("t")).toBe("d#1 b#2 c#3");
});

test.each([1, 2])(
  "a swap of which %i of 3 calls ran may not be edited, and goes on where it stopped",
  async (calls) => {
    const world = await aWorldWithT();
    const swap = alter({ path: "a", rename: "b" }, { path: "b", rename: "a" });
    world.migration("0002_more", [swap, rename("c", "f")]);
    const controller = new AbortController();
    const stop: Fate = { kind: "stopped", after: true, meanwhile: () => controller.abort() };
    const interrupted = up(world.aProcess({ execute: { [calls]: stop } }, { signal: controller.signal }));
    await expect(interrupted).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
    world.migration("0002_more", [alter({ path: "b", rename: "a" }, { path: "a", rename: "b" }), rename("c", "f")]);
    await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_MIGRATION_CHANGED" });
    world.migration("0002_more", [swap, rename("c", "g")]);
    await up(world.aProcess());
    expect(world.columns("t")).toBe("b#1 a#2 g#3");
  },
);

/** What a service answers whose own insides are in trouble: done or not, nobody knows. */
const internalError = new Error("internal error (500)");

test("an action whose last try got no clear answer either stays in doubt", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  const nothing: Fate = { kind: "answered", error: internalError };
  const doneAll: Fate = {
    kind: "stopped",
    after: true,
    meanwhile: () => {
      throw internalError;
    },
  };
  await ended(world.aProcess({ execute: { 1: nothing, 2: nothing, 3: nothing, 4: nothing, 5: doneAll } }));
  expect(world.columns("t")).toBe("d#1 b#2 c#3");
  expect(await ended(world.aProcess())).toBe("well");
});

test("an action stays in doubt when the question about it gets no clear answer", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  const nothing: Fate = { kind: "answered", error: internalError };
  await ended(world.aProcess({ question: { 1: nothing, 2: nothing, 3: nothing, 4: nothing, 5: nothing } }));
  expect(await ended(world.aProcess())).toBe("well");
});

test("a created table stays in doubt when the list of tables gets no clear answer", async () => {
  const world = await aWorldWithT({ pending: [create("u", "a")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  let asks = false;
  const options = world.aProcess({}, { emit: ({ event }) => void (asks ||= event === "action") });
  const listTables = () => (asks ? Promise.reject(internalError) : options.target.listTables());
  await up({ ...options, target: { ...options.target, listTables } }).catch(() => {});
  expect(asks).toBe(true);
  expect(await ended(world.aProcess())).toBe("well");
});

test("an action stays in doubt when the run that would have settled it is interrupted first", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  const controller = new AbortController();
  const emit = ({ event }: { readonly event: string }) => {
    if (event === "started") controller.abort();
  };
  expect(await ended(world.aProcess({}, { signal: controller.signal, emit }))).toBe("ERR_INTERRUPTED");
  expect(await ended(world.aProcess())).toBe("well");
  expect(world.effects).toEqual(["t: #1 a → d"]);
});

test("a table whose creation is in doubt is not taken for one of other columns", async () => {
  const world = await aWorldWithT({ pending: [create("u", "a")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  world.migration("0002_more", [create("u", "a", "more")]);
  expect(await ended(world.aProcess())).not.toBe("well");
});

/** A process that is stopped in its n-th action for longer than its lease, while that happens; then its call is done. */
function stoppedIn(world: World, action: number, meanwhile: () => Promise<unknown>): MigratorOptions {
  const stop: Fate = {
    kind: "stopped",
    after: false,
    meanwhile: async () => {
      await world.oversleep();
      await meanwhile();
    },
  };
  return world.aProcess({ execute: { [action]: stop } });
}

/** Migration 2 retypes and renames; a run stopped in the first action retypes late, and another one has done it all. */
async function aWorldWithLateCall(): Promise<World> {
  const world = await aWorldWithT({ pending: [retype("a", "int64"), rename("b", "d")] });
  const late = stoppedIn(world, 1, () => up(world.aProcess()));
  await expect(up(late)).rejects.toMatchObject({ code: "ERR_ACTED_LATE", details: { version: "0002", action: 1 } });
  return world;
}

test("a call that came after another run took over is said in the ledger, before that one's records", async () => {
  const world = await aWorldWithLateCall();
  expect(world.events().slice(4)).toEqual(
    "2.0 taken, 2.1 renewed, 2.2 late, 3.0 taken, 3.1 renewed, 3.2 advanced, 3.3 applied, 3.4 released".split(", "),
  );
  expect(foldLedger(world.records())).toMatchObject({ late: [{ epoch: 2, version: 2, action: 1 }], holder: undefined });
});

test("after a late call the next run looks at its table though nothing is pending, and the one after that need not", async () => {
  const world = await aWorldWithLateCall();
  world.sent.length = 0;
  expect(await up(world.aProcess())).toEqual({ applied: 0, total: 2 });
  expect(world.events().slice(-4)).toEqual(["4.0 taken", "4.1 renewed", "4.2 looked", "4.3 released"]);
  expect(foldLedger(world.records()).late).toEqual([]);
  expect(world.sent).toEqual([]);
  const before = world.events();
  // The second list of a run is never asked for.
  expect(await up(world.aProcess({ list: { 2: killedBefore } }))).toEqual({ applied: 0, total: 2 });
  expect(world.events()).toEqual(before);
});

test("a late call is looked at before what is pending", async () => {
  const world = await aWorldWithLateCall();
  world.migration("0003_rename", [rename("c", "e")]);
  world.byHand(renamed("d", "odd"));
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table: "t" } });
  expect(foldLedger(world.records())).toMatchObject({ holder: undefined, late: [{ epoch: 2 }] });
  world.byHand(renamed("odd", "d"));
  expect(await up(world.aProcess())).toEqual({ applied: 1, total: 3 });
  expect(world.columns("t")).toBe("a#1 d#2 e#3");
});

test("a run that may have acted late says so also where nobody answers whose the lease is", async () => {
  const world = await aWorldWithT({ pending: [retype("a", "int64"), rename("b", "d")] });
  let silent = false;
  const late = stoppedIn(world, 1, async () => {
    await up(world.aProcess());
    silent = true;
  });
  const listTables = async () => {
    if (silent) throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "no answer" });
    return await late.target.listTables();
  };
  expect(await ended({ ...late, target: { ...late.target, listTables } })).toBe("ERR_ACTED_LATE");
  expect(foldLedger(world.records())).toMatchObject({ late: [{ epoch: 2, version: 2, action: 1 }] });
});

/** A run stopped in "a not null" did it after another had made a nullable again; migration 3, to come, forbids nulls too. */
async function aWorldLateAtNulls() {
  const world = await aWorldWithT();
  const nullable = (value: boolean) => ({ kind: "setNullable", table: "t", path: "a", nullable: value });
  world.migration("0002_more", [nullable(false), nullable(true)]);
  expect(await ended(stoppedIn(world, 1, () => up(world.aProcess())))).toBe("ERR_ACTED_LATE");
  const nextMigration = async () => {
    world.migration("0003_not_null", [nullable(false)]);
    await up(world.aProcess());
  };
  return { world, nextMigration };
}

test("a run that puts right a late call, and is late with that itself, says so", async () => {
  const { world, nextMigration } = await aWorldLateAtNulls();
  const late = up(stoppedIn(world, 1, nextMigration));
  await expect(late).rejects.toMatchObject({ code: "ERR_ACTED_LATE", details: { version: "0002", action: 1 } });
  expect(world.tables().get("t")).toMatchObject([{ name: "a", nullable: true }, {}, {}]);
  expect(await ended(world.aProcess())).toBe("well");
  expect(world.tables().get("t")).toMatchObject([{ name: "a", nullable: false }, {}, {}]);
  expect(await ended(world.aProcess())).toBe("well");
});

test("a run that slept after its question about a late call does not put it right: another one has", async () => {
  const { world, nextMigration } = await aWorldLateAtNulls();
  const meanwhile = async () => {
    await world.oversleep();
    await nextMigration();
    world.sent.length = 0;
  };
  const late = world.aProcess({ question: { 1: { kind: "stopped", after: true, meanwhile } } });
  expect(await ended(late)).toBe("ERR_LEASE_LOST");
  expect(world.sent).toEqual([]);
  expect(world.tables().get("t")).toMatchObject([{ name: "a", nullable: false }, {}, {}]);
});

test("what a run that slept sees of another one's work is not drift", async () => {
  const { world } = await aWorldLateAtNulls();
  const meanwhile = async () => {
    await world.oversleep();
    world.migration("0003_rename", [rename("a", "z")]);
    await up(world.aProcess());
  };
  const late = world.aProcess({ question: { 1: { kind: "stopped", after: false, meanwhile } } });
  expect(await ended(late)).toBe("ERR_LEASE_LOST");
});

test("what a late call changed is put right where the column is now, also after a rename that is in doubt", async () => {
  const world = await aWorldWithT();
  const nullable = (path: string, value: boolean) => ({ kind: "setNullable", table: "t", path, nullable: value });
  world.migration("0002_more", [nullable("a", false), nullable("a", true)]);
  world.migration("0003_rename", [rename("a", "d")]);
  let [wake, goOn] = [() => {}, () => {}];
  const woken = new Promise<void>((done) => (wake = done));
  const lateEnded = new Promise<void>((done) => (goOn = done));
  const meanwhile = async () => {
    wake();
    await lateEnded;
  };
  const dying = world.aProcess({ execute: { 2: { kind: "stopped", after: true, meanwhile }, 3: killedAfter } });
  let died: Promise<unknown> | undefined;
  const late = stoppedIn(world, 1, async () => {
    died = ended(dying);
    await woken;
  });
  expect(await ended(late)).toBe("ERR_ACTED_LATE");
  goOn();
  await died;
  expect(world.tables().get("t")).toMatchObject([{ name: "d", nullable: false }, {}, {}]);
  expect(await ended(world.aProcess())).toBe("well");
  expect(world.tables().get("t")).toMatchObject([{ name: "d", nullable: true }, {}, {}]);
});

test.each([false, true])(
  "a late call that has changed a table is drift until it is put back (described: %s)",
  async (describes) => {
    const world = await aWorldWithT({ describes, pending: [rename("a", "d"), rename("d", "a")] });
    const late = stoppedIn(world, 1, () => up(world.aProcess(), stepByStep));
    expect(await ended(late, stepByStep)).toBe("ERR_ACTED_LATE");
    expect(world.columns("t")).toBe("d#1 b#2 c#3");
    for (let tries = 0; tries < 2; tries++)
      await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table: "t" } });
    world.byHand(renamed("d", "a"));
    expect(await ended(world.aProcess())).toBe("well");
    expect(foldLedger(world.records()).late).toEqual([]);
  },
);

test("a late call that has changed a field inside a struct is drift", async () => {
  const world = aWorld();
  world.migration("0001_create", [{ kind: "createTable", table: "t", columns: [column("s", struct("p", "q"))] }]);
  await up(world.aProcess());
  world.migration("0002_more", [rename("s.p", "r"), rename("s.r", "p")]);
  expect(await ended(stoppedIn(world, 1, () => up(world.aProcess(), { stepByStep: true })))).toBe("ERR_ACTED_LATE");
  await expect(up(world.aProcess())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table: "t" } });
});

test("a late call without an answer is late too", async () => {
  const world = await aWorldWithT({ pending: [retype("a", "int64")] });
  const meanwhile = async () => {
    await world.oversleep();
    await up(world.aProcess());
    throw new Error("connection reset");
  };
  const late = world.aProcess({ execute: { 1: { kind: "stopped", after: false, meanwhile } } });
  expect(await ended(late)).toBe("ERR_ACTED_LATE");
});

test("a late call that is refused was no call, and its run says who took the lease", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  expect(await ended(stoppedIn(world, 1, () => up(world.aProcess())))).toBe("ERR_LEASE_LOST");
  expect(foldLedger(world.records()).late).toEqual([]);
  expect(await status(world.aProcess())).toMatchObject({ pending: [], holder: undefined });
});

test("who oversleeps and finds that nobody has taken over goes on", async () => {
  const world = await aWorldWithT({ pending: [retype("a", "int64"), rename("b", "d")] });
  expect(await ended(stoppedIn(world, 1, async () => {}))).toBe("well");
  expect(foldLedger(world.records()).late).toEqual([]);
  expect(world.effects).toEqual(["t: #1 int32 → int64", "t: #2 b → d"]);
});

test.each([false, true])(
  "a late call beside a run that dies in the next action is no drift (described: %s)",
  async (describes) => {
    const world = await aWorldWithT({ describes, pending: [retype("a", "int64"), rename("b", "d"), rename("c", "e")] });
    const late = stoppedIn(world, 1, () => ended(world.aProcess({ execute: { 2: killedAfter } })));
    expect(await ended(late)).toBe("ERR_ACTED_LATE");
    expect(await ended(world.aProcess())).toBe("well");
    expect(world.columns("t")).toBe("a#1 d#2 e#3");
  },
);

test("a holder whose lease is longer than one's own is waited out by its own", async () => {
  const world = await aWorldWithT({ pending: [retype("a", "int64")] });
  const died = world.clock.steady();
  const longer = { lease: { duration: 4 * duration, patience: 0 } };
  await ended(world.aProcess({ execute: { 1: killedBefore } }, longer));
  await up(world.aProcess());
  expect(world.clock.steady() - died).toBeGreaterThan(4 * duration);
});

test("a run that could still say that it failed, and not that it ended, leaves its action in doubt", async () => {
  for (const describes of [true, false]) {
    const world = await aWorldWithT({ describes, pending: [rename("a", "d"), rename("b", "e")] });
    const again: Fate = { kind: "answered", error: internalError };
    // It is under way until it lands.
    const first: Fate = { kind: "delayed", calls: 1_000_000 };
    const execute = { 1: first, 2: again, 3: again, 4: again, 5: again };
    const options = world.aProcess({ execute });
    const store = options.target.ledger as Extract<Target["ledger"], { kind: "markers" }>;
    const create: typeof store.create = async (name, columns, row) => {
      if (name.includes(".released.")) throw internalError;
      return await store.create(name, columns, row);
    };
    expect(await ended({ ...options, target: { ...options.target, ledger: { ...store, create } } })).not.toBe("well");
    expect(world.events().at(-1)).toMatch(/ failed$/);
    world.land();
    expect({ describes, next: await ended(world.aProcess()) }).toEqual({ describes, next: "well" });
    expect(world.effects).toEqual(["t: #1 a → d", "t: #2 b → e"]);
  }
});

/** A run that takes over and is told to stop before it does anything. */
async function interrupted(world: World): Promise<void> {
  const controller = new AbortController();
  const emit = ({ event }: { readonly event: string }) => {
    if (event === "started") controller.abort();
  };
  expect(await ended(world.aProcess({}, { signal: controller.signal, emit }))).toBe("ERR_INTERRUPTED");
}

test("a late retype that nobody has recorded as done is not rolled back", async () => {
  for (const describes of [true, false]) {
    const world = await aWorldWithT({ describes, pending: [rename("b", "d"), retype("a", "int64")] });
    expect(await ended(stoppedIn(world, 2, () => interrupted(world)))).toBe("ERR_ACTED_LATE");
    expect({ describes, next: await ended(world.aProcess()) }).toEqual({ describes, next: "well" });
    expect(world.effects).toEqual(["t: #2 b → d", "t: #1 int32 → int64"]);
    expect(world.sent.join("\n")).not.toContain("int32");
    // What is recorded by now is looked at once more.
    expect(await ended(world.aProcess())).toBe("well");
    expect(world.effects).toHaveLength(2);
    expect(foldLedger(world.records())).toMatchObject({ late: [], holder: undefined });
  }
});

/** A run that takes over and is refused its first action. */
async function overQuota(world: World): Promise<void> {
  const quota: Fate = { kind: "answered", error: new Refusal("over quota") };
  expect(await ended(world.aProcess({ execute: { 1: quota } }))).toBe("ERR_STEP_FAILED");
}

test("a late call that works after the run that took over was refused is found done", async () => {
  for (const describes of [true, false]) {
    const world = await aWorldWithT({ describes, pending: [rename("a", "d"), rename("b", "e")] });
    expect(await ended(stoppedIn(world, 1, () => overQuota(world)))).toBe("ERR_ACTED_LATE");
    expect({ describes, next: await ended(world.aProcess()) }).toEqual({ describes, next: "well" });
    expect(world.effects).toEqual(["t: #1 a → d", "t: #2 b → e"]);
  }
});

/** Migration 3 is pending, and a call of it came late, after who took over was stopped by that. */
async function aWorldWithLatePending(describes: boolean, by: typeof interrupted): Promise<World> {
  const world = await aWorldWithT({ describes });
  world.migration("0003_both", [retype("a", "int64"), rename("b", "d")]);
  expect(await ended(stoppedIn(world, 1, () => by(world)))).toBe("ERR_ACTED_LATE");
  return world;
}

const described = [true, false].flatMap((describes) =>
  [interrupted, overQuota].map((by) => ({ describes, by, how: by.name })),
);

test.each(described)(
  "up to an earlier version says that a later migration, whose call came late, has begun (described: $describes, $how)",
  async ({ describes, by }) => {
    const world = await aWorldWithLatePending(describes, by);
    world.migration("0002_more", [rename("c", "e")]);
    const choice = { to: 2, allowOutOfOrder: true };
    for (const work of [up, plan])
      await expect(work(world.aProcess(), choice)).rejects.toMatchObject({
        code: "ERR_BEGUN",
        details: { version: "0003" },
      });
  },
);

test.each(described)(
  "up to a version that is applied does nothing when a call of a later one came late (described: $describes, $how)",
  async ({ describes, by }) => {
    const world = await aWorldWithLatePending(describes, by);
    expect(await up(world.aProcess(), { to: 1 })).toEqual({ applied: 0, total: 1 });
    expect(await ended(world.aProcess())).toBe("well");
    expect(world.effects).toEqual(["t: #1 int32 → int64", "t: #2 b → d"]);
  },
);

test("what a service does not show at once is looked for again, and is no unexpected result", async () => {
  const world = await aWorldWithT({ describes: true, pending: [rename("a", "d")] });
  const options = world.aProcess();
  const { target } = options;
  let old: Awaited<ReturnType<typeof target.describeTable>>;
  let stale = 0;
  const late: typeof target = {
    ...target,
    async describeTable(...asked) {
      const found = await target.describeTable(...asked);
      if (stale-- > 0) return old;
      old = found;
      return found;
    },
    async execute(action, seen) {
      stale = 1;
      return await target.execute(action, seen);
    },
  };
  expect(await ended({ ...options, target: late })).toBe("well");
  expect(world.effects).toEqual(["t: #1 a → d"]);
});

test("a run that acted late records nothing more, and tells how far it got", async () => {
  for (const describes of [true, false]) {
    const world = await aWorldWithT({ describes, pending: [retype("a", "int64"), rename("b", "d")] });
    const late = stoppedIn(world, 1, () => up(world.aProcess()));
    const told: string[] = [];
    expect(await ended({ ...late, emit: ({ event }) => void told.push(event) })).toBe("ERR_ACTED_LATE");
    expect(told.at(-1)).toBe("left");
    expect(world.events().filter((event) => event.includes("failed"))).toEqual([]);
  }
});

test("a rename that lands after the question about it, so that its second try is refused, is done", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  expect(await ended(world.aProcess({ execute: { 1: { kind: "delayed", calls: 1 } } }))).toBe("well");
  expect(world.effects).toEqual(["t: #1 a → d"]);
});

test("where tables can't be described, an action in doubt is asked about before anything is sent", async () => {
  const world = await aWorldWithT({ pending: [rename("a", "d")] });
  await ended(world.aProcess({ execute: { 1: killedAfter } }));
  const sent = [...world.sent];
  expect(await ended(world.aProcess())).toBe("well");
  expect(world.sent).toEqual(sent);
});
