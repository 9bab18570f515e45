/** Validates the name of a table in a request's path or body. */
import { z } from "zod";
import { privateFolder } from "../../../engine/folder/private-folder.ts";
import { tableNameProblem } from "../../../schema/names.ts";
import { unsupported } from "./error-answer.ts";

export const tableName = z.string().superRefine((name, context) => {
  checkNamespace(name, "$");
  const problem = name === privateFolder ? "is kept for the service itself" : tableNameProblem(name);
  if (problem === undefined) return;
  const shown = JSON.stringify(name.slice(0, 300));
  context.addIssue({ code: "custom", message: `table name ${shown} ${problem}` });
});

/** Throws a refusal for a table in a namespace. There is only the root. */
export function checkNamespace(name: string, delimiter: string): void {
  if (name.includes(delimiter))
    throw unsupported(
      `namespaces, and ${delimiter} in the table name ${JSON.stringify(name.slice(0, 300))} separates them`,
    );
}
