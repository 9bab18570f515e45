/** Whatever goes wrong, no secret gets into output, logs, titles of processes, files, tables or errors. */
import { createServer, request as ask } from "node:http";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandNames } from "../../src/main/commands/registry.ts";
import { listen } from "../rest/servers.ts";
import { filesIn, formsOf, leaksIn, echoOf, rowsIn, trickyKey } from "../support/secrets.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import { startIn } from "../service/served.ts";
import {
  configured,
  crashes,
  failing,
  migrations,
  plainKey,
  proxied,
  settings,
  stores,
  type Scene,
} from "./support/secret-scenes.ts";
import { watchedFolders, type Shown, type Watched } from "./support/watched.ts";

vi.setConfig({ maxConcurrency: 5 });

/** How each command is called here, so that it gets as far as it can. */
const invocations: Readonly<Record<string, readonly string[]>> = {
  up: ["--wait", "0"],
  push: ["--dry-run", "--wait", "0"],
  down: ["--wait", "0"],
  status: ["--check"],
  plan: ["--to", "2"],
  prepare: ["--wait", "0"],
  rehearse: ["--rows", "5"],
  inspect: [],
  diff: ["0001", "0002"],
  history: [],
  blame: ["documents"],
  verify: [],
  repair: ["--wait", "0"],
  resolve: ["--reverted", "1", "--wait", "0"],
  prune: ["--yes"],
  lint: ["--sarif", "lint.sarif"],
  init: ["--yes"],
  new: ["add_column", "--add-column", "documents.n:int32"],
  build: [],
  types: ["--out", "db.ts"],
  contract: ["--application", "a", "--release", "1"],
  generate: ["third", "--drop-column", "documents.n"],
  rebase: ["--onto", "main"],
  squash: ["--to", "2", "--dry-run"],
  pull: ["--except", "_other"],
  baseline: ["--wait", "0"],
  serve: ["--data", "served", "--port", "0"],
  doctor: [],
  report: ["--out", "report.html", "--recall"],
  reset: ["--yes"],
};
const ways = [[], ["--json"], ["--verbose"], ["--quiet"]] as const;
/** In this order, each finds what those before it have left. */
const names = Object.keys(invocations);
/** One prints nothing that comes from outside, and the other runs commands that are called here. */
const uncalled = new Set(["completion", "dev"]);

const folder = watchedFolders();

/** Runs a command where a scene is set, in one of the ways to say more or less. */
async function play(where: Watched, { env, secrets }: Scene, name: string, way: readonly string[]): Promise<Shown> {
  // A key that is typed can be read by everybody on the machine until the process hides it.
  const typed = name === "serve" && env["MIGRATE_API_KEY"] === undefined ? ["--api-key", secrets[0]!] : [];
  const args = name === "library" ? [] : [name, ...invocations[name]!, ...typed, ...way];
  return await where.run(name, args, env);
}

const leaks = ({ texts }: Pick<Shown, "texts">, secrets: readonly string[]) =>
  texts.flatMap(([where, text]) => leaksIn(text, secrets).map((leak) => `${where}: ${leak}`));

/** Whoever calls: each command, and a program that uses the library. */
const callers = [...names, "library"];
const waysOfEach = rounds(1, 4);
/** How many of them a scene has on average. */
const perScene = (callers.length * waysOfEach) / settings.length;

/** Which of them a scene has, and in which way: all settings together have each in so many ways. */
function castOf(turn: number, size = perScene): readonly (readonly [name: string, way: readonly string[]])[] {
  const firstOf = (turn: number) => Math.round(turn * size);
  return Array.from({ length: firstOf(turn + 1) - firstOf(turn) }, (_, index) => {
    const at = firstOf(turn) + index;
    const [caller, turnOfAll] = [at % callers.length, Math.floor(at / callers.length)];
    return [callers[caller]!, ways[(caller + turnOfAll) % ways.length]!];
  });
}

async function showsNothing(scene: Scene, turn: number, size?: number): Promise<void> {
  const where = folder(scene.files);
  for (const [name, way] of castOf(turn, size)) {
    if (name === "library" && scene.printed === true) continue;
    const shown = await play(where, scene, name, way);
    expect({ [`${name} ${way.join("")}`]: leaks(shown, scene.secrets) }).toEqual({ [`${name} ${way.join("")}`]: [] });
  }
  expect(leaks({ texts: await where.left() }, scene.secrets)).toEqual([]);
}

test("every command is called", () => {
  const unsaid = commandNames.flatMap((name) =>
    invocations[name] === undefined && !uncalled.has(name)
      ? [`say in invocations how ${name} is called, so that it is searched too`]
      : [],
  );
  expect(unsaid).toEqual([]);
  expect(Object.keys(invocations).filter((name) => !commandNames.includes(name))).toEqual([]);
  const called = settings.flatMap((_, turn) => castOf(turn));
  const waysOf = (caller: string) => new Set(called.flatMap(([name, way]) => (name === caller ? [way] : []))).size;
  expect(callers.filter((caller) => waysOf(caller) < waysOfEach)).toEqual([]);
});

test("the search finds a secret in each of its forms", () => {
  for (const form of formsOf(trickyKey)) expect(leaksIn(`a ${form} b`, [trickyKey])).not.toEqual([]);
  expect(leaksIn(Buffer.from(`user:${trickyKey}@x`).toString("base64"), [trickyKey])).not.toEqual([]);
  expect(leaksIn("sk-5e*** and nothing else", [trickyKey])).toEqual([]);
});

/** In TypeScript, commands also type-check what they write, which takes most of their time, and prints no values. */
const languages = isLong ? ["js", "ts"] : ["js"];

test.each(languages)("where nothing is wrong, every command gets as far as it can, in %s", async (language) => {
  const files = Object.entries(configured(`{ kind: "lance", uri: ".lancedb" }`));
  const where = folder(Object.fromEntries(files.map(([name, text]) => [name.replace(/ts$/, language), text])));
  const scene: Scene = {
    title: "",
    files: {},
    env: { MIGRATE_API_KEY: trickyKey, KNOCK: trickyKey },
    secrets: [trickyKey],
  };
  // In this order each can run after those before it.
  for (const name of Object.keys(invocations)) {
    const shown = await play(where, scene, name, []);
    // What `down` rolled back is pending, `resolve` asks first, there are migrations and a schema.ts already, and no git.
    const code = { status: 3, resolve: 4, pull: 4, baseline: 4, rebase: 2 }[name] ?? 0;
    expect({ [name]: shown.code, leaks: leaks(shown, scene.secrets) }).toEqual({ [name]: code, leaks: [] });
  }
  expect(leaks({ texts: await where.left() }, scene.secrets)).toEqual([]);
});

test("a key that is typed is in no title of a process once it speaks", async () => {
  const where = folder(migrations);
  for (const typed of [["--api-key", plainKey], [`--api-key=${plainKey}`]]) {
    const { code, texts } = await where.run("serve", ["serve", "--data", "served", "--port", "0", ...typed], {
      KNOCK: plainKey,
    });
    expect(code).toBe(0);
    expect(texts.find(([name]) => name === "title")?.[1]).toMatch(process.platform === "linux" ? /^migrate/ : /^$/);
    expect(leaks({ texts }, [plainKey])).toEqual([]);
  }
  const mistakes = [["--api-key", plainKey], [`--apikey=${plainKey}`], ["--api-key"], ["--", "--api-key", plainKey]];
  // All commands have their arguments read by the same code, so for each commit one tries each of these.
  const tried = isLong ? names : names.slice(0, mistakes.length);
  for (const [at, name] of tried.entries())
    for (const typed of isLong ? mistakes : [mistakes[at % mistakes.length]!]) {
      const shown = await where.run(name, [name, ...invocations[name]!, ...typed, "extra"], {});
      expect(leaks(shown, [plainKey])).toEqual([]);
    }
});

describe("no secret is shown with", () => {
  // What is shown is cleaned in one place: for each commit a quarter of the ways in which a secret gets there.
  const some = (scenes: readonly Scene[]) =>
    ofThisCommit(
      scenes.map((scene, turn) => ({ ...scene, turn })),
      4,
    );
  test.concurrent.each(some(settings))("$title", async ({ turn, ...scene }) => showsNothing(scene, turn));
  test.concurrent.each(some(crashes))("$title", async ({ turn, ...scene }) =>
    showsNothing(scene, turn, rounds(1, 2) * perScene),
  );
});

describe("no secret is shown by", () => {
  test.concurrent.each([
    ["servers that fail", failing],
    ["proxies", proxied],
    ["object stores", stores],
  ] as const)("%s", async (_, scenes) => {
    // Whatever they answer is cleaned in one place: for each commit a quarter of the answers.
    const all = (await scenes()).map((scene, turn) => () => showsNothing(scene, turn));
    await Promise.all(ofThisCommit(all, 4).map((shows) => shows()));
  });
});

test.each([
  [
    "syntax error",
    "migrate.config.ts",
    `export default { targets: { a: { kind: "rest", apiKey: "${plainKey}", endpoint: } } };`,
  ],
  ["enum", "migrate.config.ts", `enum A { x = "${plainKey}" }\nexport default {};`],
  ["syntax error", "migrate.config.js", `export default { apiKey: "${plainKey}" "" };`],
  ["syntax error", "migrations/0001_documents.ts", `const key = "${plainKey}" "";\nexport const up = [];`],
])("the line of the %s in %s is shown to nobody", async (_what, file, text) => {
  const { "migrate.config.ts": _, ...files } = configured(`{ kind: "lance", uri: ".lancedb" }`);
  const where = folder({ ...files, [file]: text });
  // All that an error holds, and what the command makes of it; commands load every kind of file by the same code.
  const command = ["lint", ["lint", "--verbose"]] as const;
  for (const [name, args] of [
    ["library", []] as const,
    ...(isLong || file.startsWith("migrations") ? [command] : []),
  ]) {
    const shown = await where.run(name, args, {});
    expect({ [name]: leaks(shown, [plainKey]) }).toEqual({ [name]: [] });
    expect(shown.texts.map(([, text]) => text).join("")).toMatch(/can't be loaded/);
  }
});

/** A gateway before a service: it answers every change with what it was sent, and lets everything else pass. */
async function gateway(service: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    // The first run checks the service on a table of its own.
    if (incoming.url!.includes("alter_columns") && !incoming.url!.includes("_migrations")) {
      incoming
        .resume()
        .on("end", () => outgoing.writeHead(400).end(JSON.stringify({ error: `no ${echoOf(trickyKey)}` })));
      return;
    }
    const { method, headers, url } = incoming;
    const onward = ask(`${service}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

test.each(["service", "namespace"])("no secret gets into a ledger in the dialect %s", async (dialect) => {
  const where = folder(migrations);
  const data = join(where.folder, "tables");
  const { service, log } = await startIn(data, { apiKey: trickyKey });
  try {
    const endpoint = await gateway(service.url);
    const own = folder(configured(`{ kind: "rest", endpoint: "${endpoint}", dialect: "${dialect}" }`));
    const env = { MIGRATE_API_KEY: trickyKey };
    const shown = await own.run("up", ["up", "--verbose", "--step-by-step"], env);
    expect(shown.code).toBe(1);
    const history = await own.run("history", ["history", "--json"], env);
    expect(leaks({ texts: [...shown.texts, ...history.texts, ["log", log.join("\n")]] }, [trickyKey])).toEqual([]);
    // The refusal is there, with what it said, and the key is not.
    const rows = await rowsIn(data);
    expect(rows).toMatch(/0002_headlines\.ts, step 1.*failed: no \*\*\*/);
    expect(leaks({ texts: [["rows", rows], ...filesIn(data, new Map())] }, [trickyKey])).toEqual([]);
  } finally {
    await service.close();
  }
});
