/** The command as a process: signals, readers that go away, and what Node makes of the files that it loads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { aProject, root, type Project, type Running, onStdout } from "../support/project.ts";
import { columnsOf, versionsOf } from "../support/tables.ts";
import { applied, documents } from "./support/documents.ts";

const many = 60;

/** A project in which a migration of many quick steps is pending. */
async function manyRenames(): Promise<Project> {
  const project = await applied(["0001_documents.ts", documents]);
  const name = (at: number) => (at === 0 ? "title" : `title_${at}`);
  const renames = Array.from(
    { length: many },
    (_, index) => `m.renameColumn("documents", "${name(index)}", "${name(index + 1)}")`,
  );
  project.migration("0002_names.ts", renames.join(",\n"));
  return project;
}

/** Resolves when the process has printed the words on stderr, and fails when it ends without them. */
async function printed({ process, finished }: Running, words: string): Promise<void> {
  let text = "";
  await Promise.race([
    new Promise<void>((resolve) => {
      process.stderr!.on("data", (chunk: string) => {
        text += chunk;
        if (text.includes(words)) resolve();
      });
    }),
    finished.then(({ code, stderr }) => {
      throw new Error(`ended with ${code} before it printed ${words}: ${stderr}`);
    }),
  ]);
}

/** The next run waits for no lease, and does the rest. */
async function completes(project: Project): Promise<void> {
  const again = await project.migrate(["up", "--wait", "0", "--step-by-step"]);
  expect(again).toMatchObject(onStdout(0, "1 migration applied"));
}

describe("an output that can't be written", () => {
  test.each(["stdout", "stderr"] as const)("stops a run at a safe point, %s", async (stream) => {
    const project = await manyRenames();
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const args = [join(root, "dist/bin.js"), "up", "--step-by-step", ...(stream === "stdout" ? ["--json"] : [])];
    const [out, err] = stream === "stdout" ? [full, "pipe" as const] : ["pipe" as const, full];
    const child = spawn(process.execPath, args, { cwd: project.folder, stdio: ["ignore", out, err] });
    let text = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    expect(await once(child, "close")).toEqual([1, null]);
    if (stream === "stdout") {
      expect(text.match(/ERR_OUTPUT/g)).toHaveLength(1);
      expect(text).toMatch(
        /^stdout can't be written: ENOSPC: .*; make room, or send the output elsewhere; .*\(ERR_OUTPUT\)$/m,
      );
    }
    await completes(project);
  });
});

test("an error that nothing awaits stops a run at a safe point", async () => {
  const project = await manyRenames();
  const hook = `hooks: { beforeMigration() { setTimeout(() => { throw new Error("no luck"); }); } }`;
  const target = `targets: { here: { kind: "lance", uri: "./.lancedb" } }`;
  project.write("migrate.config.ts", `export default { ${target}, ${hook} };\n`);
  const { code, stderr } = await project.start(["up", "--step-by-step"]).finished;
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/no luck; .* of 60 actions/) });
  project.write("migrate.config.ts", `export default { ${target} };\n`);
  await completes(project);
});

describe("a signal", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s stops the run, and the next run resumes there",
    async (signal) => {
      const project = await manyRenames();
      const { documents: before } = await versionsOf(project.database);

      const running = project.start(["up", "--step-by-step"]);
      await printed(running, "rename documents.title_2 to title_3");
      running.process.kill(signal);
      // When a terminal is closed, it comes from the kernel and from the shell.
      if (signal === "SIGHUP") running.process.kill(signal);
      const stopped = await running.finished;
      expect(stopped).toMatchObject({ code: 130, stdout: "" });
      expect(stopped.stderr).toContain("stopping at the next safe point");
      const [, done] = /(\d+) of 60 actions of \d+_names are done/.exec(stopped.stderr) ?? [];
      expect(Number(done)).toBeGreaterThanOrEqual(3);
      expect(Number(done)).toBeLessThan(many);
      expect((await versionsOf(project.database)).documents).toBe(before! + Number(done));

      // The lease was given back, so that nobody has to wait for it.
      const again = await project.migrate(["up", "--wait", "0", "--step-by-step"]);
      expect(again).toMatchObject(onStdout(0, "1 migration applied"));
      expect(again.stderr).toContain(`${done} of 60 actions done already`);
      expect((await versionsOf(project.database)).documents).toBe(before! + many);
    },
  );

  test("that comes twice stops at once", async () => {
    const project = aProject("own");
    project.write(
      "migrations/0001_slow.ts",
      `process.stderr.write("loading\\n");\nawait new Promise((resolve) => setTimeout(resolve, 600_000));\nexport const up = [];\n`,
    );
    const running = project.start(["up"]);
    await printed(running, "loading");
    running.process.kill("SIGINT");
    await printed(running, "interrupt again to stop at once");
    running.process.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130, stdout: "" });
    expect(readdirSync(project.database)).toEqual([]);
  });

  test("that suspends a run leaves it the lease, and status says who holds it", async () => {
    const project = await manyRenames();
    const running = project.start(["up", "--step-by-step"]);
    await printed(running, "rename documents.title_2 to title_3");
    running.process.kill("SIGSTOP");
    try {
      const holder = `(process ${running.process.pid}) holds the lease`;
      expect(await project.migrate(["status"])).toMatchObject({ stdout: expect.stringContaining(holder) });
    } finally {
      running.process.kill("SIGCONT");
    }
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
  });
});

describe("a reader that goes away", () => {
  test.each(["stdout", "stderr"] as const)("from %s does not stop the run", async (stream) => {
    const project = await manyRenames();
    project.migration("0003_more.ts", `m.setNullable("documents", "id", true)`);
    const running = project.start(["up", "--step-by-step"]);
    await printed(running, "rename documents.title to title_1");
    running.process[stream]!.destroy();
    const { code } = await running.finished;
    expect(await project.migrate(["up", "--wait", "0"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(code).toBe(0);
  });

  // Text and JSON are written by one function each, whatever the command.
  test.each([[["status"]], [["status", "--json"]]])("gets no stack from migrate %j", async (args) => {
    const project = await applied(["0001_documents.ts", documents]);
    const running = project.start(args);
    running.process.stdout!.destroy();
    expect((await running.finished).stderr).toBe("");
  });
});

describe("a migration file", () => {
  test("that leaves a timer behind does not keep the process", async () => {
    const project = aProject("own");
    project.write(
      "migrations/0001_documents.ts",
      `import * as m from "lance-migrate";\nsetInterval(() => {}, 1000);\nexport const up = [${documents}];\n`,
    );
    const running = project.start(["up"]);
    onTestFinished(() => void running.process.kill("SIGKILL"));
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  const esm = `import * as m from "lance-migrate";\nexport const up = [${documents}];\n`;
  const commonJs = `const m = require("lance-migrate");\nexports.up = [${documents}];\n`;

  test.each([
    { name: "0001_documents.ts", type: "no type", package: "{}", text: esm },
    { name: "0001_documents.js", type: "the type commonjs", package: `{ "type": "commonjs" }`, text: commonJs },
    { name: "0001_documents.mts", type: "the type commonjs", package: `{ "type": "commonjs" }`, text: esm },
  ])("$name in a project of $type runs, and Node says nothing about it", async ({ name, package: json, text }) => {
    const project = aProject("own");
    project.write("package.json", json);
    project.write(`migrations/${name}`, text);
    expect(await project.migrate(["up", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("may use names that every object has, and letters of all languages", async () => {
    const project = await applied([
      "0001_names.ts",
      `m.createTable("__proto__", { ["__proto__"]: m.int32(), "größe 😀": m.int32(), constructor: m.utf8() }),
      m.createTable("constructor", { toString: m.int32() }),
      m.renameColumn("__proto__", "größe 😀", "サイズ"),
      m.renameColumn("constructor", "toString", "valueOf")`,
    ]);
    expect(await columnsOf(project.database, "__proto__")).toEqual([
      "__proto__: int32",
      "サイズ: int32",
      "constructor: utf8",
    ]);
    expect(await columnsOf(project.database, "constructor")).toEqual(["valueOf: int32"]);
    expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
  });
});
