/** A project in which a run was killed in the middle of a group of migrations. */
import { join } from "node:path";
import { up, type UpChoice } from "../../../src/commands/up.ts";
import { systemClock } from "../../../src/time/clock.ts";
import { open } from "../../../src/targets/lance/lance.ts";
import { aProject, leaping, type Project } from "../../support/project.ts";
import { optionsFor, watched } from "../../support/watched.ts";

const columns = ["a", "b"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }));
const createTable = (table: string) => ({ kind: "createTable", table, columns });
const rename = (table: string, path: string, name: string) => ({ kind: "renameColumn", table, path, name });

/** The first creates `t` and `u`; the others rename their columns, and run as one group of three calls. */
const migrations: readonly (readonly object[])[] = [
  [createTable("t"), createTable("u")],
  [rename("t", "a", "c"), rename("u", "a", "c")],
  [rename("t", "c", "d"), createTable("v")],
  [rename("v", "a", "z")],
  [rename("u", "c", "d")],
];

/** The migrations up to this one are applied. */
export async function aProjectWithGroup(applied: 0 | 1 = 1, given: Project = aProject()): Promise<Project> {
  const { migrate, ...rest } = given;
  const project: Project = { ...rest, migrate: (args, env) => migrate(args, { ...leaping(), ...env }) };
  project.write("migrate.config.ts", `export default { targets: { local: { kind: "lance", uri: ".lancedb" } } };\n`);
  for (const [index, steps] of migrations.entries())
    project.write(`migrations/000${index + 1}_m.mjs`, `export const up = ${JSON.stringify(steps)};\n`);
  if (applied > 0) await project.migrate(["up", "--to", "1"]);
  return project;
}

/**
 * Runs what is pending up to this many calls that change tables. `ago`: how many milliseconds ago that was, by the clock
 * of that run.
 */
export async function killAfter(calls: number, { folder }: Project, ago: number, choice: UpChoice = {}): Promise<void> {
  const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "local", folder });
  let made = 0;
  const killed = watched(target, {
    before: (_, what) => {
      if (made > calls || (what === "execute" && made++ === calls)) throw new Error("killed");
    },
  });
  const clock = { ...systemClock, wall: () => systemClock.wall() - ago };
  const options = {
    ...optionsFor(join(folder, "migrations"), killed, clock),
    lease: { duration: 30_000, patience: 0 },
  };
  await up(options, choice).catch(() => {});
  await target.close();
}
