import { expect, test } from "vitest";
import { amounts, budgets } from "../budgets.ts";

const all = amounts();

test("each part of the repository is within its budget", () => {
  expect(Object.keys(all).toSorted()).toEqual(Object.keys(budgets).toSorted());
  expect(Object.entries(all).filter(([part, amount]) => amount > budgets[part]!)).toEqual([]);
});

test("a budget is lowered when something is deleted", () => {
  expect(Object.entries(all).filter(([part, amount]) => amount < 0.95 * budgets[part]!)).toEqual([]);
});
