/** The texts of the documentation that are generated from the code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../screenshots/project.ts";
import { commandsPage, commonFlagTable } from "./commands-page.ts";
import { contractSchema } from "./contract-schema.ts";
import { errorsIndex, errorsReached } from "./errors-index.ts";
import { examples } from "./examples.ts";
import { jsonPage } from "./json-page.ts";
import { jsonSchemas, schemaFile } from "./json-schema.ts";
import { needsTable } from "./needs-table.ts";
import { statesTable } from "./states-table.ts";
import { readingsTable } from "./readings-table.ts";
import { settingTables } from "./settings.ts";
import { stepsPage } from "./steps-page.ts";
import { withPart } from "./markdown.ts";

const asIs = (text: string) => ({ is: text, must: text });

/** By path: what the file contains, and what it must contain. Runs the built command for the examples. */
export async function referenceFiles(): Promise<ReadonlyMap<string, { readonly is: string; readonly must: string }>> {
  const schemas = jsonSchemas();
  const files = new Map<string, { readonly is: string; readonly must: string }>();
  const add = (path: string, make: (is: string) => string) => {
    const { is, must } = files.get(path) ?? asIs(readFileSync(join(root, path), "utf8"));
    files.set(path, { is, must: make(must) });
  };
  const documents = jsonPage(schemas, await examples());
  add("docs/reference/json.schema.json", () => schemaFile(schemas));
  add("docs/reference/contract.schema.json", contractSchema);
  add("docs/reference/json.md", (page) => withPart(page, "the documents and events", documents));
  const commands = await commandsPage();
  add("docs/reference/commands.md", (page) => withPart(page, "the commands", commands));
  add("docs/cli.md", (page) => withPart(page, "the flags of all commands", commonFlagTable()));
  for (const [name, part] of settingTables())
    add(name.endsWith("kind rest") ? "docs/rest.md" : "docs/configuration.md", (page) => withPart(page, name, part));
  add("docs/reference/service-readings.md", (page) =>
    withPart(page, "services as the document may be read", readingsTable()),
  );
  add("docs/reference/step-reference.md", (page) => withPart(page, "the steps", stepsPage()));
  add("CONTRIBUTING.md", (page) => withPart(page, "what tests need", needsTable()));
  add("docs/runbook.md", (page) => withPart(page, "the states", statesTable()));
  add("docs/reference/error-codes.md", (page) => withPart(page, "the errors by exit code", errorsIndex()));
  add("docs/reference/error-codes.md", (page) =>
    withPart(page, "the commands that end with each error", errorsReached()),
  );
  return files;
}
