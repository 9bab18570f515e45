/** Bodies of requests and answers on their way between the service and its workers: small ones as bytes, large ones as files. */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, openSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inPrivateFolder, makeFolder, privateFolder } from "../../../engine/folder/private-folder.ts";
import type { DataFolder } from "../tables/data-folder.ts";

export type Body = { readonly bytes: Uint8Array } | { readonly file: string };

/** In bytes. What is larger goes through a file: many slow clients must not fill the service's memory. */
const largestInMemory = 256 * 1024;

/** Reads everything. Throws `tooLarge()` when there are more than `limit` bytes. */
export async function collect(
  chunks: AsyncIterable<Uint8Array>,
  data: DataFolder,
  limit: number,
  tooLarge: () => Error,
  id: string = randomUUID(),
): Promise<Body> {
  const bounded = withinLimit(chunks, limit, tooLarge);
  const first: Uint8Array[] = [];
  let length = 0;
  try {
    for (let next = await bounded.next(); next.done !== true; next = await bounded.next()) {
      first.push(next.value);
      length += next.value.length;
      if (length > largestInMemory) return await toFile(first, bounded, data, id);
    }
    return { bytes: Buffer.concat(first) };
  } finally {
    await bounded.return(); // otherwise the rest of a body that is refused could not be read and discarded
  }
}

async function* withinLimit(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > limit) throw tooLarge();
    yield chunk;
  }
}

/** Where the files of a service's bodies are. */
export function folderOfBodies({ path, bodies }: DataFolder): string {
  return join(path, privateFolder, bodies);
}

export function fileOfBody(data: DataFolder, id: string): string {
  return join(folderOfBodies(data), id);
}

async function toFile(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
  data: DataFolder,
  id: string,
): Promise<Body> {
  // Opened at once: as long as the folder is empty, other requests may remove it.
  const file = fileOfBody(data, id);
  const descriptor = inPrivateFolder(data.path, () => {
    makeFolder(folderOfBodies(data));
    return openSync(file, "wx", 0o600);
  });
  const body = { file };
  try {
    await pipeline(
      async function* () {
        yield* first;
        yield* rest;
      },
      createWriteStream(file, { fd: descriptor }),
    );
  } catch (error) {
    discard(body);
    throw error;
  }
  return body;
}

export function readBody(body: Body): Buffer {
  return "file" in body ? readFileSync(body.file) : Buffer.from(body.bytes);
}

/** A stream of the body, which discards it at its end. */
export function streamBody(body: Body): Readable {
  if ("bytes" in body) return Readable.from(slices(body.bytes));
  return createReadStream(body.file).once("close", () => discard(body));
}

/** In bytes. Whether a client reads is seen from one part to the next. */
const slice = 64 * 1024;

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += slice) yield bytes.subarray(at, at + slice);
}

export function discard(body: Body | undefined): void {
  if (body === undefined || "bytes" in body) return;
  rmSync(body.file, { force: true });
  try {
    rmdirSync(dirname(body.file));
    rmdirSync(dirname(dirname(body.file)));
  } catch {
    // Another request is using it.
  }
}
