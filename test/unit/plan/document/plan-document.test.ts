import { expect, test } from "vitest";
import { planDocument } from "../../../../src/plan/document/plan-document.ts";

test("what was accepted to be lost is in the document of a plan, and nothing where there is none", () => {
  const documentOf = (accepted: readonly string[] | undefined) =>
    planDocument({ migrations: [], accepted } as never, "local", "down");
  expect(documentOf(["1 row of t"])).toMatchObject({ target: "local", reverting: [], accepted: ["1 row of t"] });
  expect(documentOf([])).not.toHaveProperty("accepted");
  expect(documentOf(undefined)).not.toHaveProperty("accepted");
});

test("the document counts the migrations that are refused because they break a contract", () => {
  const planned = (version: number, reason: string | undefined) => {
    const refusal = reason && { reason, broken: [], sequence: [], problem: "no" };
    const action = { place: { step: 1, kind: "k" }, action: {}, text: "", commits: [], risks: [], refusal };
    return {
      migration: { version, name: "m", file: "", checksum: "", steps: [] },
      actions: [action],
      done: 0,
      total: 1,
    };
  };
  const contracts = { releases: ["search 1"], notes: [] };
  const migrations = [planned(1, undefined), planned(2, "contract"), planned(3, "failure"), planned(4, "contract")];
  expect(planDocument({ migrations, contracts } as never, "local", "up").contracts).toEqual({
    ...contracts,
    refused: 2,
  });
});
