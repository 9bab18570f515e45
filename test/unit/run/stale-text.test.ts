import { expect, test } from "vitest";
import { deferralDetail } from "../../../src/ledger/state/record.ts";
import { placeIn, waitingText, watchedWords } from "../../../src/run/stale-text.ts";

const column = { table: "docs", keep: "embedding_old" };

test("the words for a watched column give its place, also those of older releases", () => {
  expect(placeIn(watchedWords(column))).toEqual(column);
  expect(placeIn("embedding_old of docs")).toEqual(column);
});

test("a watched column is not shown as an index that is deferred", () => {
  expect(waitingText(deferralDetail([watchedWords(column)]))).toBe("watched until embedding_old of docs is dropped");
  expect(waitingText(deferralDetail(["a_idx of docs"], ["it failed"]))).toBe(
    "deferred: a_idx of docs; not built: it failed",
  );
  expect(waitingText(deferralDetail(["a_idx of docs", watchedWords(column)]))).toBe(
    "deferred: a_idx of docs; watched until embedding_old of docs is dropped",
  );
});
