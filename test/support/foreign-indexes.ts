/** A table with indexes that the engine's JavaScript client can't make; test/fixtures/foreign-indexes.py writes its files. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fixedSizeList, float32, int32, utf8 } from "../../src/schema/declare/type-builders.ts";

const files = JSON.parse(readFileSync(new URL("../fixtures/foreign-indexes.json", import.meta.url), "utf8")) as Record<
  string,
  string
>;

/** Its columns in their order. */
export const columns = {
  n: int32(),
  p: int32(),
  b: utf8(),
  g: utf8(),
  s: utf8(),
  m: utf8(),
  v: fixedSizeList(float32(), 8),
  w: fixedSizeList(float32(), 8),
};

/** Puts the table, called `t`, into a database's folder, in the place of the one that is there. */
export function putForeignIndexes(folder: string): void {
  rmSync(join(folder, "t.lance"), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), gunzipSync(Buffer.from(text, "base64")));
  }
}
