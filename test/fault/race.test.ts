import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, ownMigrations, root } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { columnsOf, rowsOf } from "../support/tables.ts";

const races = rounds(1, 20);
const runners = 8;

test(`of ${runners} runs started at one instant each migration is applied by one, and all end with 0, ${races} times`, async () => {
  for (let round = 0; round < races; round++) {
    const project = aProject("own");
    cpSync(join(root, "migrations"), join(project.folder, "migrations"), { recursive: true });
    const started = Array.from({ length: runners }, () => project.start(["up", "--json"]));
    const finished = await Promise.all(started.map((one) => one.finished));

    expect(finished.map(({ code, stderr }) => [code, stderr])).toEqual(Array.from({ length: runners }, () => [0, ""]));
    const events = finished.flatMap(({ stdout }) =>
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
    const applied = events.filter(({ event }) => event === "applied").map(({ version }) => version);
    expect(applied.toSorted()).toEqual(ownMigrations.map((_, index) => index + 1));
    const records = await rowsOf(project.database, "_migrations");
    expect(records.filter(({ event }) => event === "applied")).toHaveLength(ownMigrations.length);
    expect(await columnsOf(project.database, "authors")).toEqual([
      "id: int64 not null",
      "last_name: utf8",
      "first_name: utf8",
      "joined: timestamp(ms, UTC)",
      "documents: list<int64>",
    ]);
  }
});
