import { expect, test } from "vitest";
import { rollbackText, wayBackOf } from "../../../../src/cli/render/plan.ts";

type Actions = Parameters<typeof wayBackOf>[0];

/** Actions in the order of the migration; each is rolled back as given: "CLASS TEXT". */
const actions = (...backs: readonly string[]): Actions =>
  backs.map((back) => {
    const [is, ...text] = back.split(" ");
    return {
      step: 1,
      text: "change it",
      calls: [],
      risks: [],
      action: { kind: "any", table: "t" },
      rollback: { class: is as "exact", text: text.join(" "), actions: [{ kind: "any", table: "t" }] },
    };
  });

test("a way back that restores a table is named, however many others there are", () => {
  const adds = ["exact drop a", "exact drop b", "exact drop c", "exact drop d"];
  expect(wayBackOf(actions("restore restore t", ...adds))).toMatchObject({
    class: "restore",
    text: "drop d, then drop c, then 2 more, then restore t",
  });
  expect(wayBackOf(actions(...adds, "restore restore t"))?.text).toBe(
    "restore t, then drop d, then drop c, then 2 more",
  );
  const tables = ["restore restore t", "restore restore u", "restore restore v", "restore restore w"];
  expect(wayBackOf(actions(...tables, ...adds))?.text).toBe(
    "drop d, then 3 more, then restore w, then restore v, then restore u, then restore t",
  );
});

test("of many other ways back the first three are named, and never all but one", () => {
  const adds = ["exact drop a", "exact drop b", "exact drop c", "exact drop d", "exact drop e"];
  expect(wayBackOf(actions(...adds))?.text).toBe("drop e, then drop d, then drop c, then 2 more");
  expect(wayBackOf(actions(...adds.slice(1)))?.text).toBe("drop e, then drop d, then drop c, then drop b");
});

test("the reason for a restore is what the migration does, and not what the rollback does", () => {
  const reason = "rows of documents are deleted where id > 900";
  const text = "restore documents as it was before";
  expect(rollbackText({ class: "restore", text, reason })).toBe(`${text}, because in this migration ${reason}`);
  expect(rollbackText({ class: "none", text: "", reason })).toBe(reason);
  const checked = { class: "checked", text: "drop table t", reason: "refused if t holds rows" } as const;
  expect(rollbackText(checked)).toBe("drop table t; refused if t holds rows");
});
