/** The findings of `lint` as SARIF 2.1.0, which GitHub, GitLab and editors read. */
import packageJson from "../../../package.json" with { type: "json" };
import { ruleIds, rules, type LintFinding } from "./findings.ts";

/** `findings`: with paths that are relative to the root of the repository. */
export function sarifLog(findings: readonly LintFinding[]): object {
  const own = rules.map(({ id, finds, severity }) => ruleOf(id, finds, severity));
  const codes = [...new Set(findings.map(({ rule }) => rule))].filter((rule) => !ruleIds.includes(rule));
  const all = [...own, ...codes.map((code) => ruleOf(code, `a migration has the error ${code}`, "error"))];
  const indexes = new Map(all.map(({ id }, index) => [id, index]));
  const { name, version } = packageJson;
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name, version, semanticVersion: version, rules: all } },
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
