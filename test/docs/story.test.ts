/** The list of frames in docs/internals/architecture.md is the real stack of an engine call. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { aProject, root, startNode } from "../support/project.ts";

/** Prints the stack of a call that changes metadata. Such a call is sent once, so that its stack is whole. */
const printing = `
  import { createRequire } from "node:module";
  const table = ${JSON.stringify(join(root, "node_modules/@lancedb/lancedb/dist/table.js"))};
  const { LocalTable } = createRequire(import.meta.url)(table);
  const { updateFieldMetadata } = LocalTable.prototype;
  Error.stackTraceLimit = 200;
  LocalTable.prototype.updateFieldMetadata = function (...given) {
    console.log(new Error().stack);
    return updateFieldMetadata.apply(this, given);
  };
`;

/** The functions from \`main\` to the engine, each with its file. Those without a name are not in it. */
async function stackOfCall(): Promise<readonly string[]> {
  const { folder, migration, write } = aProject();
  migration("0001_t.ts", `m.createTable("t", { id: m.int32() }),`);
  migration("0002_unit.ts", `m.setMetadata("t", "id", { unit: "s" }),`);
  write("printing.mjs", printing);
  const preloaded = [join(root, "test/support/own-package.ts"), join(folder, "printing.mjs")];
  const imports = preloaded.map((file) => `--import=${pathToFileURL(file).href}`);
  const up = ["up", "--step-by-step"];
  const { stdout, stderr } = await startNode([...imports, join(root, "src/main/bin.ts"), ...up], folder).finished;
  const source = `${pathToFileURL(join(root, "src")).href}/`;
  const frames = [...`${stdout}${stderr}`.matchAll(/^ +at (?:async )?(\S+) \((\S+?):\d+:\d+\)$/gm)].flatMap(
    ([, name, file]) => (file!.startsWith(source) ? `${file!.slice(source.length)} ${name!.split(".").at(-1)}` : []),
  );
  return frames.toReversed().slice(frames.toReversed().indexOf("main/main.ts main"));
}

test("the frames from main to the engine are those of the page", async () => {
  const page = readFileSync(join(root, "docs/internals/architecture.md"), "utf8");
  const [, part = ""] = page.split("<!-- frames -->");
  const listed = [...part.matchAll(/^\d+\. `(\S+)` `(\w+)`/gm)].map(([, file, name]) => `${file} ${name}`);
  expect(listed).toEqual(await stackOfCall());
});
