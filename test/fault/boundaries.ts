/** A target at one of whose calls something happens: before it is made, while it is under way, or before its answer is heard. */
import type { Target } from "../../src/targets/contract/target.ts";
import type { RecordTable } from "../../src/targets/contract/ledger-store.ts";

export type Place = "before" | "during" | "after";

/** Told of every call twice, so that what it does, such as ending the process, happens there. */
export type Meet = (call: number, place: Place, name: string) => void;

/** Everything that a run asks of a target, and of the ledger in it, is counted from 1. */
export function atBoundaries(target: Target, meet: Meet): Target {
  let calls = 0;
  const met =
    <Args extends readonly unknown[], Result>(name: string, work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const call = ++calls;
      meet(call, "before", name);
      const working = work(...args);
      // The engine has it on a thread of its own by now, or the network does.
      setImmediate(() => meet(call, "during", name));
      // A refusal is an answer too.
      return await working.finally(() => meet(call, "after", name));
    };
  const metRecords = (records: RecordTable): RecordTable => ({
    create: met("records.create", records.create),
    all: met("records.all", records.all),
    last: met("records.last", records.last),
    count: met("records.count", records.count),
    insertIfAbsent: met("records.insertIfAbsent", records.insertIfAbsent),
    insert: met("records.insert", records.insert),
    compact: met("records.compact", records.compact),
  });
  const { ledger, rows, versions } = target;
  return {
    ...target,
    listTables: met("listTables", target.listTables),
    describeTable: met("look", target.describeTable),
    execute: met("execute", target.execute),
    rows: rows && {
      columns: met("rows.columns", rows.columns),
      indexes: met("rows.indexes", rows.indexes),
      version: met("rows.version", rows.version),
      read: met("rows.read", rows.read),
      // A stream that a crash would not end.
      batches: rows.batches,
      nearest: met("rows.nearest", rows.nearest),
      setNull: met("rows.setNull", rows.setNull),
      update: met("rows.update", rows.update),
      append: met("rows.append", rows.append),
      delete: met("rows.delete", rows.delete),
      drop: met("rows.drop", rows.drop),
    },
    versions: versions && {
      keep: met("versions.keep", versions.keep),
      release: met("versions.release", versions.release),
      kept: met("versions.kept", versions.kept),
      look: met("versions.look", versions.look),
      list: met("versions.list", versions.list),
      at: met("versions.at", versions.at),
      time: met("versions.time", versions.time),
      since: met("versions.since", versions.since),
      misfitsSince: met("versions.misfitsSince", versions.misfitsSince),
    },
    ledger:
      ledger.kind === "rows"
        ? { kind: "rows", records: (shape) => metRecords(ledger.records(shape)) }
        : { kind: "markers", create: met("markers.create", ledger.create) },
  };
}
