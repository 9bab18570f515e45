import { expect, test } from "vitest";
import { parseIndexes } from "../../../../src/features/rest/parse-indexes.ts";

const listed = (details: unknown) => ({
  status: 200,
  headers: {},
  body: Buffer.from(
    JSON.stringify({
      indexes: [{ index_name: "s_idx", index_type: "FTS", columns: ["s"], index_details: details, status: "done" }],
    }),
  ),
});

const details = { base_tokenizer: "whitespace", stem: false, max_token_length: 30, custom_stop_words: ["a"] };

test.each([
  ["an object", details],
  ["text that holds JSON", JSON.stringify(details)],
])("the options of an index are read from details that are %s", (_, sent) => {
  expect(parseIndexes(listed(sent))?.["s_idx"]?.options).toEqual({
    baseTokenizer: "whitespace",
    stem: false,
    maxTokenLength: 30,
    customStopWords: ["a"],
  });
});

test.each([undefined, null, "no JSON"])("an index whose details are %j has no options", (sent) => {
  expect(parseIndexes(listed(sent))?.["s_idx"]).toMatchObject({ path: "s", kind: "fts", options: {} });
});
