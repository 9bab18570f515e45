import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { keepSecretsOut } from "../../../../src/cli/command/output.ts";
import { keepSecret } from "../../../../src/secrets/redact.ts";

const secret = "schlüssel-🔑-für-alles";
const bytes = Buffer.from(`a ${secret} b`);

/** What gets through a stream that secrets are kept out of. */
async function through(write: (stream: PassThrough) => unknown): Promise<string> {
  keepSecret(secret);
  const stream = new PassThrough();
  // All that is asked of a terminal's stream here is that it can be written to.
  keepSecretsOut(stream as unknown as NodeJS.WriteStream);
  write(stream);
  if (!stream.writableEnded) stream.end();
  return await text(stream);
}

test.each<readonly [string, (stream: PassThrough) => unknown]>([
  ["a text", (stream) => stream.write(`a ${secret} b`)],
  ["bytes", (stream) => stream.write(bytes)],
  ["bytes in the middle of others", (stream) => stream.write(new Uint8Array([...bytes, 7]).subarray(0, -1))],
  ["a view of bytes", (stream) => stream.write(new DataView(new Uint8Array(bytes).buffer))],
  ["a last text", (stream) => stream.end(`a ${secret} b`)],
  ["last bytes", (stream) => stream.end(bytes)],
])("a secret in %s is not written", async (_, write) => {
  expect(await through(write)).toBe("a *** b");
});

test("bytes that are no text are written as they are", async () => {
  const stream = new PassThrough();
  keepSecretsOut(stream as unknown as NodeJS.WriteStream);
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  stream.end(new Uint16Array(new Uint8Array(all).buffer));
  expect(Buffer.concat(await stream.toArray())).toEqual(all);
});

test("who waits for the end of a stream hears of it", async () => {
  const told: string[] = [];
  await through((stream) => stream.end(() => told.push("ended")));
  expect(told).toEqual(["ended"]);
});
