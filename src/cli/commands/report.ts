import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeReport } from "../../commands/report/make-report.ts";
import type { ReportDocument } from "../../commands/report/report-document.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { defineCommand, withTarget } from "../command/command.ts";
import { bundleFlags, switchFlag, textFlag } from "../command/flags.ts";
import { shownPath } from "../render/steps.ts";
import { isReportPage, reportPage } from "../report/page.ts";

const pageName = "report.html";

export const reportCommand = defineCommand({
  usage: "report",
  describe: "write one HTML page with the history, the life of every column, and what is pending",
  examples: [
    ["migrate report", "write report.html"],
    ["migrate report --open", "write the page to a temporary folder, and open it in the browser"],
    ["migrate report --out pages/production.html --recall", "also measure the recall of vector indexes"],
  ],
  flags: {
    out: textFlag(`the page to write (${pageName})`, { value: "FILE" }),
    open: switchFlag("open the page in the browser"),
    recall: switchFlag("also measure what share of the nearest neighbours the vector indexes find"),
    ...bundleFlags,
  },
  async run(context) {
    const { flags, output, underWay } = context;
    const { out, open = false, recall } = flags;
    const isTemporary = out === undefined && open;
    const given = out === undefined && (open || output.json) ? undefined : resolve(out ?? pageName);
    if (given !== undefined) checkOurs(given);
    const madeAt = new Date().toISOString();
    const [report] = await withTarget(context, (options) => makeReport(options, { madeAt, recall }));
    output.data<"report">(report);
    if (given === undefined && !open) return undefined;
    const path = given ?? join(mkdtempSync(join(tmpdir(), "lance-migrate-report-")), pageName);
    underWay(true);
    writeGenerated(path, reportPage(report), "ERR_REPORT_FILE");
    output.result(`${isTemporary ? path : shownPath(path)}: ${summaryOf(report)}`);
    if (open) await (await import("../report/open-in-browser.ts")).openInBrowser(path, output);
    return undefined;
  },
});

/** Refuses to overwrite what is not such a page. Throws ERR_REPORT_FOREIGN, ERR_REPORT_FILE. */
function checkOurs(path: string): void {
  const text = existsSync(path) ? readGenerated(path, "ERR_REPORT_FILE") : undefined;
  if (text !== undefined && !isReportPage(text))
    throw new MigrateError("ERR_REPORT_FOREIGN", { file: shownPath(path) });
}

function summaryOf({ migrations, target, drift }: ReportDocument): string {
  const pending = migrations.filter(({ status }) => status === "pending" || status === "partial").length;
  const differing = drift.checked ? drift.differences.length : 0;
  const words = [
    `${count(migrations.length - pending, "migration")} applied`,
    `${pending} pending`,
    ...(differing === 0 ? [] : [`drift in ${count(differing, "table")}`]),
  ];
  return `${words.join(", ")} on ${target}`;
}
