/** Blocks of TypeScript as modules: the documentation leaves out what a reader can complete. */
import * as api from "../../src/index.ts";

/** The module that this code is, or is a part of. */
export function moduleOf(text: string): string {
  const setting = /^(?:\/\/.*\n)?\s*(\w+): /.exec(text)?.[1];
  if (setting === undefined) return withImports(text);
  const settings = settingNames.has(setting) ? text : `targets: {\n${text}\n},`;
  return withImports(`export default defineConfig({\n${settings}\n});\n`);
}

const settingNames = new Set(["targets", "target", "format", "lint"]);

function withImports(text: string): string {
  if (/^import /m.test(text)) return text;
  const names = Object.keys(api).filter((name) => new RegExp(`\\b${name}\\(`).test(text));
  return `${names.length === 0 ? "" : `import { ${names.join(", ")} } from "lance-migrate";\n`}${text}`;
}
