import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeReport } from "./make-report.ts";
import type { FleetDocument, ReportDocument } from "./report-document.ts";
import { countOf } from "./standing.ts";
import { count, formatNumber, MigrateError } from "../../errors/migrate-error.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { defineCommand, withTarget, type Context } from "../../cli/command/command.ts";
import { bundleFlags, switchFlag, textFlag, wholeFlag } from "../../cli/command/flags.ts";
import { shownPath } from "../shared/written-files.ts";
import { reportAll } from "./report-all.ts";
import { fleetPage, isReportPage, reportPage } from "./page.ts";
import type * as shapes from "./json.ts";

const pageName = "report.html";

export const reportCommand = defineCommand({
  describe: "write one HTML page with the history, the life of every column, and what is pending",
  examples: [
    ["migrate report", "write report.html"],
    ["migrate report --open", "write the page to a temporary folder, and open it in the browser"],
    ["migrate report --out pages/production.html --recall", "also measure the recall of vector indexes"],
    ["migrate report --fleet --target tenants", "write one page about all databases of a target"],
  ],
  flags: {
    out: textFlag(`the page to write (${pageName})`, { value: "FILE" }),
    open: switchFlag("open the page in the browser"),
    recall: switchFlag("also measure what share of the nearest neighbours the vector indexes find"),
    fleet: switchFlag("write a page about all databases of a target that has several, and how far each is"),
    concurrency: wholeFlag("how many databases to work on at a time, of a target with several (8)", 1, 1000),
    ...bundleFlags,
  },
  conflicts: [["fleet", "recall", "database"]],
  async run(context) {
    const { flags, output } = context;
    const { fleet = false, recall, concurrency } = flags;
    if (concurrency !== undefined && !fleet)
      throw new MigrateError("ERR_USAGE", { problem: "--concurrency needs --fleet" });
    const place = reportFile(context);
    const madeAt = new Date().toISOString();
    if (fleet) {
      const { document, finish } = await reportAll(context, madeAt);
      output.data<typeof shapes.report>(document);
      await writePage(context, place, () => fleetPage(document), fleetSummary(document));
      return finish();
    }
    const [report] = await withTarget(context, (options) => makeReport(options, { madeAt, recall }));
    output.data<typeof shapes.report>(report);
    await writePage(context, place, () => reportPage(report), summaryOf(report));
    return undefined;
  },
});

type ReportFlags = Pick<Context<{ readonly out?: string | undefined; readonly open?: boolean | undefined }>, "flags">;

/** The file to write, unless it is a temporary one, or none with --json. Throws ERR_REPORT_FOREIGN, ERR_REPORT_FILE. */
function reportFile({
  flags: { out, open = false },
  output,
}: ReportFlags & Pick<Context, "output">): string | undefined {
  if (out === undefined && (open || output.json)) return undefined;
  const given = resolve(out ?? pageName);
  checkOurs(given);
  return given;
}

async function writePage(
  { flags: { open = false }, output, underWay }: ReportFlags & Pick<Context, "output" | "underWay">,
  given: string | undefined,
  page: () => string,
  summary: string,
): Promise<void> {
  if (given === undefined && !open) return;
  const path = given ?? join(mkdtempSync(join(tmpdir(), "lance-migrate-report-")), pageName);
  underWay(true);
  writeGenerated(path, page(), "ERR_REPORT_FILE");
  output.result(`${given === undefined ? path : shownPath(path)}: ${summary}`);
  if (open) await (await import("./open-in-browser.ts")).openInBrowser(path, output);
}

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

function fleetSummary({ databases, target }: FleetDocument): string {
  const parts = [
    ["isUpToDate", "up to date"],
    ["isPending", "with pending migrations"],
    ["hasProblems", "with problems"],
    ["isUnread", "unreadable"],
  ] as const;
  const words = parts.flatMap(([what, text]) => {
    const number = countOf(databases, what);
    return number === 0 ? [] : [`${formatNumber(number)} ${text}`];
  });
  return [`${count(databases.length, "database")} of ${target}`, ...words].join(", ");
}
