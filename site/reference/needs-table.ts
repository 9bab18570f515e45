/** What tests need, which of them that is, and where they run. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parts } from "../../test/parts.ts";
import { needs, variableOf, type Need } from "../../test/support/needs.ts";
import { root } from "../screenshots/project.ts";
import { table } from "./markdown.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** The files of tests that call `lacks` with this need. */
export function filesThatNeed(need: Need): readonly string[] {
  const files = globSync("**/*.ts", { cwd: join(root, "test"), exclude: [".cache", "unit/needs.test.ts"] }).toSorted();
  return files.filter((file) => textOf(join("test", file)).includes(`lacks("${need}"`));
}

/** `.ci/run`, and the workflows for each commit and each night: whether they require it. */
function requirements(need: Need): readonly boolean[] {
  const variable = variableOf(need);
  const isSet = new RegExp(`\\b${variable}(=|: ")1\\b`);
  return [
    isSet.test(textOf(".ci/run")),
    isSet.test(textOf(".github/workflows/ci.yml")),
    parts["e2e"]!.includes(`${variable}=1`),
  ];
}

export function needsTable(): string {
  const rows = [...needs].map(([need, { what, onRequest }]) => {
    const unless = onRequest ? "no" : "if there";
    const files = filesThatNeed(need).map((file) => `\`${file.replace(/(\.test)?\.ts$/, "")}\``);
    const places = [unless, ...requirements(need).map((isRequired) => (isRequired ? "yes" : unless))];
    return [what, `\`${variableOf(need)}\``, ...places, files.join(", ")];
  });
  return table(
    ["tests that need", "variable", "`npm test`", "`.ci/run`", "`ci.yml`", "`nightly.yml`", "in `test`"],
    rows,
  );
}
