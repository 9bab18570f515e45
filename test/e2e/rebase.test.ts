/** Two branches that add migrations with the same number, in a real repository of git, on databases that had either. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProject, onStderr, onStdout } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

const base = [
  "documents(id int32 not null, title utf8, source struct<url utf8, fetched utf8>)",
  "notes(id int32, body utf8)",
];

/** What `migrate new` and `migrate rebase` write in TypeScript is type-checked, which takes most of their time. */
type Kind = "ts" | "js";

async function aRepository(kind: Kind = "js") {
  const project = aProject();
  if (kind === "js") project.write("index.js", "");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=ann", "-c", "user.email=ann@example.org", ...args], {
      cwd: project.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const target = (name: string) => `${name}: { kind: "lance", uri: "${name}" }`;
  project.write(".gitignore", "node_modules\nours\ntheirs\nnew\n");
  project.write(
    `migrate.config.${kind}`,
    `export default { target: "new", targets: { ${["new", "ours", "theirs"].map(target).join(", ")} } };\n`,
  );
  const run = async (...args: string[]) => await project.migrate(args);
  const commit = (message: string) => {
    git("add", "-A");
    git("commit", "-qm", message);
  };
  /** Writes a migration with `migrate new`. */
  const add = async (name: string, ...steps: string[]) =>
    expect(await run("new", name, ...steps)).toMatchObject({ code: 0 });
  git("init", "-q", "-b", "main");
  await add("start", ...base.flatMap((table) => ["--create-table", table]));
  commit("start");
  return { ...project, git, run, commit, add };
}

type Repository = Awaited<ReturnType<typeof aRepository>>;

/** `main` with their migrations, applied to the database `theirs`; and the branch with ours, applied to `ours`, with `main` being merged. */
async function merged(
  theirs: readonly string[],
  ours: readonly string[],
  moreTheirs?: readonly string[],
  moreOurs?: readonly string[],
): Promise<Repository> {
  const repository = await aRepository();
  const { git, add, commit, run } = repository;
  git("checkout", "-q", "-b", "feature");
  await add("ours", ...ours);
  if (moreOurs !== undefined) await add("more_ours", ...moreOurs);
  commit("ours");
  expect(await run("up", "--target", "ours", "--accept", "lossy")).toMatchObject({ code: 0 });
  git("checkout", "-q", "main");
  await add("theirs", ...theirs);
  if (moreTheirs !== undefined) await add("more_theirs", ...moreTheirs);
  commit("theirs");
  expect(await run("up", "--target", "theirs", "--accept", "lossy")).toMatchObject({ code: 0 });
  git("checkout", "-q", "feature");
  expect(() => git("merge", "main")).toThrow();
  expect(git("diff", "--name-only", "--diff-filter=U")).toBe("migrations/lock.json\n");
  return repository;
}

/** In whatever order. */
async function tables({ folder }: Repository, database: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const names = readdirSync(join(folder, database))
    .filter((name) => name.endsWith(".lance") && !name.startsWith("_migrations"))
    .map((name) => name.slice(0, -".lance".length))
    .toSorted();
  const all = names.map(async (name) => [name, (await columnsOf(join(folder, database), name)).toSorted()] as const);
  return Object.fromEntries(await Promise.all(all));
}

/** What else commutes, and which names change: test/unit/commands/branch/rebase-steps.test.ts. */
const commuting: readonly {
  readonly title: string;
  readonly theirs: readonly string[];
  readonly ours: readonly string[];
  readonly becomes?: string;
}[] = [
  { title: "other tables", theirs: ["--rename", "notes.body:text"], ours: ["--retype", "documents.id:int64"] },
  {
    title: "an index on a column that got another name",
    theirs: ["--rename", "documents.id:number"],
    ours: ["--create-index", "documents.id:btree"],
    becomes: "create index id_idx on documents.id: btree becomes create index id_idx on documents.number: btree",
  },
];

describe("branches that commute", () => {
  test.each(commuting)("$title", async ({ theirs, ours, becomes }) => {
    const repository = await merged(theirs, ours);
    const { run, commit, folder } = repository;
    expect(await run("up")).toMatchObject(onStderr(4, "have the same number 0002"));
    expect(await run("rebase", "--dry-run")).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, "migrations"))).toContain("0002_ours.js");
    const rebased = await run("rebase");
    expect(rebased).toMatchObject({ code: 0, stderr: "" });
    expect(rebased.stdout).toContain("0002_ours is 0003_ours now\n");
    expect(rebased.stdout).toContain("the same in either order with 0002_theirs");
    if (becomes === undefined) expect(rebased.stdout).not.toContain("becomes");
    else expect(rebased.stdout).toContain(`  ${becomes}\n`);
    expect(readdirSync(join(folder, "migrations")).toSorted()).toEqual([
      "0001_start.js",
      "0002_theirs.js",
      "0003_ours.js",
      "lock.json",
    ]);
    expect(await run("lint")).toMatchObject({ code: 0 });
    commit("merged");
    for (const database of ["theirs", "ours", "new"]) {
      expect(await run("up", "--target", database, "--accept", "lossy"), database).toMatchObject({ code: 0 });
      expect(await run("up", "--target", database)).toMatchObject({ stdout: expect.stringContaining("nothing to do") });
      expect(await run("verify", "--target", database)).toMatchObject({ code: 0 });
    }
    const right = await tables(repository, "new");
    expect(await tables(repository, "theirs")).toEqual(right);
    expect(await tables(repository, "ours")).toEqual(right);
    expect(await run("rebase")).toMatchObject(onStdout(0, "nothing to do"));
  });
});

test("the order matters if ours gives a column another name that theirs goes by", async () => {
  const because =
    "0002_theirs.js, step 1 (retypeColumn) goes by names that are others after the branch's own migrations (0002_theirs)";
  const repository = await merged(["--retype", "documents.title:largeUtf8"], ["--rename", "documents.title:headline"]);
  const { run, folder } = repository;
  expect(await run("rebase")).toMatchObject({
    code: 4,
    stderr: `the order matters: ${because}; first roll yours back wherever it has run, with the files as they were before the merge (migrate down); then run migrate rebase --accept order\n`,
  });
  expect(await run("rebase", "--json")).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('"ERR_ORDER_MATTERS"'),
  });
  expect(await run("rebase", "--dry-run")).toMatchObject(onStdout(4, "the order matters"));
  expect(await run("rebase", "--dry-run", "--accept", "order")).toMatchObject({ code: 0 });
  expect(readdirSync(join(folder, "migrations"))).toContain("0002_ours.js");
  expect(await run("rebase", "--accept", "order")).toMatchObject(
    onStdout(0, `the order matters, and a database that ran it before does not know it again: ${because}\n`),
  );
  expect(readFileSync(join(folder, "migrations/0003_ours.js"), "utf8")).not.toContain("export const was");
  for (const database of ["theirs", "new"])
    expect(await run("up", "--target", database, "--accept", "lossy"), database).toMatchObject({ code: 0 });
  expect(await tables(repository, "theirs")).toEqual(await tables(repository, "new"));
  expect(await run("up", "--target", "ours")).toMatchObject(
    onStderr(4, "number 2 was used by 0002_ours, which is applied here and has no file"),
  );
});

test("several migrations keep their order, and what came in once more is stood behind once more", async () => {
  const repository = await merged(["--rename", "documents.title:headline"], ["--retype", "documents.title:largeUtf8"]);
  const { run, add, commit, git, folder } = repository;
  expect(await run("rebase")).toMatchObject({ code: 0 });
  commit("merged");
  git("checkout", "-q", "main");
  await add("more", "--rename", "documents.headline:heading");
  commit("more");
  git("checkout", "-q", "feature");
  await add("last", "--add-column", "documents.z:int8");
  commit("last");
  expect(() => git("merge", "main")).toThrow();
  expect(await run("rebase")).toMatchObject(onStdout(0, "0003_ours is 0004_ours now\n"));
  expect(readdirSync(join(folder, "migrations")).toSorted()).toEqual([
    "0001_start.js",
    "0002_theirs.js",
    "0003_more.js",
    "0004_ours.js",
    "0005_last.js",
    "lock.json",
  ]);
  // The database knows it by its first number.
  for (const database of ["ours", "theirs", "new"])
    expect(await run("up", "--target", database, "--accept", "lossy"), database).toMatchObject({ code: 0 });
  const right = await tables(repository, "new");
  expect(await tables(repository, "theirs")).toEqual(right);
  expect(await tables(repository, "ours")).toEqual(right);
});

test("several on each side: a database of the branch takes what came in, and then their squash", async () => {
  const repository = await merged(
    ["--rename", "documents.title:headline"],
    ["--add-column", "documents.a:int8"],
    ["--add-column", "notes.x:int8"],
    ["--retype", "documents.title:largeUtf8"],
  );
  const { run, folder } = repository;
  expect(await run("rebase")).toMatchObject(onStdout(0, "knows them again"));
  expect(readdirSync(join(folder, "migrations")).toSorted()).toEqual([
    "0001_start.js",
    "0002_theirs.js",
    "0003_more_theirs.js",
    "0004_ours.js",
    "0005_more_ours.js",
    "lock.json",
  ]);
  for (const database of ["theirs", "ours", "new"]) {
    expect(await run("up", "--target", database, "--accept", "lossy"), database).toMatchObject({ code: 0 });
    expect(await run("verify", "--target", database)).toMatchObject({ code: 0 });
  }
  const right = await tables(repository, "new");
  expect(await tables(repository, "theirs")).toEqual(right);
  expect(await tables(repository, "ours")).toEqual(right);
  // The branch's migrations ran first there, partly with other steps, and the tables are the same.
  expect(await run("squash", "--to", "5")).toMatchObject({ code: 0, stderr: "" });
  for (const database of ["theirs", "ours", "new"]) {
    expect(await run("up", "--target", database), database).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        "0005_squashed ran here as 0001_start, 0002_theirs, 0003_more_theirs, 0004_ours, 0005_more_ours: recorded",
      ),
    });
    expect(await run("verify", "--target", database), database).toMatchObject({ code: 0 });
  }
});

test("old versions that are kept for down go by the new numbers", async () => {
  const repository = await merged(
    ["--add-column", "notes.x:int8"],
    ["--drop-column", "documents.title"],
    ["--add-column", "notes.y:int8"],
    ["--drop-column", "documents.source"],
  );
  const { run } = repository;
  const kept = async () =>
    (await run("prune", "--target", "ours")).stdout.match(/version \d+ of \w+, from before \w+/g)?.toSorted();
  expect(await kept()).toEqual([
    "version 1 of documents, from before 0002_ours",
    "version 2 of documents, from before 0003_more_ours",
  ]);
  expect(await run("rebase")).toMatchObject({ code: 0 });
  expect(await run("up", "--target", "ours", "--accept", "lossy")).toMatchObject({ code: 0 });
  expect(await kept()).toEqual([
    "version 1 of documents, from before 0004_ours",
    "version 2 of documents, from before 0005_more_ours",
  ]);
  expect(await run("down", "--target", "ours", "--steps", "4")).toMatchObject({ code: 0 });
  expect(await columnsOf(join(repository.folder, "ours"), "documents")).toContain("title: utf8");
});

test("in a merge the other side is what is being merged; what a killed run has left is told", async () => {
  const repository = await merged(["--add-column", "documents.a:int8"], ["--add-column", "documents.b:int8"]);
  const { run, git, folder, write } = repository;
  expect(await run("rebase")).toMatchObject({ code: 0 });
  write("migrations/0002_ours.js", git("show", "HEAD:migrations/0002_ours.js"));
  expect(await run("rebase")).toMatchObject({
    code: 2,
    stderr: "0002_ours.js is 0003_ours.js by now, and is still there; delete 0002_ours.js\n",
  });
  git("merge", "--abort");
  git("checkout", "-q", "--", ".");
  git("clean", "-fdq", "migrations");
  git("checkout", "-q", "main");
  expect(() => git("merge", "feature")).toThrow();
  // Merged into main, the branch's own is the one that came in, and main's keeps its number.
  expect(await run("rebase")).toMatchObject(onStdout(0, "0002_ours is 0003_ours now"));
  expect(readdirSync(join(folder, "migrations"))).toContain("0002_theirs.js");
});

test("what git can't tell is said", async () => {
  const { run, git, add, commit } = await aRepository();
  expect(await run("rebase", "--onto", "develop")).toMatchObject({
    code: 2,
    stderr: "git knows no develop here; check its name, or fetch it\n",
  });
  expect(await run("rebase", "--onto", "--all")).toMatchObject({ code: 2 });
  git("checkout", "-q", "-b", "feature");
  git("checkout", "-q", "main");
  await add("theirs", "--drop-table", "notes");
  commit("theirs");
  git("checkout", "-q", "feature");
  expect(await run("rebase")).toMatchObject({
    code: 2,
    stderr: "main has 0002_theirs.js, which your branch lacks; merge main first\n",
  });
  git("branch", "-q", "-D", "main");
  expect(await run("rebase")).toMatchObject(onStderr(2, "name the other side with --onto"));
  const bare = aProject();
  bare.migration("0001_a.ts", `m.createTable("t", { id: m.int8() })`);
  expect(await bare.migrate(["rebase"])).toMatchObject(onStderr(2, "is in no git repository"));
  expect(spawnSync("git", ["--version"]).status).toBe(0);
});

test("what a migration says that it comes after is right behind the others, and TypeScript's history is too", async () => {
  const repository = await aRepository("ts");
  const { run, add, commit, git, folder } = repository;
  expect(await run("types")).toMatchObject({ code: 0 });
  commit("types");
  git("checkout", "-q", "-b", "feature");
  await add("kept", "--add-column", "notes.language:utf8");
  await add("moved", "--retype", "documents.title:largeUtf8");
  commit("ours");
  git("checkout", "-q", "main");
  await add("theirs", "--rename", "documents.title:headline");
  commit("theirs");
  git("checkout", "-q", "feature");
  expect(() => git("merge", "main")).toThrow();
  expect(await run("rebase")).toMatchObject({ code: 0, stderr: "" });
  const text = (file: string) => readFileSync(join(folder, "migrations", file), "utf8").replaceAll(/\s+/g, " ");
  expect(text("0003_kept.ts")).toContain('after( "0002", addColumn("notes", "language", utf8()), )');
  expect(text("0004_moved.ts")).toContain('after( "0003", retypeColumn("documents", "headline", largeUtf8()), )');
  expect(await run("lint")).toMatchObject({ code: 0 });
  expect(await run("types", "--check")).toMatchObject({ code: 0 });
  commit("merged");
  expect(await run("up", "--accept", "lossy")).toMatchObject({ code: 0 });
});
