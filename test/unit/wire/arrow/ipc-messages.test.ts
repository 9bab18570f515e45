import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { tableFromArrays, tableFromIPC, tableToIPC, type Table } from "apache-arrow";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { fromIpc, tableFromIpc, toIpcFile, toIpcStream } from "../../../../src/wire/arrow/arrow-schema.ts";
import { toField } from "../../../../src/wire/lance/lance-type.ts";
import { joinFiles, toCheckedFile } from "../../../../src/wire/arrow/ipc-file.ts";
import { readMessages } from "../../../../src/wire/arrow/ipc-messages.ts";
import { largeSchema } from "../../../support/large-schema.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";

const most = 2 ** 20;

const rows = tableFromArrays({ id: Int32Array.from([1, 2, 3]), word: ["a", "b", "a"] });
const stream = Buffer.from(tableToIPC(rows, "stream"));

const values = (table: Table) => table.toArray().map((row) => row.toJSON());

test("a stream becomes a file with the same rows", () => {
  const file = toCheckedFile(stream, most);
  expect(file.rows).toBe(3);
  expect(values(tableFromIPC(file.bytes))).toEqual(values(rows));
});

test("the schema of any stream is in the file's footer as it was", () => {
  fc.assert(
    fc.property(anyColumns, (columns) => {
      expect(fromIpc(toCheckedFile(toIpcStream(columns), most).bytes)).toEqual(columns);
    }),
  );
});

test("metadata of the schema and of its fields is kept and described", () => {
  const [id] = rows.schema.fields;
  id!.metadata.set("unit", "pieces");
  rows.schema.metadata.set("made", "here");
  const { columns, metadata } = tableFromIpc(toCheckedFile(Buffer.from(tableToIPC(rows)), most).bytes);
  expect(metadata).toEqual({ made: "here" });
  expect(columns.map(toField)[0]).toEqual({
    name: "id",
    type: { type: "int32" },
    nullable: false,
    metadata: { unit: "pieces" },
  });
});

test.each([
  { what: "nothing", bytes: Buffer.alloc(0), problem: "is empty" },
  { what: "a text", bytes: Buffer.from("this is not Arrow data at all"), problem: "is no Arrow IPC stream" },
  { what: "a file", bytes: Buffer.from(tableToIPC(rows, "file")), problem: "is an Arrow IPC file" },
  { what: "JSON", bytes: Buffer.from('{"a": 1, "b": [1, 2, 3]}'), problem: "is no Arrow IPC stream" },
  { what: "three bytes", bytes: Buffer.from("abc"), problem: "is cut short" },
  { what: "only an end mark", bytes: toIpcStream([]).subarray(-8), problem: "does not begin with a schema" },
  { what: "half an end mark", bytes: stream.subarray(0, -6), problem: "is cut short" },
  { what: "half a stream", bytes: stream.subarray(0, stream.length / 2), problem: "is cut short" },
  { what: "two streams", bytes: Buffer.concat([stream, stream]), problem: "continues after its end mark" },
  {
    what: "a second schema",
    bytes: Buffer.concat([stream.subarray(0, -8), stream]),
    problem: "has a second schema",
  },
])("$what is refused", ({ bytes, problem }) => {
  expect(() => toCheckedFile(bytes, most)).toThrow(`the Arrow data ${problem}`);
});

test("every cut of a stream inside a message is refused, and a cut between two is its end", () => {
  const ends = new Set(readMessages(stream).map(({ bytes }) => bytes.byteOffset - stream.byteOffset + bytes.length));
  for (let length = 0; length < stream.length; length++) {
    if (ends.has(length)) expect(toCheckedFile(stream.subarray(0, length), most)).toBeDefined();
    else expect(() => toCheckedFile(stream.subarray(0, length), most)).toThrow("the Arrow data");
  }
});

test("a stream with wrong bytes is passed on or refused, and costs nothing else", () => {
  const mutation = fc.record({
    at: fc.nat({ max: stream.length - 1 }),
    to: fc.constantFrom(0, 1, 0x7f, 0x80, 0xff),
    length: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
      const bytes = Buffer.from(stream);
      for (const { at, to, length } of mutations) bytes.fill(to, at, Math.min(at + length, bytes.length));
      try {
        toCheckedFile(bytes, most);
      } catch (error) {
        expect(error).toMatchObject({ code: "ERR_ARROW_INVALID" });
      }
    }),
    { numRuns: 2000 },
  );
});

test("metadata that claims billions of entries is refused, and costs nothing else", () => {
  const rows = tableFromArrays({ id: new Int32Array(3) });
  rows.schema.fields[0]!.metadata.set("unit", "pieces");
  rows.schema.metadata.set("made", "here");
  const bytes = Buffer.from(tableToIPC(rows, "stream"));
  const problems: string[] = [];
  // The lengths of both lists of metadata are among the words that are 1.
  for (let at = 8; at < bytes.readInt32LE(4) + 8; at += 4)
    if (bytes.readInt32LE(at) === 1) {
      const changed = Buffer.from(bytes);
      changed.writeInt32LE(0x7fff_ffff, at);
      try {
        toCheckedFile(changed, most);
      } catch (error) {
        problems.push(String(error));
      }
    }
  expect(problems.filter((problem) => problem.includes("has metadata that is too large"))).toHaveLength(2);
});

test.each([
  ["sent to the service", () => toCheckedFile(largeSchema, most)],
  ["answered by a service", () => fromIpc(largeSchema)],
])("a small message with a schema almost without end is refused when %s", (_, read) => {
  expect(read).toThrow("the Arrow data has a schema that is too large or too deep");
});

test("data that unpacks to more than is allowed is refused", () => {
  const large = Buffer.from(tableToIPC(tableFromArrays({ id: new Int32Array(1000) }), "stream"));
  expect(() => toCheckedFile(large, 1000)).toThrow("unpacks to more than 1000 bytes");
  expect(toCheckedFile(large, 100_000).rows).toBe(1000);
});

async function* later(...files: Buffer[]): AsyncGenerator<Buffer> {
  yield* files;
}

async function joined(first: Buffer, ...others: Buffer[]) {
  const { contentType, chunks } = joinFiles(first, later(...others));
  const bytes: Buffer[] = [];
  for await (const chunk of chunks) bytes.push(chunk);
  return { contentType, bytes: Buffer.concat(bytes) };
}

/** A file as the engine makes it: it begins with a schema. */
const fileOf = (table: Table) => toCheckedFile(Buffer.from(tableToIPC(table, "stream")), most).bytes;

test("the files of a result become one file", async () => {
  const numbers = (...ids: number[]) => fileOf(tableFromArrays({ id: Int32Array.from(ids) }));
  const { contentType, bytes } = await joined(numbers(1, 2), numbers(3), numbers(4, 5, 6));
  expect(contentType).toBe("application/vnd.apache.arrow.file");
  expect([...tableFromIPC(bytes).getChild("id")!]).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a result is not kept in memory until its end", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const file = () => fileOf(tableFromArrays({ id: new Int32Array(100_000) }));
  async function* many() {
    for (let index = 0; index < 50; index++) yield file();
  }
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  let sent = 0;
  for await (const _ of joinFiles(file(), many()).chunks) {
    sent += 1;
    if (sent < 50) continue;
    // Memory is given back a little after it was found to be unused.
    await expect
      .poll(() => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers - before;
      })
      .toBeLessThan(10 * 400_000);
  }
  expect(sent).toBeGreaterThan(50);
});

test("a result without rows is a file with its columns", async () => {
  const { bytes } = await joined(toIpcFile([{ name: "id", type: { kind: "int32" }, nullable: false }]));
  const table = tableFromIPC(bytes);
  expect([table.numRows, table.schema.names]).toEqual([0, ["id"]]);
});

// apache-arrow 18 reads no second dictionary of a column, so these look at the messages.
const kindsOf = (bytes: Buffer) => readMessages(bytes).map(({ kind }) => kind);

test("files with a dictionary each become a stream, which alone can replace one", async () => {
  const words = (...word: string[]) => fileOf(tableFromArrays({ word }));
  const { contentType, bytes } = await joined(words("a", "b"), words("c", "d"));
  expect(contentType).toBe("application/vnd.apache.arrow.stream");
  expect(kindsOf(bytes)).toEqual(["schema", "dictionary", "batch", "dictionary", "batch"]);
});

test("a dictionary that a stream repeats is stored once, and one that it replaces is refused", () => {
  const once = Buffer.from(tableToIPC(tableFromArrays({ word: ["here", "there"] }), "stream"));
  const again = once.subarray(8 + once.readInt32LE(4));
  const other = Buffer.from(again);
  other.write("H", other.indexOf("here"));
  const twice = (more: Buffer) => Buffer.concat([once.subarray(0, -8), more]);
  expect(kindsOf(toCheckedFile(twice(again), most).bytes)).toEqual(["schema", "dictionary", "batch", "batch"]);
  expect(() => toCheckedFile(twice(other), most)).toThrow("replaces a dictionary");
});
