/** The image of the command on a real container engine: a project without packages of its own, a user without rights, signals. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/project.ts";
import * as engine from "./engine.ts";

/** Files, in a folder that the user of the image may write. */
function aFolder(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "migrations"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  for (const path of [folder, join(folder, "migrations")]) chmodSync(path, 0o777);
  return folder;
}

const config = `import { defineConfig } from "lance-migrate";
export default defineConfig({ targets: { local: { kind: "lance", uri: ".lancedb" } } });
`;
const created = `import { createTable, int32 } from "lance-migrate";
export const up = [createTable("documents", { id: int32() })];
`;

async function ran(folder: string, ...args: readonly string[]) {
  const container = await engine.command(folder, ...args);
  return { code: await container.code(), said: await container.said() };
}

describe.skipIf(lacks("containers", await engine.whyNoEngine()))("the image of the command", () => {
  beforeAll(async () => await engine.buildImage("command"));
  afterAll(engine.cleanUp);

  test("applies the migrations of a project that has installed nothing, without being root", async () => {
    const folder = aFolder({ "migrate.config.ts": config, "migrations/0001_documents.ts": created });
    expect(await ran(folder, "up")).toMatchObject({
      code: 0,
      said: expect.stringContaining("1 migration applied") as string,
    });
    expect(readdirSync(join(folder, ".lancedb"))).toContain("documents.lance");
    expect(statSync(join(folder, ".lancedb")).uid).toBe(1000);
    expect(await ran(folder)).toMatchObject({ code: 0, said: expect.stringContaining("migrate up") as string });
    expect(await ran(folder, "up", "--no-such-flag")).toMatchObject({ code: 2 });
  });

  test("stops at a safe point when it is asked to, and leaves no lease", async () => {
    // The hook waits until it is asked to stop, as a long migration would.
    const waits = `import { defineConfig } from "lance-migrate";
import { existsSync, writeFileSync } from "node:fs";
export default defineConfig({
  targets: { local: { kind: "lance", uri: ".lancedb" } },
  hooks: {
    async afterMigration({ version, signal }) {
      if (version !== 1) return;
      writeFileSync("waits", "");
      const open = setInterval(() => {}, 1000);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      clearInterval(open);
    },
  },
});
`;
    const second = `import { addColumn, utf8 } from "lance-migrate";
export const up = [addColumn("documents", "title", utf8())];
`;
    const files = { "migrations/0001_documents.ts": created, "migrations/0002_title.ts": second };
    const folder = aFolder({ "migrate.config.ts": waits, ...files });
    const container = await engine.command(folder, "up");
    await expect.poll(() => existsSync(join(folder, "waits")), { interval: 100 }).toBe(true);
    await container.stop();
    expect(await container.said()).toContain("stopping at the next safe point");
    expect(await container.code()).toBe(130);
    const status = await ran(folder, "status", "--check");
    expect(status).toMatchObject({ code: 3, said: expect.stringMatching(/0001_documents[^]*0002_title/) as string });
    expect(status.said).not.toContain("lease");
    writeFileSync(join(folder, "migrate.config.ts"), config);
    expect(await ran(folder, "up", "--wait", "0")).toMatchObject({ code: 0 });
  });
});
