/** Scenes of errors that are about runs which stopped in the middle, were killed, or are at work. */
import { expect, onTestFinished } from "vitest";
import { journalOf } from "../../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../../src/ledger/lease/lease.ts";
import { foldLedger } from "../../../src/ledger/state/fold.ts";
import { open } from "../../../src/targets/lance/lance.ts";
import { systemClock } from "../../../src/time/clock.ts";
import type { Project } from "../../support/project.ts";
import { addRows } from "../../support/tables.ts";
import { aProjectWithGroup, killAfter } from "./killed-group.ts";
import { applied, config, pending, people, rows, type ErrorScenes } from "./scene-project.ts";

const anHour = 3_600_000;

/** A rollback of which the first action works and the second one fails. */
async function halfBack(project: Project): Promise<void> {
  project.migration("0001_m.ts", people);
  withDown(project, `m.dropColumn("people", "more")`, `m.execute("people", { delete: "1 / (id - 1) > 0" })`);
  await applied(project);
  await addRows(project.database, "people", rows);
  expect(await project.migrate(["down", "--yes"])).toMatchObject({ code: 1 });
}

/** A second migration, rolled back by these steps. */
function withDown(project: Project, ...down: readonly string[]): void {
  project.write(
    "migrations/0002_m.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.addColumn("people", "more", m.utf8())];\nexport const down = [${down.join(", ")}];\n`,
  );
}

async function killedInGroup(project: Project): Promise<Project> {
  const grouped = await aProjectWithGroup(1, project);
  await killAfter(1, grouped, anHour);
  return grouped;
}

/** Takes the lease and adds records, as a run that is at work, until the test has finished. */
async function holdLease({ folder }: Project): Promise<void> {
  const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "local", folder });
  const journal = journalOf(target, "_migrations", systemClock);
  const runner = { by: "ann", run: "another", tool: "test" };
  const terms = { duration: anHour, clock: systemClock };
  const lease = (await takeLease(journal, foldLedger(await journal.read()), runner, undefined, terms))!;
  let added: Promise<void> = Promise.resolve();
  const adding = setInterval(() => (added = lease.record([{ event: "renewed" }])), 200);
  onTestFinished(async () => {
    clearInterval(adding);
    await added;
    lease.abandon();
    await target.close();
  });
}

export const scenesOfKilledRuns: ErrorScenes = {
  ERR_GROUP_CHANGED: async (project) => {
    const { migrate } = await killedInGroup(project);
    project.migration("0005_m.mjs", `m.retypeColumn("u", "c", m.int64())`);
    return { migrate };
  },
  ERR_UNSETTLED: async (project) => ({ migrate: (await killedInGroup(project)).migrate }),
  ERR_REVERTING: halfBack,
  ERR_ROLLBACK_CHANGED: async (project) => {
    await halfBack(project);
    withDown(project, `m.execute("people", { delete: "id = 7" })`, `m.dropColumn("people", "more")`);
  },
  ERR_LEASE_HELD: async (project) => {
    await pending(project, people, `m.renameColumn("people", "name", "title")`);
    await holdLease(project);
  },
  ERR_INTERRUPTED: async (project) => {
    const wait = `await setTimeout(60_000, undefined, { signal }).catch(() => {});`;
    config(
      project,
      `hooks: { async beforeMigration({ signal }) { process.kill(process.pid, "SIGTERM"); ${wait} } }`,
      `import { setTimeout } from "node:timers/promises";\n`,
    );
    await pending(project, people);
  },
};
