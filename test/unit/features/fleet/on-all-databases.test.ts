import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isMigrateError } from "../../../../src/errors/migrate-error.ts";
import { up } from "../../../../src/commands/up.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { onAllDatabases, type DatabasesChoice } from "../../../../src/features/fleet/on-all-databases.ts";
import { openSession, type SessionOfSeveral } from "../../../../src/session/session.ts";
import { temporaryFolder } from "../../../support/project.ts";

/** A project with these databases in folders, and one migration. */
async function several(names: readonly string[], signal?: AbortSignal): Promise<SessionOfSeveral> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "migrations"));
  writeFileSync(
    join(folder, "migrations", "0001_t.ts"),
    `import { createTable, int64 } from "lance-migrate";\nexport const up = [createTable("t", { id: int64() })];\n`,
  );
  writeFileSync(
    join(folder, "migrate.config.ts"),
    `export default { targets: { all: { kind: "lance", uri: "data/{database}", databases: ${JSON.stringify(names)} } } };\n`,
  );
  const session = await openSession({ folder, signal });
  onTestFinished(session.close);
  return session as SessionOfSeveral;
}

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** Works on all of them; those in `failing` fail. */
async function work(failing: readonly string[], choice: DatabasesChoice, signal?: AbortSignal) {
  const session = await several(names, signal);
  const log: string[] = [];
  let atWork = 0;
  let most = 0;
  const untried = await onAllDatabases(
    session,
    async (options) => {
      most = Math.max(most, ++atWork);
      const result = await up(options);
      atWork--;
      if (failing.some((name) => options.target.place.endsWith(name))) throw new Error("it is broken");
      return result;
    },
    choice,
    { end: (one) => log.push(`${one.database} ${"result" in one ? one.result.applied : String(one.error)}`) },
  );
  return { log, untried, most };
}

test("all databases are worked on, at most three at a time", async () => {
  const { log, untried, most } = await work([], { concurrency: 3 });
  expect(log.toSorted()).toEqual(names.map((name) => `${name} 1`));
  expect(untried.names).toEqual([]);
  expect(most).toBe(3);
});

test("the others begin only when the canaries have succeeded", async () => {
  expect(await work(["a"], { canaries: 3, concurrency: 1 })).toMatchObject({
    log: ["a Error: it is broken"],
    untried: { names: names.slice(1), why: "canary" },
  });
  expect(await work(["b"], { canaries: 2 })).toMatchObject({
    log: expect.arrayContaining(["a 1", "b Error: it is broken"]) as unknown,
    untried: { names: names.slice(2), why: "canary" },
  });
  const { log, untried } = await work(["b"], { canaries: 1 });
  expect(log[0]).toBe("a 1");
  expect(log).toHaveLength(names.length);
  expect(untried.names).toEqual([]);
});

test("after the given number of failures, no other database begins", async () => {
  const { log, untried } = await work(["b", "d"], { canaries: 0, concurrency: 1, maxFailures: 2 });
  expect(log).toEqual(["a 1", "b Error: it is broken", "c 1", "d Error: it is broken"]);
  expect(untried).toEqual({ names: names.slice(4), why: "failures" });
});

test("when it is interrupted, no other database begins", async () => {
  const controller = new AbortController();
  const session = await several(names, controller.signal);
  const ended: string[] = [];
  const untried = await onAllDatabases(
    session,
    async (options: MigratorOptions) => {
      const result = await up(options);
      if (options.target.place.endsWith("c")) controller.abort();
      return result;
    },
    { concurrency: 1 },
    { end: ({ database }) => ended.push(database) },
  );
  expect(ended).toEqual(["a", "b", "c"]);
  expect(untried).toEqual({ names: names.slice(3), why: "interrupted" });
});

test("after an interruption, work that holds no lease and never ends is given up", async () => {
  const controller = new AbortController();
  const session = await several(names, controller.signal);
  const ended: string[] = [];
  const untried = await onAllDatabases(
    session,
    async (options: MigratorOptions) => {
      if (!options.target.place.endsWith("b")) return await up(options);
      setTimeout(() => controller.abort(), 100);
      return await new Promise<never>(() => {});
    },
    { concurrency: 1 },
    { end: (one) => ended.push("error" in one && isMigrateError(one.error) ? one.error.code : one.database) },
  );
  expect(ended).toEqual(["a", "ERR_INTERRUPTED"]);
  expect(untried).toEqual({ names: names.slice(2), why: "interrupted" });
});

test("work is under way from when it takes the lease until it waits for it again, or ends", async () => {
  const session = await several(["a"]);
  const told: string[] = [];
  await onAllDatabases(
    session,
    async ({ emit }) => {
      const waiting = { event: "waiting", by: "ann", lease: 1_000 } as const;
      for (const event of [waiting, { event: "taking" }, { event: "rowsComputed" }, waiting, { event: "taking" }])
        emit!(event as RunEvent);
    },
    {},
    {
      emit: ({ event }) => told.push(event),
      underWay: (something) => told.push(something ? "under way:" : "at rest:"),
      end: ({ database }) => told.push(database),
    },
  );
  expect(told).toEqual(
    ["at rest: waiting", "under way: taking", "under way: rowsComputed", "at rest: waiting", "under way: taking"]
      .flatMap((words) => words.split(/(?<=:) /))
      .concat("at rest:", "a"),
  );
});

test("all databases get the migrations that were there at the beginning", async () => {
  const session = await several(["a", "b"]);
  const applied: number[] = [];
  await onAllDatabases(
    session,
    async (options) => {
      const result = await up(options);
      writeFileSync(join(session.folder, "0002_later.ts"), "export const up = [];\n");
      return result;
    },
    { concurrency: 1 },
    { end: (one) => applied.push("result" in one ? one.result.total : Number.NaN) },
  );
  expect(applied).toEqual([1, 1]);
});
