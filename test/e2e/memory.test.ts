/** What is large at the other end does not make the command large: generous bounds, docs/internals/performance.md has the figures. */
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markersOf, serviceOf, type Served } from "../bench/memory-scenes.ts";
import { listen } from "../rest/servers.ts";
import { root, startNode } from "../support/project.ts";
import { isLong } from "../support/rounds.ts";
import { manyProjects } from "./support/many-projects.ts";

const { project } = manyProjects("own");
/**
 * The process says at its end what the kernel has counted, in KB. On Linux `maxRSS` is at least what the process that started
 * it held then, and a process that has run many tests holds more than these bounds.
 */
const peak =
  process.platform === "linux"
    ? `(await import("node:fs")).readFileSync.bind(null,"/proc/self/status","utf8")`
    : `()=>"VmHWM:"+process.resourceUsage().maxRSS`;
const tell = `data:text/javascript,const status=${peak};process.on("exit",()=>process.stderr.write("peak "+/VmHWM:\\s*(\\d+)/.exec(status())[1]))`;

interface Case {
  readonly what: string;
  readonly served: Served;
  readonly megabytes: number;
}

const cases: readonly Case[] = [
  { what: "100,000 tables in pages", served: { kind: "tables", size: 100_000, paged: true }, megabytes: 350 },
  {
    what: "10,000 records in markers",
    served: { kind: "names", names: await markersOf(10_000), paged: false },
    megabytes: 150,
  },
];
/** Every night, what only takes longer: the same in one list, and more of the same. */
const more: readonly Case[] = !isLong
  ? []
  : [
      { what: "100,000 tables in one list", served: { kind: "tables", size: 100_000, paged: false }, megabytes: 350 },
      {
        what: "50,000 records in markers",
        served: { kind: "names", names: await markersOf(50_000), paged: false },
        megabytes: 300,
      },
    ];

test.each([...cases, ...more])("$what take less than $megabytes MB", async ({ served, megabytes }) => {
  const port = await listen(createServer(serviceOf(served)));
  const target = {
    kind: "rest",
    endpoint: `http://127.0.0.1:${port}`,
    apiKey: "a-key",
    dialect: served.paged ? "namespace" : "service",
  };
  const where = project({
    "migrations/": "",
    "migrate.config.ts": `export default { targets: { a: ${JSON.stringify(target)} } };\n`,
  });
  const args = ["--import", tell, join(root, "dist", "bin.js"), "status", "--json"];
  const { code, stdout, stderr } = await startNode(args, where.folder, { http_proxy: "", HTTP_PROXY: "" }).finished;
  expect(code).toBe(0);
  const { applied } = JSON.parse(stdout) as { applied: readonly unknown[] };
  expect(applied).toHaveLength(
    served.kind === "names" ? served.names.filter((name) => name.includes(".applied.")).length : 0,
  );
  expect(Number(/peak (\d+)$/.exec(stderr)?.[1]) / 1024).toBeLessThan(megabytes);
});
