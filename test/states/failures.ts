/** What befalls a project. Each returns what it did, in words; undefined if there was nothing to befall. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../simulate/seeded-random.ts";
import { preloading } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { backUp, last, restoreFiles, textOf, type Scene } from "./scene.ts";

export interface Failed {
  readonly words: string;
  /** A table whose rows are gone for good. */
  readonly lost?: string;
}

type Failure = (scene: Scene, chance: Chance) => Promise<Failed | undefined>;

const killed =
  (args: readonly string[]): Failure =>
  async ({ project }, chance) => {
    const moment = { lines: 1 + chance.below(14), share: chance.next() };
    const env = { ...preloading("dying.ts"), DIES_AT: JSON.stringify(moment) };
    const running = project.start([...args, "--json"], env);
    await running.finished;
    const isKilled = running.process.signalCode === "SIGKILL";
    return { words: `${args.join(" ")}, ${isKilled ? `killed after line ${moment.lines}` : "which ended"}` };
  };

const tables = async ({ project }: Scene) => {
  const db = await lancedb.connect(project.database);
  return { db, names: (await db.tableNames()).filter((name) => !name.startsWith("_migrations")) };
};

/** A file whose migration is recorded: of another one nobody can know what it was. */
async function aRecordedFile({ project, migrate }: Scene, chance: Chance): Promise<string | undefined> {
  const { code, stdout } = await migrate(["status", "--json"]);
  if (code !== 0) return undefined;
  const applied = (JSON.parse(stdout) as { readonly applied: readonly { readonly version: number }[] }).applied.length;
  const files = readdirSync(join(project.folder, "migrations")).filter((name) => Number.parseInt(name, 10) <= applied);
  return files.length === 0 ? undefined : chance.pick(files.toSorted());
}

export const failures: Readonly<Record<string, Failure>> = {
  "up killed": killed(["up"]),
  "up, step by step, killed": killed(["up", "--step-by-step"]),
  "down killed": killed(["down", "--to", "0", "--accept", "lossy"]),
  "a saved plan is killed": async (scene, chance) => {
    const plan = ["plan", "--out", "aside/plan.json"];
    if ((await scene.migrate(plan)).code !== 0) return undefined;
    const failed = await killed(["up", "--plan", "aside/plan.json"])(scene, chance);
    return failed;
  },
  "some applied": async ({ migrate }, chance) => {
    const to = String(1 + chance.below(last));
    const { code } = await migrate(["up", "--to", to]);
    return { words: `up --to ${to}: ${code}` };
  },
  "some rolled back": async ({ migrate }, chance) => {
    const to = String(chance.below(last));
    const { code } = await migrate(["down", "--to", to]);
    return { words: `down --to ${to}: ${code}` };
  },
  "the disk is full": async ({ migrate, disk }, chance) => {
    if (disk === undefined) return undefined;
    disk.fill(chance.below(40) * 1024);
    const { code } = await migrate(["up"]);
    return { words: `the disk is full: ${code}` };
  },
  "the ledger is lost": async (scene) => {
    // Without a record, an edited file can't be told from its original.
    restoreFiles(scene);
    const db = await lancedb.connect(scene.project.database);
    for (const name of await db.tableNames()) if (name.startsWith("_migrations")) await db.dropTable(name);
    return { words: "the ledger is lost" };
  },
  "a table is dropped": async (scene, chance) => {
    const { db, names } = await tables(scene);
    if (names.length === 0) return undefined;
    const name = chance.pick(names);
    const isKept = chance.happens(0.5);
    if (isKept) backUp(scene);
    await db.dropTable(name);
    return { words: `${name} is dropped, ${isKept ? "with" : "without"} a backup`, ...(!isKept && { lost: name }) };
  },
  "a table is restored": async (scene, chance) => {
    const { db, names } = await tables(scene);
    if (names.length === 0) return undefined;
    const name = chance.pick(names);
    const table = await db.openTable(name);
    const now = String(await table.schema());
    const older: number[] = [];
    for (const { version } of await table.listVersions()) {
      await table.checkout(version);
      const then = String(await table.schema());
      // Rows alone are those of the application, for all that a migration knows. Nobody wants the middle of an action.
      if (then !== now && !then.includes("_lance_migrate")) older.push(version);
    }
    if (older.length === 0) return undefined;
    const version = chance.pick(older);
    await table.checkout(version);
    await table.restore();
    return { words: `${name} is restored to version ${version}` };
  },
  "a file is lost": async (scene, chance) => {
    const file = await aRecordedFile(scene, chance);
    if (file === undefined) return undefined;
    rmSync(join(scene.project.folder, "migrations", file));
    return { words: `${file} is lost` };
  },
  "a file is edited": async (scene, chance) => {
    const file = await aRecordedFile(scene, chance);
    if (file === undefined) return undefined;
    scene.project.write(
      `migrations/${file}`,
      `${textOf(scene, file)}\nup.push(m.addColumn("tags", "more", m.int32()));\n`,
    );
    return { words: `${file} is edited` };
  },
  "a row that a step refuses": async (scene) => {
    const { db, names } = await tables(scene);
    if (!names.includes("docs")) return undefined;
    const docs = await db.openTable("docs");
    const { fields } = await docs.schema();
    if (!fields.some(({ name, type }) => name === "year" && String(type) === "Utf8")) return undefined;
    await docs.update({ where: "id = 1", values: { year: "n/a" } });
    return { words: "the year of a row is n/a" };
  },
};
