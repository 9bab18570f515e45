/** The generated part of docs/reference/step-reference.md, from the comments of the builders and the flags of `migrate new`. */
import { Node } from "ts-morph";
import { stepFlags, stepNames } from "../../src/steps/registry.ts";
import { descriptionOf, source, tagOf } from "./source.ts";

export function stepsPage(): string {
  const declared = source("src/steps/index.ts").getExportedDeclarations();
  return stepNames
    .toSorted()
    .flatMap((name) => {
      const [declaration] = declared.get(name) ?? [];
      const [doc] = Node.isVariableDeclaration(declaration) ? declaration.getVariableStatement()!.getJsDocs() : [];
      const example = doc && tagOf(doc, "example");
      if (doc === undefined || example === undefined) throw new Error(`${name} has no comment with an example`);
      const calls = example.split("\n").map((line) => `  ${line},`);
      return [
        `## ${name}`,
        descriptionOf(doc),
        `\`\`\`ts\nexport const up = [\n${calls.join("\n")}\n];\n\`\`\``,
        ...flagsOf(name),
      ];
    })
    .join("\n\n");
}

function flagsOf(kind: string): readonly string[] {
  const flags = [...stepFlags.values()].filter((flag) => flag.kind === kind);
  return flags.length === 0 ? [] : [flags.map(({ name, form }) => `\`migrate new --${name} '${form}'\``).join(", ")];
}
