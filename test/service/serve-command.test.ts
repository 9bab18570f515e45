import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished, expect, test } from "vitest";
import { compiled, root, runCommand, temporaryFolder } from "../support/project.ts";

const key = "sk-live-4711-never-shown";

/** `migrate serve` as a process, with its key in the environment. */
function serve(args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, "dist/bin.js"), "serve", ...args], {
    env: { ...process.env, ...compiled, MIGRATE_API_KEY: key },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const errors = text(child.stderr);
  return {
    child,
    firstLine: async () => String((await once(child.stdout, "data"))[0]).trim(),
    end: async () => {
      const [code] = (await once(child, "exit")) as [number | null];
      return { code, errors: await errors };
    },
  };
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "it serves until %s, logs without the key and exits with 0",
  async (signal) => {
    const data = temporaryFolder();
    const { child, firstLine, end } = serve(["--data", data, "--port", "0"]);
    const line = await firstLine();
    expect(line).toMatch(/^serving .* on http:\/\/127\.0\.0\.1:\d+$/);
    const answer = await fetch(`${line.split(" ").at(-1)}/v1/tables`, { headers: { "x-api-key": key } });
    expect(await answer.json()).toEqual({ tables: [] });
    child.kill(signal);
    const { code, errors } = await end();
    expect(code).toBe(0);
    expect(errors).toMatch(/^\S+Z GET \/v1\/tables 200 \d+ms /m);
    expect(errors).toMatch(
      /^stopping: waiting up to 8 seconds for requests in progress, .*; interrupt again to stop at once$/m,
    );
    expect(errors).not.toContain("refused connections");
    expect(errors).not.toContain(key);
  },
);

test("with --json it prints one document", async () => {
  const { child, firstLine, end } = serve(["--data", temporaryFolder(), "--port", "0", "--json"]);
  expect(JSON.parse(await firstLine())).toMatchObject({
    url: expect.stringMatching(/^http:/),
    port: expect.any(Number),
  });
  child.kill("SIGTERM");
  expect((await end()).code).toBe(0);
});

test.each([
  { seconds: "1", rest: undefined, status: 408 },
  // A tenth of a second, were it taken as milliseconds.
  { seconds: "100", rest: "{}", status: 404 },
])("--request-timeout is in seconds: $seconds, answered $status", async ({ seconds, rest, status }) => {
  const { firstLine } = serve(["--data", temporaryFolder(), "--port", "0", "--request-timeout", seconds]);
  const socket = connect(Number(new URL((await firstLine()).split(" ").at(-1)!).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(
    `POST /v1/table/none/describe HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n`,
  );
  const answered = text(socket);
  if (rest !== undefined) {
    await pause(1000);
    socket.write(rest);
  }
  expect(await answered).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test.each<{ what: string; args: string[]; environment?: Record<string, string>; error: RegExp }>([
  { what: "no key", args: ["--data", "."], environment: {}, error: /MIGRATE_API_KEY/ },
  { what: "no folder", args: [], environment: { MIGRATE_API_KEY: key }, error: /--data/ },
  { what: "a port that is none", args: ["--data", ".", "--port", "x"], environment: {}, error: /--port/ },
  {
    what: "a key with a line break",
    args: ["--data", "."],
    environment: { MIGRATE_API_KEY: `${key}\n` },
    error: /the key .*header/,
  },
  { what: "a key with a space before it", args: ["--data", ".", "--api-key", ` ${key}`], error: /the key .*header/ },
  {
    what: "a key of seven characters",
    args: ["--data", ".", "--api-key", "s3cret7"],
    error: /^the key has fewer than 8/,
  },
  {
    what: "a key of one character",
    args: ["--data", ".", "--api-key", "aaaaaaaa"],
    error: /^the key has fewer than 4/,
  },
  {
    what: "a word twice as a key",
    args: ["--data", "."],
    environment: { MIGRATE_API_KEY: "testtest" },
    error: /guessed/,
  },
  { what: "a key beyond ASCII", args: ["--data", ".", "--api-key", "schlüssel"], error: /the key .*header/ },
  { what: "an object store", args: ["--data", "s3://bucket/tables"], error: /--data .*object store/ },
  {
    what: "a target",
    args: ["--data", ".", "--target", "local"],
    error: /^migrate serve reads no configuration and takes no --target\n/,
  },
  { what: "a configuration", args: ["--data", ".", "-c", "migrate.config.ts"], error: /takes no --config\n/ },
  { what: "a time to load it", args: ["--data", ".", "--load-timeout", "5"], error: /takes no --load-timeout\n/ },
  { what: "a folder that is a file", args: ["--data", import.meta.filename], error: /is a file/ },
])("with $what it does not start", async ({ args, environment = { MIGRATE_API_KEY: key }, error }) => {
  const asked = { folder: temporaryFolder(), args: ["serve", ...args], env: environment };
  const { code, stderr } = await runCommand(asked, "shared");
  expect([code, stderr]).toEqual([2, expect.stringMatching(error)]);
  for (const secret of [key, "s3cret7"]) expect(stderr).not.toContain(secret);
});
