import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { createOutput, keepSecretsOut, type Output, type OutputOptions } from "../../../../src/cli/command/output.ts";
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

/** What is written to stdout. */
function printed(work: (output: Output) => void, options: OutputOptions = {}): string {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    work(createOutput(options));
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}

test("a line is wrapped without the secrets in it", () => {
  keepSecret("correct horse battery staple");
  const { isTTY, columns } = process.stdout;
  Object.assign(process.stdout, { isTTY: true, columns: 30 });
  try {
    const line = "the password correct horse battery staple is wrong";
    expect(printed((output) => output.result(line))).toBe("the password *** is wrong\n");
  } finally {
    Object.assign(process.stdout, { isTTY, columns });
  }
});

test("each part of a line is made printable, and only its own style colours it", () => {
  const line = [{ style: "bold", text: "a\u001b[31m\n" }, "::b\u009b"] as const;
  expect(printed((output) => output.result(line), { color: false })).toBe("a\\u001b[31m\\n\\u003a:b\\u009b\n");
});

test("a value can't end an annotation or its property", () => {
  const finding = { level: "error", properties: { file: "a:b,c\n::d" }, message: "e\r\n::error::f\u001b%" } as const;
  expect(printed((output) => output.annotation(finding))).toBe(
    "::error file=a%3Ab%2Cc%0A%3A%3Ad::e%0D%0A::error::f\\u001b%25\n",
  );
});
