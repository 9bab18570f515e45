/**
 * A target in memory, for simulations: it answers as the embedded engine or a table service does, over a way that may
 * lose, delay and reorder requests and answers. Nothing stays when the process ends, so no configuration can name it.
 */
import { systemClock, type Clock } from "../../clock.ts";
import { firstLine, isMigrateError, MigrateError } from "../../errors.ts";
import { unfenced } from "../../engine/unfenced.ts";
import { actionKinds, describeAction, type Action, type ActionKind } from "../../schema/action.ts";
import { insist } from "../insist.ts";
import { isFenced, type Capabilities, type Sight, type Target, type Verdict } from "../target.ts";
import { verdictOf } from "../verdict.ts";
import { memoryRecords } from "./records.ts";
import type { MemoryTable, MemoryTables } from "./tables.ts";

/** As which target it answers. */
export const models = ["embedded", "namespace", "service"] as const;
export type Model = (typeof models)[number];

/** Something asked of the tables. */
export interface Request<Result> {
  /** In words, for a trace. */
  readonly what: string;
  /** The action that it carries out. */
  readonly action?: Action | undefined;
  /** It reaches the tables, and gives what ends it there: in between others may come. */
  readonly arrive: () => () => Result;
}

/** Carries a request to the tables and the answer back, or an error. */
export type Carry = <Result>(request: Request<Result>) => Promise<Result>;

export interface MemoryOptions {
  readonly name: string;
  readonly model: Model;
  readonly tables: MemoryTables;
  /** At once by default. */
  readonly carry?: Carry | undefined;
  readonly clock?: Clock | undefined;
}

/** No versions are kept here, and one is carried out by others. */
const missing: ReadonlySet<ActionKind> = new Set(["convertColumn", "putBackRows", "restoreTable"]);
const every = Object.fromEntries(actionKinds.flatMap((kind) => (missing.has(kind) ? [] : [[kind, true as const]])));
const abilities: Record<Model, Capabilities> = {
  embedded: {
    actions: { ...every, renameTable: "the open-source engine can't rename a table" },
    describes: true,
    fences: true,
    unfenced,
  },
  namespace: { actions: every, describes: true, fences: false },
  service: { actions: { createTable: true, alterColumns: true }, describes: false, fences: false },
};

export function abilitiesOf(model: Model): Capabilities {
  return abilities[model];
}

interface MemorySight extends Sight {
  readonly seen: MemoryTable;
}

export function memoryTarget({
  name,
  model,
  tables,
  carry = async ({ arrive }) => arrive()(),
  clock = systemClock,
}: MemoryOptions): Target {
  const capabilities = abilitiesOf(model);
  const { describes, fences } = capabilities;
  const answer = (status: number, request: string, problem: string, conflict?: boolean) =>
    new MigrateError("ERR_ANSWER", { target: name, request, status, problem, conflict });

  /** Gives what is there when it arrives; asked again while there is no answer. */
  const read = async <Result>(what: string, result: () => Result): Promise<Result> => {
    const arrive = () => {
      const found = result();
      return () => found;
    };
    try {
      return await insist(() => carry({ what, arrive }), verdictOf, clock);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: name, problem: firstLine(cause) }, { cause });
    }
  };

  /** Made once, against what was there when it began or, with a fence, when it was looked at. */
  const write = async (action: Action, what: string, seen: MemoryTable | undefined): Promise<void> =>
    await carry({
      what,
      action,
      arrive() {
        const began = seen ?? tables.get(action.table);
        return () => {
          if (tables.get(action.table) !== began) throw answer(409, what, "the table has changed meanwhile", true);
          try {
            tables.carryOut(action);
          } catch (cause) {
            throw answer(400, what, (cause as Error).message);
          }
        };
      },
    });

  const listTables = () => read("list tables", () => tables.names());

  return {
    name,
    place: "memory",
    capabilities,
    listTables,
    look: (table, withIndexes) =>
      read(`look at ${table}`, (): MemorySight | undefined => {
        const seen = tables.get(table);
        if (seen === undefined) return undefined;
        if (!describes) return { table: { columns: [] }, version: undefined, seen };
        const { columns, indexes, version } = seen;
        return { table: { columns, ...(withIndexes === true ? { indexes } : {}) }, version, seen };
      }),
    async execute(action, sight) {
      await write(
        action,
        `${action.kind} ${action.table}`,
        isFenced(action.kind, capabilities) ? (sight as MemorySight | undefined)?.seen : undefined,
      );
      return describes ? tables.get(action.table)?.version : undefined;
    },
    call: async (action) => describeAction(action),
    verdict: fences ? engineVerdict : verdictOf,
    explain: (error) => (isMigrateError(error, "ERR_ANSWER") ? error.details.problem : (error as Error).message),
    ledger: describes
      ? { kind: "rows", records: (shape) => memoryRecords({ tables, carry, clock, isService: !fences }, shape) }
      : {
          kind: "markers",
          create: (marker, columns, row) =>
            carry({
              what: `create ${marker}`,
              arrive: () => () => tables.create(marker, columns, [row]),
            }),
        },
    discard: async (table) => tables.drop(table),
    close: async () => {},
  };
}

/** The embedded engine knows no answer that got lost. */
function engineVerdict(error: unknown): Verdict {
  return { kind: isMigrateError(error, "ERR_ANSWER") && error.details.conflict === true ? "conflict" : "refused" };
}
