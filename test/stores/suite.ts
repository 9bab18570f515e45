/** What migrations have to do in an object store. Runs on a real server. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, onTestFailed, test } from "vitest";
import { chanceFor } from "../simulate/seeded-random.ts";
import { drawnChance, killAt, killMoments } from "../support/kill-moments.ts";
import { freePort } from "../support/ports.ts";
import { lacks } from "../support/needs.ts";
import { aProxy, type Fate } from "../support/proxy.ts";
import { leaping, type Running } from "../support/project.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import type { Store } from "../support/stores/store.ts";
import { lancedb } from "../support/tables.ts";
import {
  aProjectIn,
  afterAllOfThem,
  afterFew,
  appliedBy,
  contentOf,
  requireMigrated,
  writeAll,
  writeFew,
} from "./scene.ts";
import { answerOf, conflict, tryWithFaults } from "./trials.ts";

const times = { races: rounds(1, 10), kills: rounds(1, 15), stops: rounds(1, 10), trials: rounds(1, 50) };

/** `given` is the reason as text if there is no store here, and undefined if it is not tried now. */
export function storeSuite(name: string, given: Store | string | undefined): void {
  describe.skipIf(lacks("stores", typeof given === "string" ? given : undefined) || given === undefined)(name, () => {
    const store = given as Store;
    afterAll(async () => await store.stop());
    commands(store);
    answers(store);
    problems(store);
    // What chance decides: one for each commit.
    for (const tries of ofThisCommit([races, kills, stops, faults], 4)) tries(store);
  });
}

function commands(store: Store): void {
  test("migrations are planned, applied and rolled back, and every value is right", async () => {
    const project = aProjectIn(store);
    writeAll(project);
    expect(await project.run("plan")).toMatch(/^0001_create\n.*\n5 migrations, 13 actions: /s);
    expect(await project.run("status")).toMatch(/\n0 migrations applied, 5 pending on store\n$/);
    await project.run("up", "--to", "3");
    expect(await contentOf(store, project.uri)).toEqual(afterFew);
    await project.run("up");
    await requireMigrated(store, project, afterAllOfThem);
    expect(await project.run("status")).toMatch(/\n5 migrations applied, 0 pending on store\n$/);

    await project.run("down", "--to", "3");
    expect(await contentOf(store, project.uri)).toEqual(afterFew);
  });

  test("a table is created by up and dropped by down, and a dropped one is gone", async () => {
    const project = aProjectIn(store);
    project.migration("0001_create.ts", `m.createTable("t", { id: m.int32() }, { rows: [{ id: 1 }] }),`);
    await project.run("up");
    await project.run("down");
    expect(await contentOf(store, project.uri)).toEqual({});
    await project.run("up");
    project.migration("0002_drop.ts", `m.dropTable("t"),`);
    await project.run("up", "--accept", "irreversible");
    expect(await contentOf(store, project.uri)).toEqual({});
  });

  test("an existing database is adopted, and its migration makes the same in another place", async () => {
    const uri = store.place();
    const db = await lancedb.connect(uri, { storageOptions: { ...store.storageOptions } });
    await db.createTable("things", [{ id: 1, name: "a", vector: [1, 2, 3] }]);
    const before = await contentOf(store, uri);
    const project = aProjectIn(store, { uri });
    await project.run("pull");
    await project.run("baseline");
    project.migration("0002_more.ts", `m.renameColumn("things", "name", "label"),`);
    await project.run("up");
    const after = JSON.parse(JSON.stringify(before).replace('"name"', '"label"').replace("name:", "label:"));
    expect(await contentOf(store, uri)).toEqual(after);
    await project.run("verify");

    const elsewhere = store.place();
    project.write("other.config.mjs", configOf(store, elsewhere));
    await project.run("up", "--config", "other.config.mjs");
    const { columns, indexes } = after.things;
    expect(await contentOf(store, elsewhere)).toEqual({ things: { columns, rows: [], indexes } });
  });
}

function configOf({ storageOptions }: Store, uri: string): string {
  return `export default { targets: { other: ${JSON.stringify({ kind: "lance", uri, storageOptions })} } };\n`;
}

function races(store: Store): void {
  test(`of three runs started at one instant each migration is applied by one, ${times.races} times`, async () => {
    for (let race = 0; race < times.races; race++) {
      const project = aProjectIn(store);
      writeFew(project);
      const runs = await Promise.all(Array.from({ length: 3 }, () => project.start(["up", "--json"]).finished));
      expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
      expect(appliedBy(runs)).toEqual([1, 2, 3]);
      await requireMigrated(store, project);
    }
  });
}

function kills(store: Store): void {
  test(`runs killed at ${times.kills} random moments are resumed by the next one`, async () => {
    const undisturbed = aProjectIn(store);
    writeFew(undisturbed);
    const { stdout } = await undisturbed.start(["up", "--json"]).finished;
    const { moments, words } = killMoments(times.kills, stdout.split("\n").length - 1);
    for (const moment of moments) {
      const project = aProjectIn(store);
      writeFew(project);
      await killAt(project, ["up", "--json"], moment);
      const next = await project.migrate(["up"], leaping());
      expect(next, `${words(moment)}\n${next.stderr}`).toMatchObject({ code: 0 });
      await requireMigrated(store, project).catch((error: unknown) => {
        throw new Error(`not right when ${words(moment)}`, { cause: error });
      });
    }
  });
}

function stops(store: Store): void {
  test(`a run that is suspended for longer than its lease loses it to another one, ${times.stops} times`, async () => {
    const { chance, words } = drawnChance();
    for (let stop = 0; stop < times.stops; stop++) {
      const project = aProjectIn(store);
      const clock = leaping();
      writeFew(project);
      const sleeper = project.start(["up", "--json"], clock);
      // Not while it inserts rows: the engine would insert them once more when it wakes.
      await printed(sleeper, '"applied","version":2');
      await pause(400 * chance.next());
      sleeper.process.kill("SIGSTOP");
      const other = await project.start(["up"], clock).finished;
      sleeper.process.kill("SIGCONT");
      const slept = await sleeper.finished;
      expect(other, `${words}\n${other.stderr}`).toMatchObject({ code: 0 });
      const actedLate = slept.code === 1 && slept.stdout.includes('"code":"ERR_ACTED_LATE"');
      if (!actedLate) expect([0, 5], `${words}\n${slept.stderr}`).toContain(slept.code);
      await requireMigrated(store, project);
    }
  });
}

function printed({ process }: Running, text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout!.on("data", (chunk: Buffer) => chunk.includes(text) && resolve());
    process.on("close", () => resolve());
  });
}

const isCommit = (path: string, body: Buffer) => path.includes("_versions") && body.length > 0;

function answers(store: Store): void {
  test("a commit whose answer is lost is made once, in every table", async () => {
    const proxy = await aProxy(new URL(store.endpoint).origin);
    const lost = new Set<string>();
    proxy.fate = (_, path, body): Fate => {
      if (!isCommit(path, body) || lost.has(path)) return "passes";
      lost.add(path);
      return "lost";
    };
    const project = aProjectIn(store, { options: store.through(proxy.url) });
    writeFew(project);
    await project.run("up");
    expect(lost.size).toBeGreaterThan(15);
    await requireMigrated(store, project);
  });

  test("a creation whose answer is lost, or that is refused because of another request, is made once", async () => {
    const proxy = await aProxy(new URL(store.endpoint).origin);
    const lost = new Set<string>();
    // The first manifest of each table, branch and ledger, which the store creates unless it exists.
    const isCreation = (path: string) => /\/184467440737095516(14|15)\.manifest/.test(path);
    for (const fate of ofThisCommit(["lost", conflict] as const, 2)) {
      lost.clear();
      proxy.fate = (_, path, body): Fate => {
        const place = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|again\/|\?.*/g, "");
        if (body.length === 0 || !isCreation(path) || lost.has(place)) return "passes";
        lost.add(place);
        return fate;
      };
      const project = aProjectIn(store, { options: store.through(proxy.url) });
      writeFew(project);
      await project.run("up");
      expect(lost.size).toBeGreaterThanOrEqual(5);
      await requireMigrated(store, project);
    }
  });

  const ends: readonly { readonly title: string; readonly fate: Fate; readonly says: RegExp }[] = [
    {
      title: "disappears",
      fate: "unsent",
      says: /GET ADDRESS got no answer: the connection failed; check endpoint in storageOptions, and the network/,
    },
    {
      title: "interrupts its answers",
      fate: "cut",
      says: /(the object store's answer to a request was interrupted; check the network, and try again later|GET ADDRESS got no answer: .*)/,
    },
    {
      title: "refuses an expired token",
      fate: answerOf(400, "ExpiredToken"),
      says: /the object store answered GET ADDRESS with 400 ExpiredToken; renew the credentials, which have expired/,
    },
    {
      title: "refuses the time of the machine",
      fate: answerOf(403, "RequestTimeTooSkewed"),
      says: /the object store answered GET ADDRESS with 403 RequestTimeTooSkewed; set the clock of this machine/,
    },
    {
      title: "refuses each request",
      fate: answerOf(403, "AccessDenied"),
      says: /the object store answered GET ADDRESS with 403 AccessDenied; check the credentials, .*/,
    },
  ];
  test.each(ofThisCommit(ends, ends.length))(
    "a run whose store $title ends with 6 in one sentence, and the next one resumes it",
    async ({ fate, says }) => {
      const proxy = await aProxy(new URL(store.endpoint).origin);
      let commits = 0;
      // The store makes a commit of the third migration, and answers nothing of use from then on.
      proxy.fate = (_, path, body): Fate => {
        if (isCommit(path, body) && !path.includes("_migrations")) commits++;
        if (commits < 6) return "passes";
        return commits++ === 6 ? "lost" : fate;
      };
      const options = { ...store.through(proxy.url), client_max_retries: "1" };
      const project = aProjectIn(store, { options });
      writeFew(project);
      const { code, stderr } = await project.start(["up", "--quiet"]).finished;
      expect(code, stderr).toBe(6);
      expect(withoutAddresses(stderr)).toMatch(
        new RegExp(
          `^target store can't be reached: (table swapped can't be opened: )?${says.source} \\(ERR_TARGET_UNREACHABLE\\)\n$`,
        ),
      );
      proxy.fate = () => "passes";
      expect(await project.migrate(["up"], leaping())).toMatchObject({ code: 0 });
      await requireMigrated(store, project);
    },
  );
}

function faults(store: Store): void {
  // For each commit the same, so that it fails only because of the commit.
  const seed = Number(process.env["MIGRATE_SEED"] ?? (isLong ? Math.floor(Math.random() * 1e9) : 1));
  test.each(Array.from({ length: times.trials }, (_, index) => index + 1))(
    "runs up and down end with 0 or 6 under drawn faults, and the next one finishes, trial %i",
    async (trial) => {
      onTestFailed(() => console.log(`the same faults: MIGRATE_SEED=${seed}`));
      await tryWithFaults(store, chanceFor(`${store.uri("")} ${trial}`, seed));
    },
  );
}

function problems(store: Store): void {
  const permissions = "check the credentials, and that they may list, read, write and delete objects there";
  const reached = "target store can't be reached: ";

  test.each([
    {
      title: "a key that the store does not know",
      place: () => ({ options: store.unknownKey }),
      says: /^the object store answered GET ADDRESS with 403 (InvalidAccessKeyId|AuthorizationFailure) \([^()\n]+\); check the credentials\b/,
    },
    {
      title: "a bucket or container that does not exist",
      place: () => ({ uri: `${store.uri("missing")}/tables` }),
      says: /^the object store answered GET ADDRESS with 404 (NoSuchBucket|ContainerNotFound) \([^()\n]+\); create the bucket or container, or correct uri and endpoint of the target\n$/,
    },
    {
      title: "a port on which nothing listens",
      place: async () => ({ options: store.through(`http://127.0.0.1:${await freePort()}`) }),
      says: /^GET ADDRESS got no answer: the connection was refused; check endpoint in storageOptions, and the network\n$/,
    },
  ])("$title ends each command with 6 in one sentence", async ({ place, says }) => {
    const project = aProjectIn(store, await place());
    writeFew(project);
    for (const command of ["up", "status"]) {
      const { code, stdout, stderr } = await project.migrate([command]);
      expect({ code, stdout }, command).toEqual({ code: 6, stdout: "" });
      expect(withoutAddresses(stderr).slice(0, reached.length)).toBe(reached);
      expect(withoutAddresses(stderr).slice(reached.length)).toMatch(says);
    }
  });

  test("a key that may only read shows what is there, and each write ends with 6 in one sentence", async () => {
    const uri = store.place();
    const writer = aProjectIn(store, { uri });
    const reader = aProjectIn(store, { uri, options: store.readOnly });
    for (const project of [writer, reader]) writeFew(project);
    const refused = async (...args: readonly string[]) => {
      const { code, stderr } = await reader.migrate(args);
      expect(code, stderr).toBe(6);
      expect(withoutAddresses(stderr)).toMatch(
        /^target store can't be reached: the object store answered (PUT|DELETE|POST) (ADDRESS|\(address hidden\)) with 403 \w+ \([^()\n]+\); /,
      );
      expect(stderr.endsWith(`; ${permissions}\n`)).toBe(true);
    };
    await refused("up"); // creates the ledger
    await writer.run("up", "--to", "2");
    await refused("up"); // writes to it
    await refused("down");
    expect(await reader.run("status")).toMatch(/\n2 migrations applied, 1 pending on store\n$/);
    expect(await reader.run("plan")).toMatch(/^0003_names\n.*\n1 migration, 3 actions: /s);
    await writer.run("up");
    await requireMigrated(store, writer);
  });
}

function withoutAddresses(text: string): string {
  return text.replace(/http:\/\/\S+/g, "ADDRESS");
}
