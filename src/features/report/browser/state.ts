/** The state in four facts, and what needs somebody's attention. */
import { count } from "../../../errors/entry.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import type { ReportDocument, ReportedDrift } from "../report-document.ts";
import { verdictText } from "../../../plan/document/plan-summary.ts";
import { deferralText } from "../../../run/deferral-text.ts";
import { code, html } from "./dom.ts";
import { sinceWords } from "./details.ts";
import { isUnfinished, lastRan } from "./migrations.ts";
import { notice, tile } from "./parts.ts";
import { dayOf, linkTo } from "./words.ts";

export function stateSection(report: ReportDocument): HTMLElement {
  const { problems, doubts, deferred, lease, tablesProblem } = report;
  const notices = [
    ...problems.map((text) => notice("bad", text)),
    ...doubts.map((text) => notice("bad", text)),
    ...deferred.map((one) => notice("warn", deferralText(one))),
    lease === undefined ? undefined : notice("warn", lease),
    tablesProblem === undefined ? undefined : notice("warn", tablesProblem),
  ];
  const facts = [applied(report), pending(report), drift(report.drift), wayBack(report)];
  return html("section", { id: "state", "aria-label": "State" }, html("dl", { class: "state" }, ...facts), ...notices);
}

function applied(report: ReportDocument): HTMLElement {
  const last = lastRan(report);
  const done = report.migrations.filter((one) => !isUnfinished(one)).length;
  if (last === undefined) return tile("plain", "Applied", "none");
  const when = last.at === undefined ? undefined : `, ${dayOf(last.at)}`;
  return tile("plain", "Applied", count(done, "migration"), "last ", linkTo(last.version, formatMigration(last)), when);
}

function pending({ migrations, verdict }: ReportDocument): HTMLElement {
  const all = migrations.filter(isUnfinished);
  if (all.length === 0) return tile("good", "Pending", "nothing", "the database is up to date");
  const words = verdictText(
    verdict,
    all.map((one) => ({ ...one, unfinished: one.status !== "pending" })),
  );
  const isBad = verdict === "refused" || all.some(({ status }) => status !== "pending");
  const tone = isBad ? "bad" : words === "ready" || words === "" ? "plain" : "warn";
  return tile(tone, "Pending", count(all.length, "migration"), words || "not planned");
}

function drift(found: ReportedDrift): HTMLElement {
  if (!found.checked) return tile("plain", "Drift", "not checked", found.why);
  const { differences } = found;
  if (differences.length === 0) return tile("good", "Drift", "none", "the tables are as the migrations made them");
  const times = differences.flatMap((one) => sinceWords(one)?.time ?? []).toSorted();
  const since = times.length === 0 ? undefined : `, since ${dayOf(times[0]!)}`;
  const link = html("a", { href: "#drift" }, "what differs");
  return tile("bad", "Drift", count(differences.length, "table"), link, since);
}

function wayBack(report: ReportDocument): HTMLElement {
  const { noReturn, drift: found } = report;
  if (lastRan(report) === undefined) return tile("plain", "Way back", "nothing ran");
  // Rows may block a rollback, too. Only a plan counts them.
  const looking = [code("migrate plan --down"), " also looks at rows"];
  // Migrations that do not change these tables can be rolled back.
  if (found.checked && found.differences.length > 0) {
    const where = `blocked on ${count(found.differences.length, "table")}`;
    return tile("bad", "Way back", where, "by drift, until it is undone; ", ...looking);
  }
  const unless = found.checked ? "" : ", unless there is drift";
  if (noReturn === undefined)
    return tile("good", "Way back", "all the way", `each migration has one${unless}; `, ...looking);
  return tile(
    "warn",
    "Way back",
    ["down to ", linkTo(noReturn.version)],
    "this one can't be rolled back; ",
    ...looking,
  );
}
