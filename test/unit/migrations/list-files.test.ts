import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { textHash } from "../../../src/migrations/checksum.ts";
import { listMigrations } from "../../../src/migrations/list-files.ts";
import { hashDuring, migrationsIn } from "../../../src/migrations/source.ts";
import { temporaryFolder } from "../../support/project.ts";

function aFolder(...files: readonly string[]): string {
  const folder = temporaryFolder();
  for (const file of files) writeFileSync(join(folder, file), `// ${file}\n`);
  return folder;
}

test("files of other kinds and folders are left out", () => {
  const folder = aFolder("0001_a.ts", "README.md", "types.d.ts", "0001_a.d.ts", ".gitkeep");
  mkdirSync(join(folder, "0002_folder.ts"));
  mkdirSync(join(folder, "archive"));
  expect(listMigrations(folder).map(({ file }) => file)).toEqual(["0001_a.ts"]);
});

test("an empty folder has no migrations", () => {
  expect(listMigrations(aFolder())).toEqual([]);
});

test("who wants to hear of all is told of bad names and of what can't be read, with the paths, and gets the rest", () => {
  const folder = aFolder("0001_a.ts", "second.ts", "0003_c.ts", "03_d.ts");
  symlinkSync(join(folder, "nowhere"), join(folder, "0004_gone.ts"));
  const told: unknown[] = [];
  const files = listMigrations(folder, ({ code }, path) => told.push([code, path]));
  expect(files.map(({ file }) => file).toSorted()).toEqual(["0001_a.ts", "0003_c.ts", "03_d.ts"]);
  expect(told.toSorted()).toEqual([
    ["ERR_FILE_NAME", join(folder, "second.ts")],
    ["ERR_FILE_UNREADABLE", join(folder, "0004_gone.ts")],
    ["ERR_VERSION_DUPLICATE", undefined],
  ]);
});

test.each([
  [["0001_a.ts", "0001_b.ts"], "0001"],
  [["0002_a.ts", "1_a.ts", "2_a.ts"], "0002"],
  [["0003_a.ts", "0003_a.js"], "0003"],
])("of %j two have the same number %s", (files, version) => {
  expect(() => listMigrations(aFolder(...files))).toThrow(
    expect.objectContaining({ code: "ERR_VERSION_DUPLICATE", details: expect.objectContaining({ version }) }),
  );
});

test("both files of one number are named", () => {
  expect(() => listMigrations(aFolder("0001_a.ts", "0001_b.ts"))).toThrow(
    "0001_a.ts and 0001_b.ts have the same number 0001; migrate rebase gives those of your branch others, or do it by hand",
  );
});

test("a file that looks like code and has no number is refused", () => {
  expect(() => listMigrations(aFolder("0001_a.ts", "helpers.ts"))).toThrow(
    expect.objectContaining({ code: "ERR_FILE_NAME", details: { file: "helpers.ts" } }),
  );
});

test("a folder that is not there, or is a file, says so", () => {
  const folder = aFolder("0001_a.ts");
  const missing = join(folder, "missing");
  expect(() => listMigrations(missing)).toThrow(
    expect.objectContaining({
      code: "ERR_MIGRATIONS_FOLDER",
      details: { folder: missing, problem: "does not exist" },
    }),
  );
  const file = join(folder, "0001_a.ts");
  expect(() => listMigrations(file)).toThrow(
    expect.objectContaining({ code: "ERR_MIGRATIONS_FOLDER", details: { folder: file, problem: "is a file" } }),
  );
});

describe("work during the listing", () => {
  test("begins before the last file is read, and its result comes with the files", async () => {
    const files = Array.from({ length: 250 }, (_, index) => `${index + 1}_m.ts`);
    const source = migrationsIn(aFolder(...files));
    const order: string[] = [];
    const each = function* () {
      for (const file of source.each!()) {
        order.push(file.file);
        yield file;
      }
    };
    const work = async () => {
      order.push("asked");
      await nextTurn();
      order.push("answered");
      return "result";
    };
    const { hashes, working } = await hashDuring({ ...source, each }, work);
    expect(hashes).toEqual(source.list().map(({ version, textHash: hash }) => ({ version, textHash: hash })));
    expect(await working).toBe("result");
    expect(order.indexOf("asked")).toBe(1);
    expect(order.indexOf("answered")).toBeLessThan(order.indexOf("250_m.ts"));
  });

  test("does not begin without files", async () => {
    const { hashes, working } = await hashDuring(migrationsIn(aFolder()), async () => true);
    expect([hashes, working]).toEqual([[], undefined]);
  });

  test("fails unseen if a file can't be read", async () => {
    const folder = aFolder("0001_a.ts");
    symlinkSync(join(folder, "nowhere"), join(folder, "0002_gone.ts"));
    const listing = hashDuring(migrationsIn(folder), async () => {
      throw new Error("the service is down");
    });
    await expect(listing).rejects.toMatchObject({ code: "ERR_FILE_UNREADABLE" });
  });
});

test.each([
  { how: "with LF line ends", edit: (text: string) => text },
  { how: "with CRLF line ends", edit: (text: string) => text.replaceAll("\n", "\r\n") },
  { how: "with a byte order mark", edit: (text: string) => `\uFEFF${text}` },
])("former names are read $how, and the hash stays the same", ({ edit }) => {
  const text = `export const was = [\n  "0007_tags 3c6e0b8a9c15224a",\n];\nexport const up = [];\n`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, "0008_tags.ts"), edit(text));
  expect(listMigrations(folder)).toMatchObject([
    { textHash: textHash(text), was: [{ version: 7, name: "tags", checksum: "3c6e0b8a9c15224a" }] },
  ]);
});
