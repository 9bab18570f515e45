/** The built command with a table service as its target: exit codes, one sentence on stderr, and never the key. */
import { describe, expect, test, vi } from "vitest";
import type { Finished } from "../support/project.ts";
import { manyProjects, type SmallProject } from "../e2e/support/many-projects.ts";
import { answers, html, text, type Bad } from "./bad-answers.ts";
import {
  anAuthority,
  echo,
  key,
  keysIn,
  serve,
  serveProxy,
  serveSockets,
  type Answering,
  type Served,
} from "./servers.ts";
import { isLong } from "../support/rounds.ts";
import { freePort } from "../support/ports.ts";

const { project } = manyProjects();

// The client tries again, and waits before it does.
vi.setConfig({ maxConcurrency: 4 });

const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`;
const documents = `m.createTable("documents", {
  id: m.int32().notNull(),
  title: m.utf8(),
  at: m.timestamp("ns"),
  source: m.struct({ url: m.utf8(), fetched: m.utf8() }),
})`;
const migrations = {
  "migrations/0001_documents.ts": module(`[${documents}]`),
  "migrations/0002_headlines.ts": module(`[m.renameColumn("documents", "title", "headline")]`),
};
const configuration = (target: string) => ({
  ...migrations,
  "migrate.config.ts": `export default { leaseSeconds: 2, targets: { cloud: ${target} } };\n`,
});
/** A target of these settings, its key in the configuration. */
const cloud = (settings: object) => configuration(JSON.stringify({ kind: "rest", apiKey: key, ...settings }));

const plainEnvironment = {
  http_proxy: "",
  https_proxy: "",
  no_proxy: "",
  HTTP_PROXY: "",
  HTTPS_PROXY: "",
  NO_PROXY: "",
  MIGRATE_ENDPOINT: "",
  MIGRATE_API_KEY: "",
  MIGRATE_DATABASE: "",
};

interface Run {
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs the command, and finds one sentence and no key. */
async function expectRefused(where: SmallProject, { args, code, says, env = {} }: Run): Promise<void> {
  const finished = await where.migrate(args, { ...plainEnvironment, ...env });
  expectNoKey(finished);
  const { stdout, stderr } = finished;
  const [sentence = "", ...others] = stderr.trimEnd().split("\n");
  expect(sentence).toMatch(says);
  expect(sentence).not.toMatch(/undefined|\[object|internal error|Error:|: *;|: *$|\bat file:|node:internal| {2}/);
  expect(sentence.length).toBeLessThan(900);
  expect({ code: finished.code }).toEqual({ code });
  if (!args.includes("--verbose")) expect(others).toEqual([]);
  if (!args.includes("--json")) expect(stdout).toBe("");
  else {
    expect(stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(stdout)).toEqual({
      event: "error",
      code: expect.stringMatching(/^ERR_[A-Z_]+$/),
      message: sentence,
    });
  }
}

function expectNoKey({ stdout, stderr }: Finished): void {
  expect(keysIn(stdout)).toEqual([]);
  expect(keysIn(stderr)).toEqual([]);
}

/** Each command with each way to say more. */
const commands = [
  ["up"],
  ["status", "--json"],
  ["plan", "--verbose"],
  ["history"],
  ["up", "--json", "--verbose"],
  ["status", "--verbose"],
  ["plan", "--json"],
  ["history", "--json", "--verbose"],
] as const;

/** The cases take turns with the commands: all of them would be the same code again and again. */
const inTurn = <Case>(cases: readonly Case[]) =>
  cases.map((one, turn) => ({ ...one, args: commands[turn % commands.length]! }));

/** Beside those that the client is held against, what only shows in a sentence. */
const more: readonly Pick<Bad, "title" | "answer" | "says" | "given">[] = [
  {
    title: "403 without a word",
    answer: text(403, ""),
    says: /refuses the credentials for .* \(403\): no message; its key must be allowed/,
  },
  {
    title: "an error in the escapes of PHP, Go and .NET",
    answer: (response) =>
      response.writeHead(400).end(
        `{"error":"unknown key ${JSON.stringify(key)
          .slice(1, -1)
          .replaceAll("/", "\\/")
          .replace(/[<>&+=]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}"}`,
      ),
    says: /with 400: unknown key /,
  },
];

/** The client itself is held against all answers in bad-answers.test.ts, so for each commit a third shows their sentences. */
const answered = [...more, ...answers.filter((_, at) => isLong || at % 3 === 0)];

describe.concurrent("a service that answers", () => {
  test.each(inTurn(answered))("$title ends with 6", async ({ args, answer, says, given }) => {
    const { url } = await serve(answer);
    const where = project(cloud({ endpoint: url, ...given }));
    await expectRefused(where, { args, code: 6, says });
  });

  test("no HTTP at all ends with 6", async () => {
    const { url } = await serveSockets((socket) => socket.end(`SSH-2.0-OpenSSH ${echo}\r\n`));
    const where = project(cloud({ endpoint: url }));
    const says = /^target cloud can't be reached: /;
    await Promise.all(commands.map(async (args) => expectRefused(where, { args, code: 6, says })));
  });

  test("in the dialect namespace with a 200 that is no ledger does not end well", async () => {
    for (const body of ["", "<html>", "<html><body>Welcome</body></html>", "{}"]) {
      const { url } = await serve((response, { method, path }) =>
        response
          .writeHead(200)
          .end(method === "GET" ? '{"tables":["_migrations"]}' : path.includes("count_rows") ? "0" : body),
      );
      const where = project(cloud({ endpoint: url, dialect: "namespace" }));
      for (const args of [["status"], ["plan"], ["history"], ["up"]])
        await expectRefused(where, { args, code: 6, says: /^target cloud answered POST .* with 200: that is no / });
    }
  });
});

interface BadPlace {
  readonly title: string;
  readonly endpoint: () => Promise<string>;
  readonly says: RegExp;
  readonly env?: () => Promise<Record<string, string>>;
}

const authority = anAuthority();
const list: Answering = (response) => response.end("[]");

const badPlaces: readonly BadPlace[] = [
  {
    title: "no port",
    endpoint: async () => `http://127.0.0.1:${await freePort()}`,
    says: /nothing listens at 127\.0\.0\.1:\d+; check/,
  },
  {
    title: "a certificate of an own authority",
    endpoint: async () => (await serve(list, authority.sign("IP:127.0.0.1"))).url,
    says: /the certificate of 127\.0\.0\.1:\d+ is not trusted \([A-Z_]+\); if it is your own, name its authority in "ca"$/,
  },
  {
    title: "a proxy that does not listen",
    endpoint: async () => (await serve(list)).url,
    env: async () => ({ http_proxy: `http://user:${encodeURIComponent(key)}@127.0.0.1:${await freePort()}` }),
    says: /^target cloud can't be reached: .*proxy/i,
  },
];

describe.concurrent("a service behind", () => {
  test.each(inTurn(badPlaces))("$title ends with 6", async ({ args, endpoint, says, env }) => {
    const where = project(cloud({ endpoint: await endpoint() }));
    await expectRefused(where, { args, code: 6, says, env: await env?.() });
  });
});

interface BadSettings {
  readonly title: string;
  /** As TypeScript. */
  readonly target: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const quoted = JSON.stringify(key);
const encoded = encodeURIComponent(key);
const withKey = (value: string) => `{ kind: "rest", endpoint: "http://127.0.0.1:9", apiKey: ${JSON.stringify(value)} }`;
const withMore = (more: string) => `{ kind: "rest", endpoint: "http://127.0.0.1:9", apiKey: ${quoted}, ${more} }`;

/** What is refused, and that no sentence has a key, is shown in options.test.ts; here that the command prints that. */
const badSettings: readonly BadSettings[] = [
  {
    title: "an endpoint in the environment with the key",
    target: `{ kind: "rest", apiKey: ${quoted} }`,
    env: { MIGRATE_ENDPOINT: `ftp://${key}` },
    says: /^target cloud: endpoint must /,
  },
  {
    title: "a key with another header in it",
    target: withKey(`${key}\r\nx-admin: 1`),
    says: /apiKey must be a key of plain/,
  },
  {
    title: "the key in a header's name",
    target: withMore(`headers: { ${JSON.stringify(`x-api-key: ${key}`)}: "" }`),
    says: /headers/,
  },
  {
    title: "a syntax error beside the key",
    target: `{ kind: "rest", apiKey: ${quoted}, endpoint: `,
    says: /migrate\.config\.ts can't be loaded/,
  },
];

describe("settings with", () => {
  test.each(inTurn(badSettings))("$title end with 2", async ({ args, target, env, says }) => {
    const where = project(configuration(target));
    const before = where.tree();
    await expectRefused(where, { args, code: 2, says, env });
    expect(where.tree()).toEqual(before);
  });
});

/** A service of the three documented endpoints that keeps the names of tables. */
interface Service extends Served {
  readonly tables: Set<string>;
}

const success: Answering = (response) => response.end("{}");

async function aService({ alter = success, create = success, there = [] as readonly string[] } = {}): Promise<Service> {
  // It has a ledger: a first run would check more than this service can do.
  const tables = new Set(["_migrations.e1", "_migrations.e1.1.released.w1", ...there]);
  const served = await serve((response, request, turn) => {
    const { method, path } = request;
    const name = decodeURIComponent(path.split("/")[3] ?? "");
    if (request.headers["x-api-key"] !== key) return void response.writeHead(401).end("no");
    if (method === "GET" && path === "/v1/tables") return void response.end(JSON.stringify([...tables].toSorted()));
    if (path.endsWith("/alter_columns")) return alter(response, request, turn);
    if (tables.has(name)) return void response.writeHead(400).end(`table ${name} already exists`);
    if (!name.startsWith("_migrations") && create !== success) return create(response, request, turn);
    tables.add(name);
    response.end();
  });
  return { ...served, tables };
}

const succeed = async (where: SmallProject, args: readonly string[], env: Record<string, string> = {}) =>
  await expectSuccess(where.migrate(args, { ...plainEnvironment, ...env }));

const expectSuccess = async (running: Promise<Finished>) => {
  const finished = await running;
  expectNoKey(finished);
  expect(finished).toMatchObject({ code: 0 });
  return finished;
};

test("as a process of its own, the command ends with each of these codes, one sentence and no key", async () => {
  const service = await aService();
  const failing = await aService({ alter: text(400, `no column title ${echo}`) });
  const there = await aService({ there: ["documents"] });
  const ends = [
    { target: cloud({ endpoint: service.url }), code: 0, says: /^$/ },
    { target: cloud({ endpoint: failing.url }), code: 1, says: /0002_headlines\.ts, step 1.* failed: .*no column/ },
    { target: configuration(withKey(`${key}\n`)), code: 2, says: /apiKey must be a key of plain characters/ },
    { target: cloud({ endpoint: there.url }), code: 4, says: /table documents is not as the ledger records/ },
    { target: cloud({ endpoint: `http://127.0.0.1:${await freePort()}` }), code: 6, says: /nothing listens at/ },
  ];
  for (const { target, code, says } of ends) {
    const finished = await project(target).start(["up", "--quiet"], plainEnvironment).finished;
    expectNoKey(finished);
    expect(finished.stderr).toMatch(says);
    expect({ says, code: finished.code }).toEqual({ says, code });
    expect(finished.stderr.split("\n").length).toBeLessThanOrEqual(2);
  }
});

describe("a service that works", () => {
  test("is migrated, with a second run of one request", async () => {
    const service = await aService();
    const where = project(cloud({ endpoint: service.url }));
    await succeed(where, ["up", "--verbose"]);
    expect(service.tables).toContain("documents");
    const before = service.seen.length;
    await succeed(where, ["up", "--verbose"]);
    expect(service.seen.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/tables"]);
    for (const args of [["status", "--verbose"], ["status", "--json"], ["plan"], ["history", "--json"], ["history"]])
      await succeed(where, args);
  });

  test("is found by the environment", async () => {
    const service = await aService();
    const where = project(configuration(`{ kind: "rest" }`));
    const env = { MIGRATE_ENDPOINT: `${service.url}/v1/`, MIGRATE_API_KEY: key, MIGRATE_DATABASE: "main" };
    await succeed(where, ["up", "--json", "--verbose"], env);
    expect(service.seen.every(({ headers }) => headers["x-service-database"] === "main")).toBe(true);
  });

  test("is reached through a tunnel of a proxy, with an own authority", async () => {
    const { port } = await serve(list, authority.sign("DNS:localhost"));
    const proxy = await serveProxy();
    const where = project(cloud({ endpoint: `https://localhost:${port}`, ca: authority.file }));
    await succeed(where, ["status"], { https_proxy: proxy.url });
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT localhost:${port}`]));
  });

  test("is trusted by what Node trusts, beside what ca says", async () => {
    const other = anAuthority();
    const { url } = await serve(list, other.sign("IP:127.0.0.1"));
    // Node reads it once, when a process starts.
    const env = { ...plainEnvironment, NODE_EXTRA_CA_CERTS: other.file };
    for (const settings of [{}, { ca: authority.file }])
      await expectSuccess(project(cloud({ endpoint: url, ...settings })).start(["status"], env).finished);
  });
});

const drop: Answering = (response) => response.destroy();
const failing: readonly (readonly [string, { alter?: Answering; create?: Answering }, RegExp])[] = [
  [
    "an alter with 400",
    { alter: text(400, `no column title ${echo}`) },
    /0002_headlines\.ts, step 1.* failed: .*no column title \*\*\*/,
  ],
  ["an alter with 404 in HTML", { alter: html(404) }, /0002_headlines\.ts, step 1.* failed: .*<html>/],
  [
    "an alter with 500",
    { alter: text(500, JSON.stringify({ error: echo })) },
    /0002_headlines\.ts, step 1.* failed: .*\*\*\*/,
  ],
  [
    "an alter with a redirect",
    { alter: text(307, "", "text/plain", { location: `/${encoded}` }) },
    /0002_headlines\.ts, step 1.* failed: .*redirects to \/\*\*\*/,
  ],
  [
    "a create with 400",
    { create: text(400, `schema is invalid ${echo}`) },
    /0001_documents\.ts, step 1.* failed: .*schema is invalid/,
  ],
  ["a create with 413", { create: text(413, "too large") }, /0001_documents\.ts, step 1.* failed: .*too large/],
];

describe.concurrent("a service that refuses", () => {
  test.each(failing)("%s ends with 1", async (_, answers, says) => {
    const service = await aService(answers);
    const where = project(cloud({ endpoint: service.url }));
    for (const args of [
      ["up", "--quiet"],
      ["up", "--quiet", "--verbose"],
    ]) {
      const finished = await where.migrate(args, plainEnvironment);
      expectNoKey(finished);
      expect(finished.stderr).toMatch(says);
      expect(finished.code).toBe(1);
    }
    // What it said is in the ledger for people, and no key with it.
    for (const { body } of service.seen) expect(keysIn(body.toString("latin1"))).toEqual([]);
    for (const table of service.tables) expect(keysIn(table)).toEqual([]);
  });

  test.each<readonly [string, Answering]>([
    ["cuts every alter", drop],
    ["answers every alter with HTML", html(200)],
    ["answers every alter with 503", html(503)],
  ])("no change but %s ends with 1 or 6, and names the key nowhere", async (_, alter) => {
    const service = await aService({ alter });
    const finished = await project(cloud({ endpoint: service.url })).migrate(["up", "--verbose"], plainEnvironment);
    expectNoKey(finished);
    expect([1, 6]).toContain(finished.code);
    expect(finished.stderr).not.toMatch(/internal error/);
    for (const { body } of service.seen) expect(keysIn(body.toString("latin1"))).toEqual([]);
  });
});

describe("a plan is refused with 4", () => {
  test.each<readonly [string, string, object, RegExp]>([
    [
      "that its words have no name for",
      `m.retypeColumn("documents", "at", m.timestamp("ms"))`,
      { types: "arrow" },
      /target cloud can't do this: its service has no name for timestamp\(ms\)/,
    ],
    [
      "of a column that is not there",
      `m.renameColumn("documents", "absent", "b")`,
      {},
      /documents has no column absent/,
    ],
  ])("for a step %s", async (_, step, settings, says) => {
    const service = await aService();
    const where = project({
      ...cloud({ endpoint: service.url, ...settings }),
      "migrations/0003_more.ts": module(`[${step}]`),
    });
    for (const args of [["up"], ["plan", "--verbose"], ["up", "--json"]])
      await expectRefused(where, { args, code: 4, says });
    // Refused before the first write.
    expect(service.seen.map(({ method }) => method)).not.toContain("POST");
  });
});
