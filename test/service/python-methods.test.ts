/**
 * All public methods of the Python clients' remote objects; docs/methods-python.md is written from this, on clients that it
 * installs.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { z } from "zod";
import { routes } from "../../src/features/serve/routes/index.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { pageOf, type Method } from "../clients/methods/page.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/project.ts";
import { aService, apiKey } from "./served.ts";

interface Report {
  readonly withoutRow: readonly string[];
  readonly withoutMethod: readonly string[];
  readonly methods: readonly (Method & { readonly problem: string | null })[];
}

const intro = `What the methods of \`lancedb\` 0.40 and \`pylance\` 14.0.2 for Python do when they are connected to [\`migrate serve\`](service.md).`;

test.skipIf(lacks("python"))("every public method does what its row states, and docs show it", async () => {
  const { service } = await aService({ workers: 2 });
  const args = [join(root, "test/clients/methods/python.py"), service.url, apiKey];
  const { stdout } = await promisify(execFile)(pythonWith(...officialPackages), args, { maxBuffer: 2 ** 24 });
  const reports = Object.entries(JSON.parse(stdout) as Record<string, Report>);
  for (const [kind, { withoutRow, withoutMethod, methods }] of reports) {
    const problems = methods.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
    expect({ kind, withoutRow, withoutMethod, problems }).toEqual({
      kind,
      withoutRow: [],
      withoutMethod: [],
      problems: [],
    });
  }
  const groups = Object.fromEntries(reports.map(([kind, { methods }]) => [kind, methods]));
  await expect(pageOf("Methods of the Python clients", intro, groups)).toMatchFileSnapshot(
    "../../docs/methods-python.md",
  );
});

/** The models of requests with a JSON body that the service reads, by the ends of their routes' paths. */
const models: Readonly<Record<string, string>> = {
  describe: "DescribeTableRequest",
  exists: "TableExistsRequest",
  drop: "DropTableRequest",
  rename: "RenameTableRequest",
  stats: "GetTableStatsRequest",
  alter_columns: "AlterTableAlterColumnsRequest",
  add_columns: "AlterTableAddColumnsRequest",
  drop_columns: "AlterTableDropColumnsRequest",
  update_field_metadata: "UpdateFieldMetadataRequest",
  count_rows: "CountTableRowsRequest",
  update: "UpdateTableRequest",
  delete: "DeleteFromTableRequest",
  query: "QueryTableRequest",
  explain_plan: "ExplainTableQueryPlanRequest",
  analyze_plan: "AnalyzeTableQueryPlanRequest",
  "version/list": "ListTableVersionsRequest",
  "version/describe": "DescribeTableVersionRequest",
  restore: "RestoreTableRequest",
  "tags/list": "ListTableTagsRequest",
  "tags/version": "GetTableTagVersionRequest",
  "tags/create": "CreateTableTagRequest",
  "tags/update": "UpdateTableTagRequest",
  "tags/delete": "DeleteTableTagRequest",
  create_index: "CreateTableIndexRequest",
  create_scalar_index: "CreateTableIndexRequest",
  "index/list": "ListTableIndicesRequest",
  "index/:index/stats": "DescribeTableIndexStatsRequest",
  "index/:index/drop": "DropTableIndexRequest",
};

const fieldsOfModels = `
import json
import lance_namespace_urllib3_client.models as m
print(json.dumps({name: [field.alias or key for key, field in getattr(m, name).model_fields.items()]
                  for name in dir(m) if name.endswith("Request")}))
`;

test.skipIf(lacks("python"))("every field of the namespace's models is known to its route", async () => {
  const { stdout } = await promisify(execFile)(pythonWith(...officialPackages), ["-c", fieldsOfModels]);
  const fields = JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
  const unknown = Object.entries(models).flatMap(([end, model]) => {
    const { body } = routes.find(({ path }) => path === `/v1/table/:name/${end}`)!;
    const { shape } = (body as z.ZodPrefault<z.ZodObject>).unwrap();
    return fields[model]!.filter((field) => !(field in shape)).map((field) => `${end}: ${field}`);
  });
  expect(unknown).toEqual([]);
});
