/** Finds records with contents that the tool never writes. Pure. */
import { saysApplied, type LedgerEvent, type LedgerRecord } from "../state/record.ts";

interface Nonsense {
  readonly at: LedgerRecord;
  /** Completes a sentence that begins with the record's position. */
  readonly problem: string;
}

/** The fields that each event requires besides its position. If `version` is not among them, it must be absent. */
const speaks: Readonly<Record<LedgerEvent, readonly (keyof LedgerRecord)[]>> = {
  taken: [],
  renewed: [],
  advanced: ["version", "name", "step", "total"],
  applied: ["version", "name", "step", "total", "checksum", "textHash"],
  baselined: ["version", "name", "step", "total", "checksum", "textHash"],
  reverting: ["version", "name", "step", "total"],
  reverted: ["version", "name", "step", "total"],
  failed: ["version", "name", "step", "total"],
  interrupted: ["version", "name", "step", "total"],
  noted: ["version", "name", "textHash"],
  late: ["version", "name", "step", "total"],
  looked: ["late"],
  rebuilt: [],
  released: [],
};

const counts = ["version", "step", "total", "attempt", "duration", "lease", "next", "late", "at"] as const;

/** `sorted`: by position. */
export function senseless(sorted: readonly LedgerRecord[]): readonly Nonsense[] {
  const late = new Set(sorted.filter(({ event }) => event === "late").map(({ epoch }) => epoch));
  const released = new Set<number>();
  return sorted.flatMap((at): readonly Nonsense[] => {
    const ended = released.has(at.epoch);
    if (at.event === "released") released.add(at.epoch);
    const problem =
      problemInRecord(at, late) ?? (ended && at.event !== "late" ? "comes after the end of its epoch" : undefined);
    return problem === undefined ? [] : [{ at, problem }];
  });
}

function problemInRecord(record: LedgerRecord, late: ReadonlySet<number>): string | undefined {
  const { epoch, number, event, step = 0, total = 0 } = record;
  if (!isCount(epoch) || epoch === 0 || !isCount(number)) return "has no place in a ledger";
  if (!Object.hasOwn(speaks, event)) return `states ${JSON.stringify(event)}, which is no event`;
  if ((number === 0) !== (event === "taken"))
    return number === 0
      ? `takes its epoch and states ${event}`
      : "states that its epoch is taken, and is not the first";
  const missing = speaks[event].find((key) => record[key] === undefined || record[key] === "");
  if (missing !== undefined) return `states ${event} without its ${missing}`;
  const wrong = counts.find((key) => record[key] !== undefined && !isCount(record[key]));
  if (wrong !== undefined) return `states ${wrong} ${record[wrong]}, which is no number of anything`;
  if (record.version !== undefined && !speaks[event].includes("version")) return `states ${event} of a migration`;
  if (step > total) return `states that ${step} of ${total} actions are done`;
  if ((saysApplied(record) || event === "reverted") && step < total)
    return `states that a migration is ${event} and ${step} of ${total} actions done`;
  if (record.late !== undefined && event !== "looked") return `states ${event} and looked at a late call`;
  if (event === "looked" && !(record.late! < epoch && late.has(record.late!)))
    return `looked at a late call of epoch ${record.late}, which the ledger does not contain`;
  return undefined;
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && value! >= 0;
}
