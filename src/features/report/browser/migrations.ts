/** The migrations: those that ran, in a list, and those that are pending, each with what speaks for and against it. */
import { formatMigration } from "../../../migrations/file-name.ts";
import type { ReportDocument, ReportedMigration, ReportedRisk } from "../report-document.ts";
import { isRefused, mayLoseData, needsConsent } from "../../../plan/document/plan-summary.ts";
import { releaseNames } from "../../../cli/render/contracts.ts";
import { costText, refusalLines, restoreText, riskText } from "../../../cli/render/plan-words.ts";
import { renderDuration } from "../../../cli/render/times.ts";
import { code, html, type Child } from "./dom.ts";
import { badge, longList, notice, section, sign, type Tone } from "./parts.ts";
import { findable, type Section } from "./search.ts";
import { idOf, time, who } from "./words.ts";

const ranTones: Readonly<Record<ReportedMigration["status"], Tone>> = {
  applied: "good",
  baselined: "plain",
  missing: "warn",
  partial: "bad",
  reverting: "bad",
  pending: "plain",
};

const rollbackTones = { exact: "good", checked: "good", written: "good", restore: "warn", none: "bad" } as const;

export function isUnfinished({ status }: ReportedMigration): boolean {
  return status === "pending" || status === "partial" || status === "reverting";
}

/** What `migrate up` has to do yet. Undefined if that is nothing. */
export function pendingSection(report: ReportDocument): Section | undefined {
  const { migrations, contracts } = report;
  const pending = migrations.filter(isUnfinished);
  if (pending.length === 0) return undefined;
  const cards = pending.map((one) => card(one, report));
  const refused = pending.filter(isRefused).length;
  const lead =
    refused === 0
      ? "In the order in which they would run."
      : `migrate up refuses ${refused === 1 ? "one of them" : `${refused} of them`}.`;
  const checked = contracts && ` Contracts: ${releaseNames(contracts.releases)}.`;
  const notes = (contracts?.notes ?? []).map((text) => notice("warn", text));
  const element = section("pending", "Pending", [lead, checked], ...notes, html("ol", { class: "cards" }, ...cards));
  const found = pending.map((one, at) => findable(cards[at]!, ...textsOf(one)));
  return { element, noun: "pending migration", found };
}

/** Nothing is counted or checked without a plan. */
function whyUnplanned({ drift }: ReportDocument): string {
  const isDrift = drift.checked && drift.differences.length > 0;
  return `not counted because of ${isDrift ? "the drift" : "the problems above"}`;
}

function card(one: ReportedMigration, report: ReportDocument): HTMLElement {
  const { version, status, rollback, cost, risks, refusals = [], detail, actions } = one;
  const badges = [
    status === "partial" ? badge("bad", "stopped midway") : undefined,
    status === "reverting" ? badge("bad", "rollback unfinished") : undefined,
    isRefused(one) ? badge("bad", needsConsent(one) ? "needs consent" : "refused") : undefined,
    mayLoseData(one) ? badge("warn", "may lose data") : undefined,
  ];
  const facts = [
    one.refusals === undefined
      ? fact("Cost, rows and consent", whyUnplanned(report))
      : fact("Cost", cost === undefined ? "in a group" : costText(cost)),
    rollback === undefined ? undefined : fact("Rollback", rollbackWords(rollback)),
  ];
  return html(
    "li",
    { id: idOf(version), class: "card", tabindex: -1 },
    html("h3", {}, code(formatMigration(one)), ...badges),
    html("ul", { class: "steps" }, ...actions.map((text) => html("li", {}, text))),
    ...refusals.map((refusal) => notice("bad", refusalLines(refusal).join("\n"))),
    detail === undefined ? undefined : notice("bad", detail),
    ...risks.map(riskNotice),
    html("dl", { class: "facts" }, ...facts),
  );
}

function riskNotice(risk: ReportedRisk): HTMLElement {
  if (risk.rows === 0) return notice("plain", riskText(risk));
  return notice(risk.kind === "loss" ? "bad" : "warn", riskText(risk));
}

function fact(name: string, ...value: readonly Child[]): HTMLElement {
  return html("div", {}, html("dt", {}, name), html("dd", {}, ...value));
}

function rollbackWords({ class: is, text, reason }: NonNullable<ReportedMigration["rollback"]>): readonly Child[] {
  const words =
    is === "restore" ? restoreText(text, reason) : [text, reason ?? ""].filter((one) => one !== "").join("; ");
  return [badge(rollbackTones[is], is), words === "" ? undefined : ` ${words}`];
}

/** Those that ran, the newest first, with the point from which there is no way back. */
export function migrationList({
  migrations,
  noReturn,
}: ReportDocument): Section & { readonly parts: readonly Child[] } {
  const ran = migrations.filter((one) => !isUnfinished(one)).toReversed();
  const rows = ran.map((one) => row(one));
  const last = ran.findIndex(({ version }) => version === noReturn?.version);
  if (noReturn !== undefined && last !== -1)
    rows[last]!.prepend(
      html("p", { class: "no-return" }, html("span", {}, sign("bad"), "No way back past here: ", noReturn.why)),
    );
  const parts = longList("rows", "migration", rows);
  const found = ran.map((one, at) => findable(rows[at]!, ...textsOf(one)));
  return { element: parts[0] as HTMLElement, noun: "migration", found, parts };
}

function row(one: ReportedMigration): HTMLElement {
  const { version, status, at, by, duration, group, actions, detail, rollback } = one;
  const took = duration === undefined || status === "baselined" ? "" : renderDuration(duration);
  const brief =
    actions.length === 0
      ? statusWords(status)
      : `${actions[0]}${actions.length > 1 ? ` and ${actions.length - 1} more` : ""}`;
  const summary = html(
    "summary",
    {},
    sign(ranTones[status]),
    code(formatMigration(one)),
    html("span", { class: "brief" }, brief),
    html("span", { class: "when" }, at === undefined ? "" : time(at)),
    html("span", { class: "by" }, by === undefined ? "" : who(by)),
    html("span", { class: "took" }, took),
  );
  const facts = [
    statusWords(status) === "" ? undefined : fact("State", statusWords(status)),
    by === undefined ? undefined : fact("Run by", by),
    group === undefined || duration === undefined
      ? undefined
      : fact("Duration", `${renderDuration(duration)}, together with the rest of its group`),
    rollback === undefined ? undefined : fact("Rollback", rollbackWords(rollback)),
    detail === undefined ? undefined : fact("Note", detail),
  ];
  const body = html(
    "div",
    { class: "body" },
    html("ul", { class: "steps" }, ...actions.map((text) => html("li", {}, text))),
    html("dl", { class: "facts" }, ...facts),
  );
  return html("li", { id: idOf(version), tabindex: -1 }, html("details", {}, summary, body));
}

function statusWords(status: ReportedMigration["status"]): string {
  if (status === "baselined") return "marked as applied; it never ran here";
  return status === "missing" ? "its file is not in the migrations folder" : "";
}

function textsOf(one: ReportedMigration): readonly (string | undefined)[] {
  const risks = one.risks.map(({ text }) => text);
  return [
    formatMigration(one),
    one.status,
    one.by,
    one.at,
    one.detail,
    ...(one.refusals ?? []).flatMap(refusalLines),
    ...one.actions,
    ...risks,
  ];
}

/** The last one that ran. */
export function lastRan({ migrations }: ReportDocument): ReportedMigration | undefined {
  return migrations.findLast((one) => !isUnfinished(one));
}
