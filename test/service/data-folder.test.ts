/** The data folder: what is wrong with it at the start, and what happens if it goes away while the service runs. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { send } from "./raw.ts";
import { apiKey, arrow, connectTo, startCommand, startIn } from "./served.ts";

const rows = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray([1], new arrow.Int32()) }), "stream");
const asArrow = { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" };
const asJson = { "x-api-key": apiKey, "content-type": "application/json" };

test.each<{ what: string; prepare: (place: string) => string; problem: RegExp }>([
  {
    what: "a file",
    prepare: (place) => (writeFileSync(join(place, "file"), ""), join(place, "file")),
    problem: /is a file$/,
  },
  {
    what: "inside a file",
    prepare: (place) => (writeFileSync(join(place, "file"), ""), join(place, "file", "sub")),
    problem: /can't be read: a part of its path is a file$/,
  },
  {
    what: "a link that leads nowhere",
    prepare: (place) => (symlinkSync(join(place, "gone"), join(place, "link")), join(place, "link")),
    problem: /can't be read: its path contains a symbolic link that leads nowhere$/,
  },
  {
    what: "below a link that leads nowhere",
    prepare: (place) => (symlinkSync(join(place, "gone"), join(place, "link")), join(place, "link", "sub")),
    problem: /can't be created: its path contains a symbolic link that leads nowhere$/,
  },
  {
    what: "below a link to itself",
    prepare: (place) => (symlinkSync("link", join(place, "link")), join(place, "link", "sub")),
    problem: /can't be read: its path contains symbolic links that lead to each other$/,
  },
  {
    what: "a name that is too long",
    prepare: (place) => join(place, "x".repeat(300)),
    problem: /can't be read: its path is too long$/,
  },
])("a service does not start on a folder that is $what", async ({ prepare, problem }) => {
  const folder = prepare(temporaryFolder());
  const error = await startIn(folder).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "ERR_SERVICE_DATA",
    details: { folder, problem: expect.stringMatching(problem) },
  });
});

const bin = join(root, "dist/bin.js");
/** Root may do everything, so nobody runs the command then. */
const isRoot = process.getuid?.() === 0;
function asUser(command: string) {
  const [shell, ...args] = isRoot ? ["su", "nobody", "-s", "/bin/sh", "-c", command] : ["sh", "-c", command];
  return spawnSync(shell!, args, { encoding: "utf8" });
}

const tried = asUser(`${process.execPath} ${bin} --version`);
const missing = tried.status === 0 ? undefined : `nobody can't run ${bin}: ${tried.stderr}`;

test.skipIf(lacks("user", missing))("nor on a folder that its user may not read, enter or create", () => {
  const place = temporaryFolder();
  if (isRoot)
    for (let at = place; at !== "/dev/shm" && at !== "/tmp" && at !== "/"; at = join(at, "..")) chmodSync(at, 0o755);
  const [hidden, closed] = [join(place, "private"), join(place, "closed")];
  for (const folder of [hidden, closed]) mkdirSync(folder);
  chmodSync(hidden, 0o000);
  chmodSync(closed, 0o444);
  chmodSync(place, 0o555);
  onTestFinished(() => [place, hidden, closed].forEach((folder) => chmodSync(folder, 0o755)));
  for (const [folder, problem] of [
    ["private", "can't be read and written: this user is not allowed to"],
    ["private/sub", "can't be read: this user is not allowed to"],
    ["closed", "can't be read and written: this user is not allowed to"],
    ["new", "can't be created: this user is not allowed to"],
    ["new/sub", "can't be created: this user is not allowed to"],
  ] as const) {
    const command = `MIGRATE_API_KEY=${apiKey} ${process.execPath} ${bin} serve --port 0 --data ${join(place, folder)}`;
    const { status, stderr } = asUser(command);
    const sentence = `the data folder ${join(place, folder)} ${problem}; choose another with --data\n`;
    expect([folder, status, stderr]).toEqual([folder, 2, expect.stringContaining(sentence)]);
  }
});

test("a folder is created, and removed again if the port is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const place = temporaryFolder();
  mkdirSync(join(place, "own"));
  for (const folder of ["own", "own/a/b"]) {
    const error = await startIn(join(place, folder), { port }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_SERVICE_ADDRESS" });
  }
  expect(readdirSync(place, { recursive: true })).toEqual(["own"]);
});

const unavailable = {
  status: 503,
  error: "the data folder of this service is missing, or another one is in its place",
};

test("while its folder is away, every request is answered with 503 and nothing is created", async () => {
  const place = temporaryFolder();
  const folder = join(place, "tables");
  const service = await startCommand(folder, ["--workers", "2"]);
  onTestFinished(async () => void (await service.close()));
  const ask = async (method: string, path: string, body?: Uint8Array | object) => {
    const isArrow = body instanceof Uint8Array;
    const answer = await send(service.url, {
      method,
      path,
      headers: isArrow ? asArrow : asJson,
      ...(body !== undefined && { body: isArrow ? body : JSON.stringify(body) }),
    });
    const { error } = answer.status === 200 ? { error: undefined } : JSON.parse(answer.body.toString());
    return { status: answer.status, error: error as unknown };
  };
  const all = async () => [
    await ask("GET", "/healthz"),
    await ask("GET", "/v1/tables"),
    await ask("POST", "/v1/tables/more?mode=overwrite", rows),
    await ask("POST", "/v1/table/t/insert", rows),
    await ask("POST", "/v1/table/t/count_rows", {}),
  ];
  const works = Array.from({ length: 5 }, () => ({ status: 200, error: undefined }));
  expect(await ask("POST", "/v1/tables/t", rows)).toEqual(works[0]);

  renameSync(folder, join(place, "away"));
  expect(await all()).toEqual(works.map(() => unavailable));
  expect(readdirSync(place)).toEqual(["away"]);

  mkdirSync(folder);
  expect(await all()).toEqual(works.map(() => unavailable));
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });

  renameSync(join(place, "away"), folder);
  expect(await all()).toEqual(works);
  const remote = await connectTo(service.url);
  expect(await remote.tableNames()).toEqual(["more", "t"]);
  expect(await (await remote.openTable("t")).countRows()).toBe(2);
  expect(existsSync(join(place, "away"))).toBe(false);
});

test("a worker that could not open the folder opens it for the next request", async () => {
  const folder = join(temporaryFolder(), "tables");
  const service = await startCommand(folder, ["--workers", "1"]);
  onTestFinished(async () => void (await service.close()));
  const create = async () => (await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: rows })).status;
  // In the place of a folder that the engine looks into when it connects.
  writeFileSync(join(folder, "__manifest"), "");
  expect(await create()).not.toBe(200);
  rmSync(join(folder, "__manifest"));
  expect(await create()).toBe(200);
});
