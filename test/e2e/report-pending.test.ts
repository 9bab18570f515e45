/** What the page of `migrate report` states about migrations that never ran or can't run, in a real browser. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ReportDocument } from "../../src/features/report/report-document.ts";
import { reportPage } from "../../src/features/report/page.ts";
import { aBrowser, aPage, openFile, whyNoBrowser } from "../support/browser.ts";
import { largeReport } from "../support/large-report.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolderOfFile } from "../support/project.ts";
import { manyProjects } from "./support/many-projects.ts";

const migration = (steps: string) => `import * as m from "lance-migrate";\n\nexport const up = [${steps}];\n`;
const { project } = manyProjects();

describe.skipIf(lacks("chromium", whyNoBrowser()))("in a browser", () => {
  let browser: Browser;
  const path = join(temporaryFolderOfFile(), "report.html");

  beforeAll(async () => {
    browser = await aBrowser();
  });
  afterAll(async () => browser?.close());

  async function withPage(report: ReportDocument, work: (page: Page) => Promise<void>): Promise<void> {
    writeFileSync(path, reportPage(report));
    const page = await aPage(browser, {});
    try {
      const strange = await openFile(page, path);
      await work(page);
      expect(strange).toEqual([]);
    } finally {
      await page.context().close();
    }
  }

  test("a migration that never ran here is marked as applied wherever it is shown", async () => {
    const { runs, migrations, ...rest } = largeReport(2, 1);
    const report: ReportDocument = {
      ...rest,
      migrations: migrations.map((one) => ({ ...one, status: "baselined" })),
      runs: runs.map((one) => ({ ...one, outcome: "baselined" })),
    };
    await withPage(report, async (page) => {
      expect(await page.locator("#runs .badge.plain").filter({ hasText: "baselined" }).count()).toBe(2);
      expect(await page.locator("a.run.baselined use[href='#o-baselined']").count()).toBe(2);
      expect(await page.locator("#o-baselined").count()).toBe(1);
      await page.locator("details.column summary").first().click();
      expect(await page.locator(".column .events").first().innerText()).toContain(", marked as applied");
      // The legend has the words of the runs.
      expect(await page.locator("figure .legend").innerText()).toMatch(/reverted/);
    });
  });

  /** The text of the pending migrations. */
  const pendingText = async (report: ReportDocument) => {
    let text = "";
    await withPage(report, async (page) => {
      text = await page.locator("#pending").innerText();
    });
    return text;
  };

  test("a migration that a contract refuses has the way out, and the contracts are named", async () => {
    const contract = project({
      "migrations/0001_users.ts": migration(`m.createTable("users", { id: m.int32(), name: m.utf8() })`),
      "migrate.config.ts": `import { defineConfig } from "lance-migrate";\n\nexport default defineConfig({ targets: { local: { kind: "lance", uri: ".lancedb", contracts: "contracts" } } });\n`,
      "contracts/shop.json": JSON.stringify({
        format: 1,
        application: "shop",
        release: "1",
        tables: { users: { reads: { name: "utf8" } } },
      }),
    });
    expect(await contract.migrate(["up"])).toMatchObject({ code: 0 });
    writeFileSync(
      join(contract.folder, "migrations/0002_rename.ts"),
      migration(`m.renameColumn("users", "name", "title")`),
    );
    const report = JSON.parse((await contract.migrate(["report", "--json"])).stdout) as ReportDocument;
    const text = await pendingText(report);
    expect(text).toContain("Contracts: shop 1.");
    expect(text).toMatch(/breaks shop 1, which .*; instead:\n1\. .*\n2\. /);
    expect(await pendingText({ ...report, contracts: { releases: [], notes: ["contracts is empty"] } })).toMatch(
      /Contracts: none\..*contracts is empty/s,
    );
  });

  test("without a plan, a pending migration states why nothing is counted", async () => {
    const { migrations, ...rest } = largeReport(1, 1);
    const [one] = migrations;
    const { at: _, by: __, run: ___, duration: ____, ...pending } = one!;
    const report: ReportDocument = { ...rest, migrations: [{ ...pending, status: "pending" }] };
    expect(await pendingText(report)).toMatch(/cost, rows and consent\s+not counted because of the problems above/i);
    const differences = [{ table: "users", kind: "changed", differences: ["column x was not expected"] }] as never;
    expect(await pendingText({ ...report, drift: { checked: true, columns: true, differences } })).toMatch(
      /cost, rows and consent\s+not counted because of the drift/i,
    );
  });

  test.each([
    ["pending", { status: "pending" }, []],
    ["stopped", { status: "partial" }, ["stopped midway"]],
    ["being rolled back", { status: "reverting" }, ["rollback unfinished"]],
    ["refused", { status: "pending", refusals: [{ message: "no" }] }, ["refused"]],
    ["lossy", { status: "pending", risks: [{ kind: "loss", text: "loses a" }] }, ["may lose data"]],
    ["risky", { status: "pending", risks: [{ kind: "data", text: "may fail" }] }, []],
  ] as const)("a migration that is %s has just that badge", async (_, own, badges) => {
    const { migrations, ...rest } = largeReport(1, 1);
    const report = { ...rest, migrations: [{ ...migrations[0]!, refusals: [], risks: [], ...own }] };
    await withPage(report as unknown as ReportDocument, async (page) => {
      const texts = await page.locator("#pending .card h3 .badge").allInnerTexts();
      // Below its sign.
      expect(texts.map((text) => text.split("\n").at(-1))).toEqual(badges);
    });
  });
});
