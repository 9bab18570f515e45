/** Executors of some kinds of actions, around a target on the embedded engine. */
import { expect, test } from "vitest";
import type { Action } from "../../../src/actions/model/action.ts";
import { MigrateError } from "../../../src/errors/migrate-error.ts";
import { ActionFailed } from "../../../src/run/calls/action-failed.ts";
import { withExecutors } from "../../../src/run/executors.ts";
import type { Executed, Target } from "../../../src/targets/contract/target.ts";
import { open } from "../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../support/project.ts";

/** The target, with the kinds of its calls. */
async function aTarget(): Promise<{ readonly target: Target; readonly calls: string[] }> {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const calls: string[] = [];
  const execute = async ({ kind }: Action): Promise<Executed> => ({ version: calls.push(kind) });
  return { target: { ...target, execute }, calls };
}

const dropTable: Action = { kind: "dropTable", table: "docs" };
const optimize: Action = { kind: "optimizeTable", table: "docs" };

test("an executor calls the target for its own kind, and other executors for theirs; each begins once", async () => {
  const { target, calls } = await aTarget();
  const begun: string[] = [];
  const executors = {
    dropTable: (inner: Target, name: string) => {
      begun.push(`dropTable of ${name}`);
      return async (action: Action) => {
        await inner.execute(optimize, undefined);
        return await inner.execute(action, undefined);
      };
    },
    optimizeTable: () => async () => ({ version: calls.push("own optimizeTable") }),
  };
  const able = withExecutors(target, executors, "a run");
  await able.execute(dropTable, undefined);
  await able.execute(dropTable, undefined);
  await able.execute({ kind: "dropIndex", table: "docs", name: "by_id" }, undefined);
  expect(calls).toEqual(["own optimizeTable", "dropTable", "own optimizeTable", "dropTable", "dropIndex"]);
  expect(begun).toEqual(["dropTable of a run"]);
});

test("an error of an executor states what it means, also as the cause of an interruption; others are the target's", async () => {
  class Half extends ActionFailed {
    override get outcome() {
      return { kind: "unanswered", commits: 2 } as const;
    }
  }
  const { target } = await aTarget();
  const able = withExecutors(target, {}, undefined);
  const half = new Half("half of it is done");
  const interrupted = new MigrateError("ERR_INTERRUPTED", { done: "half" }, { cause: half });
  expect(able.verdict(half)).toEqual({ kind: "unanswered", commits: 2 });
  expect(able.explain(half)).toBe("half of it is done");
  expect(able.verdict(interrupted)).toEqual({ kind: "unanswered", commits: 2 });
  expect(able.explain(interrupted)).toBe(interrupted.message);
  expect(able.verdict(new MigrateError("ERR_INTERRUPTED", { done: "half" }))).toEqual({ kind: "refused" });
  const other = new Error("commit conflict");
  expect(able.verdict(other)).toEqual(target.verdict(other));
});
