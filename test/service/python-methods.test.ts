/**
 * All public methods of the Python clients' remote objects; docs/methods-python.md is written from this. It installs the
 * clients, so it runs only where REQUIRE_PYTHON=1, as .ci/run sets it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { pageOf, type Method } from "../clients/methods/page.ts";
import { root } from "../support/project.ts";
import { aService, apiKey } from "./served.ts";

interface Report {
  readonly withoutRow: readonly string[];
  readonly withoutMethod: readonly string[];
  readonly methods: readonly (Method & { readonly problem: string | null })[];
}

const isWanted = process.env["REQUIRE_PYTHON"] === "1";
if (!isWanted) console.warn("test/service/python-methods is skipped: it installs packages; set REQUIRE_PYTHON=1");

const intro = `What the methods of \`lancedb\` 0.40 and \`pylance\` 14.0.2 for Python do when they are connected to [\`migrate serve\`](service.md).`;

test.skipIf(!isWanted)(
  "every public method does what its row states, and docs show it",
  { timeout: 600_000 },
  async () => {
    const { service } = await aService({ workers: 2 });
    const args = [join(root, "test/clients/methods/python.py"), service.url, apiKey];
    const { stdout } = await promisify(execFile)(pythonWith(...officialPackages), args, { maxBuffer: 2 ** 24 });
    const reports = Object.entries(JSON.parse(stdout) as Record<string, Report>);
    for (const [kind, { withoutRow, withoutMethod, methods }] of reports) {
      const problems = methods.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
      expect({ kind, withoutRow, withoutMethod, problems }).toEqual({
        kind,
        withoutRow: [],
        withoutMethod: [],
        problems: [],
      });
    }
    const groups = Object.fromEntries(reports.map(([kind, { methods }]) => [kind, methods]));
    await expect(pageOf("Methods of the Python clients", intro, groups)).toMatchFileSnapshot(
      "../../docs/methods-python.md",
    );
  },
);
