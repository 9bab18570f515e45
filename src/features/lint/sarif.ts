/** The findings of `lint` as SARIF 2.1.0, which GitHub, GitLab and editors read. */
import packageJson from "../../../package.json" with { type: "json" };
import { ruleSeverities, type LintFinding, type RuleId } from "./findings.ts";

/** What each rule finds, as docs/lint.md states it. */
const finds: Readonly<Record<RuleId, string>> = {
  "breaks-embedding-function": "a column to which an embedding function of the table refers is renamed or dropped",
  "full-rewrite": "a retype, a new column with values, or an update of all rows",
  "loses-data": "a table, a column, rows or values are lost",
  "lossy-cast": "a cast or an expression may change values silently, or lose them in some rows",
  "not-everywhere": "another target of the configuration does not support the step",
  "not-null-unchecked": "`nullable: false` on a column that no earlier step of the migration fills",
  "not-reversible": "the target cannot roll the step back",
  "renames-declared-column":
    "a column is renamed, but `schema.ts` or the application's types still declare the old name",
  "renames-indexed-column": "a column with an index is renamed",
};

/** `findings`: with paths that are relative to the root of the repository. */
export function sarifLog(findings: readonly LintFinding[]): object {
  const own = Object.entries(finds).map(([id, words]) => ruleOf(id, words, ruleSeverities[id as RuleId]));
  const codes = [...new Set(findings.map(({ rule }) => rule))].filter((rule) => !Object.hasOwn(finds, rule));
  const rules = [...own, ...codes.map((code) => ruleOf(code, `a migration has the error ${code}`, "error"))];
  const indexes = new Map(rules.map(({ id }, index) => [id, index]));
  const { name, version } = packageJson;
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name, version, semanticVersion: version, rules } },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => resultOf(finding, indexes.get(finding.rule)!)),
      },
    ],
  };
}

function ruleOf(id: string, text: string, level: LintFinding["severity"]) {
  return { id, shortDescription: { text }, defaultConfiguration: { level } };
}

function resultOf({ file, line, column, rule, severity, message }: LintFinding, ruleIndex: number) {
  // A URI, with the separators of every system.
  const uri = file.replaceAll("\\", "/").toWellFormed().split("/").map(encodeURIComponent).join("/");
  const artifactLocation = { uri, uriBaseId: "%SRCROOT%" };
  const region = { startLine: line, startColumn: column };
  const locations = [{ physicalLocation: { artifactLocation, region } }];
  return { ruleId: rule, ruleIndex, level: severity, message: { text: message }, locations };
}
