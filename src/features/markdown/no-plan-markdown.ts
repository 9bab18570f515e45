/** What a comment on a pull request has with a plan and without one, and the one without. */
import type { PlanDocument } from "../../plan/document/plan-document.ts";
import { code, prose } from "./markdown.ts";
import { renderTime } from "../../cli/render/times.ts";

/** What the document does not contain. */
export interface PlanAbout {
  /** The database, of a target with several. */
  readonly database: string | undefined;
  /** The name and the version of this tool. */
  readonly tool: string;
  /** When the plan was made, in milliseconds since 1970. */
  readonly at: number;
  /** The file to which the plan was saved. */
  readonly saved: string | undefined;
}

type PlanSubject = Pick<PlanDocument, "target" | "direction">;

/** The comment if no plan could be made: an earlier one must not stay, as its plan does not hold any more. */
export function noPlanMarkdown(
  planned: PlanSubject,
  about: PlanAbout,
  problem: string,
  errorCode: string,
): readonly string[] {
  return [
    markerOf(planned, about),
    `### No plan for ${code(targetLabel(planned, about))}`,
    "",
    "> [!CAUTION]",
    `> ${prose(problem)} (${code(errorCode)})`,
    "",
    `<sub>By ${about.tool}, ${renderTime(about.at)}.</sub>`,
  ];
}

export function targetLabel({ target }: PlanSubject, { database }: PlanAbout): string {
  return database === undefined ? target : `${target}/${database}`;
}

/** The first line of a comment. */
export function markerOf(planned: PlanSubject, about: PlanAbout): string {
  const where = encodeURIComponent(targetLabel(planned, about).toWellFormed());
  return `<!-- lance-migrate ${where} ${planned.direction} -->`;
}
