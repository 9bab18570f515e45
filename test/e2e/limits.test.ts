/** Nothing is waited for without end: each limit, its flag or setting, and how a command ends that meets it. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import { isLong } from "../support/rounds.ts";
import { aProxy, type Fate } from "../support/proxy.ts";
import { aService, apiKey } from "../support/service.ts";
import { manyProjects } from "./support/many-projects.ts";
import { onStderr } from "../support/project.ts";

vi.setConfig({ maxConcurrency: 3 });

const { project } = manyProjects("own");
const { project: inSharedProcess } = manyProjects();
/** All commands meet these limits in the same code; for each commit one that reads and one that writes do. */
const ofEachCommit = (...commands: readonly string[]) => (isLong ? commands : commands.slice(0, 2));
const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`;
const files = { "migrations/0001_documents.ts": module(`[m.createTable("documents", { id: m.int32() })]`) };
const config = (text: string) => ({ ...files, "migrate.config.ts": `export default ${text};\n` });

/** Takes every connection and never says a word. */
const silent = createServer((socket) => void socket.on("error", () => {}).resume());
await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
const nobody = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
afterAll(() => void silent.close());

const credentials = { region: "us-east-1", allow_http: "true", aws_access_key_id: "AKIA", aws_secret_access_key: "x" };
const store = (more: object = {}) =>
  JSON.stringify({ kind: "lance", uri: "s3://b/t", storageOptions: { ...credentials, endpoint: nobody }, ...more });
const service = (more: object = {}) => JSON.stringify({ kind: "rest", endpoint: nobody, apiKey: "a-key", ...more });
const targets = (target: string) => config(`{ targets: { cloud: ${target} } }`);
const proxyless = { MIGRATE_API_KEY: "", http_proxy: "", HTTP_PROXY: "" };
/** Keeps the process alive, as an open socket or a watcher would. */
const endless = "setInterval(() => {}, 1000); await new Promise(() => {});\n";

interface Limit {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}

/** A process of its own shows that nothing keeps it alive; what is refused at once has nothing that could. */
const limits: readonly Limit[] = [
  ...ofEachCommit("status", "up", "plan", "history", "doctor").map((command) => ({
    title: `an object store that never answers, ${command}`,
    files: targets(store({ answerSeconds: 0.5 })),
    args: [command],
    code: 6,
    says: /^target cloud can't be reached: the object store gave no answer within 0\.5 s$/m,
  })),
  ...ofEachCommit("status", "up", "up --dry-run", "plan", "history").map((command) => ({
    title: `--timeout before an object store that never answers, ${command}`,
    files: targets(store()),
    args: [...command.split(" "), "--timeout", "0.5"],
    code: 130,
    says: /^not done within 0\.5 s \(--timeout\); this run changed no table; run it again$/m,
  })),
  {
    title: "--timeout before a service that never answers",
    files: targets(service()),
    args: ["up", "--timeout", "0.5"],
    code: 130,
    says: /^not done within 0\.5 s/m,
  },
  {
    title: "answerSeconds of a service that never answers",
    files: targets(service({ answerSeconds: 0.2 })),
    args: ["up"],
    code: 6,
    says: /gave no whole answer within 0\.2 s/,
  },
  {
    title: "a configuration that never ends",
    files: { ...config("{}"), "migrate.config.ts": `${endless}export default {};\n` },
    args: ["status", "--load-timeout", "0.5"],
    code: 2,
    says: /^migrate\.config\.ts can't be loaded: it was not evaluated within 0\.5 s \(--load-timeout\)/m,
  },
  {
    title: "a migration that never ends",
    files: { "migrations/0001_documents.ts": `${endless}${module("[]")}` },
    args: ["up", "--load-timeout", "0.5"],
    code: 4,
    says: /^0001_documents\.ts can't be loaded: it was not evaluated within 0\.5 s \(--load-timeout\)$/m,
  },
  {
    title: "--timeout before a migration that never ends",
    files: { "migrations/0001_documents.ts": `${endless}${module("[]")}` },
    args: ["up", "--timeout", "0.5"],
    code: 130,
    says: /^not done within 0\.5 s/m,
  },
];

const refused: readonly Limit[] = [
  {
    title: "a timeout that is none",
    files,
    args: ["status", "--timeout", "soon"],
    code: 2,
    says: /^--timeout must be a number of seconds from 0\.1 to 86400 \(a day\)$/m,
  },
  { title: "two leases", files, args: ["up", "--lease", "1", "--lease", "2"], code: 2, says: /--lease is given twice/ },
];

describe("a limit ends the command in words", () => {
  test.concurrent.each(limits)("$title", async ({ files, args, code, says }) => {
    const finished = await project(files).migrate(args, proxyless);
    expect(finished).toMatchObject({ code, stderr: expect.stringMatching(says) });
  });
});

/** Asks nobody, until the signal comes. */
async function interruptedBefore(command: string, signal: "SIGINT" | "SIGTERM") {
  const asked = once(silent, "connection");
  const running = project(targets(service())).start(command.split(" "), proxyless);
  await asked;
  running.process.kill(signal);
  return await running.finished;
}

describe("a command before a service that never answers", () => {
  test.each(ofEachCommit("status", "up", "plan", "history", "verify", "repair --yes", "doctor"))(
    "is ended by Ctrl-C, %s",
    async (command) => {
      const { code, stdout, stderr } = await interruptedBefore(command, "SIGINT");
      expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
      expect(stderr).toMatch(
        /; interrupt again to stop at once\ninterrupted; this run changed no table; run it again\n$/,
      );
    },
  );

  test("is ended by SIGTERM too", async () => {
    expect(await interruptedBefore("status", "SIGTERM")).toMatchObject({ code: 130 });
  });
});

test.each(refused)("$title is refused", async ({ files, args, code, says }) => {
  const finished = await inSharedProcess(files).migrate(args, proxyless);
  expect(finished).toMatchObject({ code, stderr: expect.stringMatching(says) });
});

describe("a run that has just asked for the lease", () => {
  test("gives it back although answers come late", async () => {
    const { url } = await aService();
    const proxy = await aProxy(url);
    const where = inSharedProcess(
      targets(JSON.stringify({ kind: "rest", endpoint: proxy.url, dialect: "namespace", apiKey })),
    );
    const running = where.start(["up"], proxyless);
    let asked = false;
    proxy.fate = async (_, __, body): Promise<Fate> => {
      if (body.includes("taken")) asked = true;
      else if (asked) {
        proxy.fate = () => "passes";
        running.process.kill("SIGINT");
        // Longer than a command with nothing under way is given.
        await pause(3_000);
      }
      return "passes";
    };
    expect(await running.finished).toMatchObject({ code: 130, stderr: expect.stringMatching(/^interrupted; /m) });
    const history = await where.migrate(["history", "--json"], proxyless);
    expect(JSON.parse(history.stdout).records.at(-1)).toMatchObject({ event: "released" });
  });
});

test("a run whose time is over and that is told to end once more still ends at its safe point", async () => {
  /** A run whose time ends during its one action, if it has got there. */
  const ranFor = async (seconds: number) => {
    const proxy = await aProxy((await aService()).url);
    const where = inSharedProcess(
      targets(JSON.stringify({ kind: "rest", endpoint: proxy.url, dialect: "namespace", apiKey })),
    );
    const running = where.start(["up", "--timeout", String(seconds)], proxyless);
    let isThere = false;
    proxy.fate = async (_, path): Promise<Fate> => {
      if (path.includes("documents/create")) {
        isThere = true;
        proxy.fate = () => "passes";
        await pause(seconds * 1_000);
        running.process.kill("SIGTERM");
        await pause(1_000);
      }
      return "passes";
    };
    return { where, finished: await running.finished, isThere };
  };
  // A slow machine needs more time to get there.
  let seconds = 3;
  let ran = await ranFor(seconds);
  while (!ran.isThere) ran = await ranFor((seconds *= 4));
  const { where, finished } = ran;
  // Its one action was the last.
  expect(finished).toMatchObject(onStderr(0, "interrupt again to stop at once"));
  const history = await where.migrate(["history", "--json"], proxyless);
  expect(JSON.parse(history.stdout).records.at(-1)).toMatchObject({ event: "released" });
});

test("within its time a run is done as without", async () => {
  const where = inSharedProcess(files);
  expect(await where.migrate(["up", "--timeout", "60", "--load-timeout", "60", "--quiet"])).toMatchObject({ code: 0 });
  expect((await where.migrate(["up", "--timeout", "60"])).stdout).toBe("nothing to do\n");
});

test("a run whose time is over stops at a safe point, and the next one goes on", async () => {
  const slow = (number: number) =>
    [`migrations/000${number}_t.ts`, module(`[m.createTable("t${number}", { id: m.int32() })]`)] as const;
  // The time ends while the plan is made.
  const where = inSharedProcess({
    ...Object.fromEntries([1, 2, 3].map(slow)),
    "migrations/0004_t.ts": `await new Promise((done) => setTimeout(done, 1500));\n${module(`[m.createTable("t4", { id: m.int32() })]`)}`,
  });
  const first = await where.migrate(["up", "--timeout", "1"]);
  expect(first).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/^not done within 1 s \(--timeout\); .*; run it again$/m),
  });
  expect(await where.migrate(["up", "--quiet"])).toMatchObject({ code: 0 });
  expect((await where.migrate(["status", "--check"])).code).toBe(0);
});

test.each(["up", "down --to 0"])("--lease is what the ledger records about the run, %s", async (command) => {
  const where = inSharedProcess(files);
  if (command !== "up") await where.migrate(["up"]);
  expect(await where.migrate([...command.split(" "), "--lease", "7"])).toMatchObject({ code: 0 });
  const { records } = JSON.parse((await where.migrate(["history", "--json"])).stdout) as {
    records: readonly { event: string; lease?: number }[];
  };
  expect(records.findLast(({ event }) => event === "taken")?.lease).toBe(7000);
});

test("an object store without credentials says how to give them", async () => {
  const target = `{ kind: "lance", uri: "s3://b/t", storageOptions: { region: "us-east-1", endpoint: "${nobody}" } }`;
  const given = Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (name.startsWith("AWS_") ? [[name, ""]] : [])),
  );
  const none = { AWS_EC2_METADATA_DISABLED: "true", AWS_CONFIG_FILE: "none", AWS_SHARED_CREDENTIALS_FILE: "none" };
  expect(await inSharedProcess(targets(target)).migrate(["status"], { ...given, ...none })).toMatchObject({
    code: 6,
    stderr:
      "target cloud can't be reached: no AWS credentials were found; set aws_access_key_id and aws_secret_access_key in storageOptions, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n",
  });
});

test("a service ends when its time is over", async () => {
  const where = project(files);
  const args = ["serve", "--data", "t", "--port", "0", "--timeout", "1"];
  expect(await where.migrate(args, { MIGRATE_API_KEY: "a-key-of-limits" })).toMatchObject({ code: 0 });
});
