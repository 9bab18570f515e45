/** The same helper for Python (`python/lance_migrate_app.py`): many threads save while `up` and `down` switch the column. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { lacks } from "../support/needs.ts";
import { rounds } from "../support/rounds.ts";
import { aScene, documentsIn, embedded, newModel, oldModel } from "./scene.ts";

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

interface Said {
  readonly titles: readonly (readonly [id: number, title: string | null])[];
  readonly problems: readonly string[];
  readonly model: string | null;
}

/** No compiled modules come into the package. Those of the clients, which their installation has made, are used. */
function environment() {
  return { ...process.env, LANCE_LOG: "error", PYTHONDONTWRITEBYTECODE: "1" };
}

function startApplication(folder: string, first: number) {
  const python = pythonWith(...officialPackages);
  const child = spawn(python, [script("writers.py"), folder, String(first), String(rounds(12, 20))], {
    stdio: ["pipe", "pipe", "inherit"],
    env: environment(),
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return {
    ready: once(output, "line"),
    ring: () => void child.stdin.write("\n"),
    async end(): Promise<Said> {
      const closed = once(output, "close");
      child.stdin.end();
      await closed;
      return JSON.parse(lines.at(-1)!) as Said;
    },
  };
}

test.skipIf(lacks("python"))(
  "threads save in Python while the model changes and is rolled back: each vector is that of its text, and no save is lost",
  async () => {
    const { chance } = drawnChance();
    let application: ReturnType<typeof startApplication>;
    const beforeSwitch = async () => {
      application.ring();
      await sleep(chance.below(100));
    };
    const titles = Array.from({ length: 200 }, (_, id) => `title ${id}`);
    const { folder, options, pend } = await aScene(titles, beforeSwitch);
    const during = async (first: number, migrate: () => Promise<unknown>, model: string) => {
      application = startApplication(folder, first);
      await application.ready;
      await migrate();
      const said = await application.end();
      expect(said).toMatchObject({ problems: [], model: model === oldModel ? null : model });
      const documents = await documentsIn(folder);
      expect(documents).toEqual(embedded(documents, model));
      const found = new Map(documents.map(({ id, title }) => [id, title]));
      expect(found.size).toBe(documents.length);
      expect(said.titles.length).toBeGreaterThan(20);
      expect(said.titles.filter(([id, title]) => (found.get(id) ?? null) !== title)).toEqual([]);
    };
    pend();
    await during(100_000, async () => await up(options), newModel);
    await during(200_000, async () => await down(options), oldModel);
  },
);

test.skipIf(lacks("python"))("the cases in save_cases.py hold", () => {
  const python = pythonWith(...officialPackages);
  const { stdout, status } = spawnSync(
    python,
    ["-m", "pytest", "-q", "-p", "no:cacheprovider", script("save_cases.py")],
    {
      encoding: "utf8",
      env: environment(),
    },
  );
  expect(status, stdout).toBe(0);
});
