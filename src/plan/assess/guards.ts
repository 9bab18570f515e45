/** Checks the consent that migrations need, and the guards of a target's configuration. Pure. */
import { count, MigrateError } from "../../errors/migrate-error.ts";
import type { Risk } from "../../actions/model/risk.ts";
import type { Acceptance } from "../../migrations/acceptance.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Cost } from "./cost.ts";
import type { Plan, PlannedAction } from "../make-plan.ts";
import type { LostRows } from "./lost-rows.ts";
import type { Refusal } from "../refusal.ts";
import type { RollbackClass } from "../rollback/rollback-classes.ts";

export interface Guards {
  /** Losses for which migrations need no further consent on this target. */
  readonly accepts?: readonly Acceptance[] | undefined;
  /** Rollback classes that no migration may have, whatever consent it has. `"none"` forbids what cannot be rolled back. */
  readonly forbid?: readonly RollbackClass[] | undefined;
  /** How many bytes, before compression, a migration may rewrite on this target. */
  readonly maxRewriteBytes?: number | undefined;
  /**
   * Whether the database must have tables already. Then a mistyped address is refused, and no new database is made there.
   *
   * @default false
   */
  readonly mustExist?: boolean | undefined;
}

/**
 * Adds the refusal to each action that may not run. `accept`: the consent for this run. `lost`: how many rows lose a
 * value, if the actions may lose some. `costs`: required if there is a limit.
 */
export function withRefusals(
  plan: Plan,
  guards: Guards,
  accept: readonly Acceptance[] = [],
  lost: LostRows = new Map(),
  costs?: ReadonlyMap<PlannedAction, { readonly cost: Pick<Cost, "bytes"> }>,
): Plan {
  const migrations = plan.migrations.map((planned) => {
    if (planned.direction !== "up") return planned;
    const accepted = acceptedOf(planned.migration, guards, accept);
    let bytes: number | null = 0;
    const actions = planned.actions.map((action, index) => {
      // An action that stopped between two of its commits has consent and continues. The steps after it may have
      // changed since.
      if (index === 0 && planned.midway !== undefined) return action;
      const own: number | null = costs?.get(action)?.cost.bytes ?? null;
      bytes = bytes === null || own === null ? null : bytes + own;
      const tooMuch = own === 0 ? undefined : rewriteRefusal(bytes, guards);
      return { ...action, refusal: refusalOf(action, guards, accepted, lost.get(action)) ?? tooMuch };
    });
    return { ...planned, actions };
  });
  return { ...plan, migrations };
}

/** The consent that a migration has: from its file, the configuration and this run. */
export function acceptedOf(
  { accepts = [] }: Pick<Migration, "accepts">,
  guards: Guards,
  accept: readonly Acceptance[] = [],
): ReadonlySet<Acceptance> {
  return new Set([...(guards.accepts ?? []), ...accept, ...accepts]);
}

/** The error of the first action that is known to fail. */
function failureIn({ migrations }: Plan): MigrateError<"ERR_STEP_WOULD_FAIL"> | undefined {
  for (const { place, refusal } of migrations.flatMap(({ actions }) => actions))
    if (refusal?.reason === "failure")
      return new MigrateError("ERR_STEP_WOULD_FAIL", { ...place, problem: refusal.problem });
  return undefined;
}

/** Throws the error of `refusalIn`. */
export function checkRefusals(plan: Plan, target: string, command?: ConsentCommand): void {
  const error = refusalIn(plan, target, command);
  if (error !== undefined) throw error;
}

type ConsentCommand = "migrate up" | "migrate push";

/**
 * Why the plan may not be carried out: ERR_STEP_WOULD_FAIL, ERR_CONSENT, ERR_FORBIDDEN, ERR_REWRITE, ERR_CONTRACT or
 * ERR_ROLLBACK_BLOCKED. `command`: the one that takes the consent, if it is not the one that was given.
 */
export function refusalIn(plan: Plan, target: string, command?: ConsentCommand): MigrateError | undefined {
  const { migrations, blocked } = plan;
  if (blocked !== undefined) return new MigrateError("ERR_ROLLBACK_BLOCKED", blocked);
  const failure = failureIn(plan);
  if (failure !== undefined) return failure;
  const actions = migrations.flatMap((migration) => migration.actions);
  for (const [index, { place, refusal }] of actions.entries()) {
    if (refusal?.reason === "consent")
      return new MigrateError("ERR_CONSENT", {
        ...place,
        ...refusal,
        others: othersOf(actions.slice(index + 1)),
        command,
      });
    if (refusal?.reason === "rewrite")
      return new MigrateError("ERR_REWRITE", {
        ...place,
        target,
        limit: refusal.limit,
        bytes: refusal.bytes ?? undefined,
      });
    if (refusal?.reason === "contract") {
      const broken = refusal.broken.map(({ application, release, problem }) => `${application} ${release} ${problem}`);
      const { direction } = migrations.find((one) => one.actions.includes(actions[index]!))!;
      return new MigrateError("ERR_CONTRACT", { ...place, direction, broken, sequence: refusal.sequence });
    }
    if (refusal?.reason === "forbidden") return new MigrateError("ERR_FORBIDDEN", { ...place, ...refusal, target });
  }
  return undefined;
}

/** Counts the later actions that need consent, so that the user is asked once for all of them. */
function othersOf(later: readonly PlannedAction[]): { count: number; consent: Acceptance } | undefined {
  const consents = later.flatMap(({ refusal }) => (refusal?.reason === "consent" ? [refusal.consent] : []));
  if (consents.length === 0) return undefined;
  return { count: consents.length, consent: consents.includes("irreversible") ? "irreversible" : "lossy" };
}

function rewriteRefusal(bytes: number | null, { maxRewriteBytes: limit }: Guards): Refusal | undefined {
  return limit === undefined || (bytes !== null && bytes <= limit) ? undefined : { reason: "rewrite", bytes, limit };
}

function refusalOf(
  { risks, rollback: own, withoutDown, text }: PlannedAction,
  { forbid = [] }: Guards,
  accepted: ReadonlySet<Acceptance>,
  lost: number | undefined,
): Refusal | undefined {
  const rollback = own ?? withoutDown;
  if (rollback !== undefined && forbid.includes(rollback.class))
    return { reason: "forbidden", class: rollback.class, problem: rollback.reason ?? text };
  const loss = lossIn(risks, lost);
  // With the class `exact`, only data is lost that the migration itself created.
  if (loss === undefined || rollback?.class === "exact") return undefined;
  const consent = rollback?.class === "none" ? "irreversible" : "lossy";
  return accepted.has(consent) || accepted.has("irreversible") ? undefined : { reason: "consent", consent, loss };
}

/** The first loss that needs consent, as text. `lost`: how many rows lose a value; undefined if unknown. */
function lossIn(risks: readonly Risk[], lost: number | undefined): string | undefined {
  const loss = risks.find(({ kind, isCounted }) => kind === "loss" && !(isCounted && lost === 0));
  if (loss?.isCounted !== true) return loss?.text;
  return `${loss.text}: ${lost === undefined ? "the number of rows is unknown, because they can't be counted here" : `${count(lost, "row")} now`}`;
}
