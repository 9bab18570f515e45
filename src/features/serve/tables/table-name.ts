/** Validates the name of a table in a request's path or body. */
import { z } from "zod";
import { privateFolder } from "../../../engine/folder/private-folder.ts";
import { tableNameProblem } from "../../../schema/names.ts";

export const tableName = z.string().superRefine((name, context) => {
  const problem = name.includes("$")
    ? "holds $, which separates namespaces, and this service has only the root"
    : name === privateFolder
      ? "is kept for the service itself"
      : tableNameProblem(name);
  if (problem === undefined) return;
  const shown = JSON.stringify(name.slice(0, 300));
  context.addIssue({ code: "custom", message: `table name ${shown} ${problem}` });
});
