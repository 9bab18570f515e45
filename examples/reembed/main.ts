/**
 * `npm run example` replaces the embedding model of a dictionary with 117,791 entries, and searches it before
 * and after. Once its packages are installed, it needs no network. `--rows N` uses fewer entries.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { connect } from "@lancedb/lancedb";
import { readCorpus } from "./corpus.ts";
import { add, search } from "./search.ts";

const { values } = parseArgs({ options: { rows: { type: "string" } } });
const descriptions = ["fear of spiders", "a person who bakes bread", "huge ocean wave caused by an earthquake"];

process.chdir(import.meta.dirname);
rmSync(".lancedb", { recursive: true, force: true });

await migrate("up", "--to", "1");
const table = await (await connect(".lancedb")).openTable("entries");
await timed("adding the entries", async () => {
  const entries = readCorpus().slice(0, values.rows === undefined ? undefined : Number(values.rows));
  for (let at = 0; at < entries.length; at += 10_000) await add(table, entries.slice(at, at + 10_000));
});
await migrate("up", "--to", "2");
await printSearches("hashed words");

await migrate("prepare");
await migrate("up");
await printSearches("word vectors");

async function printSearches(model: string): Promise<void> {
  console.log(`\nSearches, with ${model}:`);
  for (const description of descriptions) {
    console.log(`  "${description}"`);
    for (const { words, definition } of await search(table, description, 2))
      console.log(`    ${words}: ${definition.slice(0, 90)}`);
  }
  console.log();
}

async function migrate(...args: readonly string[]): Promise<void> {
  console.log(`$ npx migrate ${args.join(" ")}`);
  await timed(`migrate ${args[0]}`, async () => {
    const { status } = spawnSync(process.execPath, ["../../dist/bin.js", ...args, "--quiet"], { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  });
}

async function timed(what: string, act: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await act();
  console.log(`${what} took ${((performance.now() - started) / 1_000).toFixed(1)} s`);
}
