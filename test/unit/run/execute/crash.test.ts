import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { isMigrateError } from "../../../../src/errors/migrate-error.ts";
import { up as upAs } from "../../../../src/commands/up.ts";
import { history, status } from "../../../../src/commands/status.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { aMemoryDatabase, type Fate } from "../../../support/memory-database.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { commits, isLong, rounds } from "../../../support/rounds.ts";

/** A run that makes each call by itself: how often each took effect can be counted. Groups: group-crash.test.ts. */
const up = async (options: MigratorOptions) => await upAs(options, { stepByStep: true });

type Step = Readonly<Record<string, unknown>>;

/** Steps that go back and forth, so that a run comes by the same tables again and again. */
const toggles: readonly ((back: boolean) => Step)[] = [
  (back) => ({ kind: "renameColumn", table: "t", path: back ? "c" : "a", name: back ? "a" : "c" }),
  (back) => ({ kind: "retypeColumn", table: "t", path: "b", type: { kind: back ? "int32" : "int64" } }),
  (back) => ({ kind: "setNullable", table: "t", path: "b", nullable: back }),
  (back) => ({ kind: "renameColumn", table: "u", path: back ? "c" : "a", name: back ? "a" : "c" }),
];

/** Migrations as lists of toggles; the first creates the tables. */
function stepsOf(migrations: readonly (readonly number[])[]): readonly (readonly Step[])[] {
  const turned = toggles.map(() => false);
  const toggle = (which: number): Step => {
    const step = toggles[which]!(turned[which]!);
    turned[which] = !turned[which];
    return step;
  };
  const columns = ["a", "b"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }));
  const creates = ["t", "u"].map((table) => ({ kind: "createTable", table, columns }));
  return [creates, ...migrations.map((one) => one.map(toggle))];
}

function write(folder: string, migrations: readonly (readonly Step[])[]): void {
  for (const [index, steps] of migrations.entries())
    writeFileSync(join(folder, `000${index + 1}_m.mjs`), `export const up = ${JSON.stringify(steps)};\n`);
}

const histories = fc.array(fc.array(fc.nat({ max: toggles.length - 1 }), { minLength: 1, maxLength: 5 }), {
  maxLength: 3,
});
const aFate = fc.record({ at: fc.integer({ min: 1, max: 40 }), after: fc.boolean() });
const kills = fc.array(aFate, { maxLength: 6 });

test("however often and wherever runs are killed, the next one does just what is left", async () => {
  await fc.assert(
    fc.asyncProperty(histories, kills, async (given, deaths) => {
      const folder = temporaryFolder();
      const migrations = stepsOf(given);
      write(folder, migrations);
      const undisturbed = aMemoryDatabase(folder);
      await up(undisturbed.aProcess());

      const database = aMemoryDatabase(folder);
      for (const kill of deaths) await up(database.aProcess(kill)).catch(() => {});
      await up(database.aProcess());
      expect(database.tables()).toEqual(undisturbed.tables());
      expect(await status(database.aProcess())).toMatchObject({ pending: [], holder: undefined });
    }),
    { numRuns: rounds(12, 100) },
  );
});

const thereAndBack = stepsOf([
  [0, 0, 0, 0],
  [1, 3, 1, 2, 2],
]);

/** For each commit every second call, for the next commit the others. */
const stride = rounds(2, 1);
const first = 1 + (commits() % stride);

/** A process that is killed before a call leaves what it leaves after the one before. */
const sidesOfKills = isLong ? [false, true] : [true];
/**
 * One that is stopped may see after it what it did not see before. For each commit before some calls and after others, three
 * in a row, so that it meets each call of an action on both sides in some action.
 */
const sidesOfStops = (at: number) => (isLong ? [false, true] : [Math.floor(at / 3) % 2 === 0]);

test("a migration that goes there and back is killed at every call in turn and done once", async () => {
  const folder = temporaryFolder();
  write(folder, thereAndBack);
  const undisturbed = aMemoryDatabase(folder);
  await up(undisturbed.aProcess());
  const calls = undisturbed.calls();
  expect(calls).toBeGreaterThan(60);
  for (let at = first; at <= calls; at += stride)
    for (const after of sidesOfKills) {
      const database = aMemoryDatabase(folder);
      await up(database.aProcess({ at, after })).catch(() => {});
      await up(database.aProcess());
      expect({ at, after, tables: database.tables() }).toEqual({ at, after, tables: undisturbed.tables() });
    }
});

/** A run may end well, lose its lease, or see what it did not expect; it may not fail in a way of its own. */
async function ended(options: MigratorOptions): Promise<string> {
  try {
    await up(options);
    return "well";
  } catch (error) {
    if (isMigrateError(error)) return error.code;
    throw error;
  }
}

/** How a run may end that was stopped: whatever came after its lease is recorded, also where it did no harm. */
const lateEnds = ["well", "ERR_LEASE_LOST", "ERR_ACTED_LATE"];

test("a run that is stopped anywhere for longer than its lease does nothing that its successor has done", async () => {
  await fc.assert(
    fc.asyncProperty(histories, aFate, kills, async (given, stopped, deaths) => {
      const folder = temporaryFolder();
      write(folder, stepsOf(given));
      const undisturbed = aMemoryDatabase(folder);
      await up(undisturbed.aProcess());

      const database = aMemoryDatabase(folder);
      const meanwhile = async () => {
        await database.oversleep();
        for (const kill of deaths.slice(1)) await up(database.aProcess(kill)).catch(() => {});
        if (deaths.length % 2 === 0) await up(database.aProcess());
      };
      expect(lateEnds).toContain(await ended(database.aProcess({ ...stopped, meanwhile })));
      await up(database.aProcess());
      expect(database.tables()).toEqual(undisturbed.tables());
      expect(await status(database.aProcess())).toMatchObject({ pending: [], holder: undefined });
    }),
    { numRuns: rounds(12, 100) },
  );
});

test.each([
  { what: "does all of the work", kill: undefined },
  { what: "dies before it acts", kill: 8 },
  { what: "dies in the middle", kill: 16 },
])("a run is stopped at every call in turn while another $what, and every step is done once", async ({ kill }) => {
  const folder = temporaryFolder();
  write(folder, thereAndBack);
  const undisturbed = aMemoryDatabase(folder);
  await up(undisturbed.aProcess());
  const calls = undisturbed.calls();
  expect(calls).toBeGreaterThan(60);
  for (let at = first; at <= calls; at += stride)
    for (const after of sidesOfStops(at)) {
      const database = aMemoryDatabase(folder);
      const other = kill === undefined ? undefined : { at: kill, after };
      const meanwhile = async () => {
        await database.oversleep();
        await up(database.aProcess(other)).catch(() => {});
      };
      const end = await ended(database.aProcess({ at, after, meanwhile }));
      await up(database.aProcess());
      expect({ at, after, end, tables: database.tables() }).toEqual({
        at,
        after,
        end: expect.toBeOneOf(lateEnds),
        tables: undisturbed.tables(),
      });
    }
});

/** Stops a process, lets another run up to one of its calls, lets the first end, and then the other. */
async function interleaved(database: ReturnType<typeof aMemoryDatabase>, first: Fate, second: Fate) {
  let firstEnds: Promise<string> | undefined;
  let secondEnds: Promise<string> | undefined;
  const meanwhile = async () => {
    await database.oversleep();
    await new Promise<void>((resolve) => {
      const waitForFirst = async () => {
        resolve();
        await firstEnds;
      };
      secondEnds = ended(database.aProcess({ ...second, meanwhile: waitForFirst }));
      void secondEnds.then(() => resolve());
    });
  };
  firstEnds = ended(database.aProcess({ ...first, meanwhile }));
  return [await firstEnds, await secondEnds];
}

test("two runs that stop each other anywhere do every step once", async () => {
  await fc.assert(
    fc.asyncProperty(histories, aFate, aFate, async (given, first, second) => {
      const folder = temporaryFolder();
      write(folder, stepsOf(given));
      const undisturbed = aMemoryDatabase(folder);
      await up(undisturbed.aProcess());

      const database = aMemoryDatabase(folder);
      const ends = await interleaved(database, first, second);
      expect(lateEnds).toEqual(expect.arrayContaining(ends.filter((end) => end !== undefined)));
      await up(database.aProcess());
      expect(database.tables()).toEqual(undisturbed.tables());
      expect(await status(database.aProcess())).toMatchObject({ pending: [], holder: undefined });
    }),
    { numRuns: rounds(12, 100) },
  );
});

test("no two records of a ledger ever have the same place", async () => {
  await fc.assert(
    fc.asyncProperty(histories, kills, async (given, deaths) => {
      const folder = temporaryFolder();
      write(folder, stepsOf(given));
      const database = aMemoryDatabase(folder);
      for (const kill of deaths) await up(database.aProcess(kill)).catch(() => {});
      const places = (await history(database.aProcess())).map(({ epoch, number }) => `${epoch}.${number}`);
      expect(new Set(places).size).toBe(places.length);
    }),
    { numRuns: rounds(8, 50) },
  );
});
