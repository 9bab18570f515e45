/** Fills steps into the templates and migrations of projects, whatever these look like, with ts-morph. */
import type { Node, SourceFile, VariableDeclaration } from "ts-morph";
import { firstLine, isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { importLine, namesIn } from "../../shared/print-source.ts";
import {
  listsOf,
  packageName,
  sentencesOf,
  withLists,
  type Filling,
  type ListExport,
  type Lists,
} from "./fill-lists.ts";
import { Project, SyntaxKind } from "./ts-morph.ts";

/** Throws ERR_TEMPLATE_INVALID. */
export function fillTemplate(file: string, filling: Filling): string {
  try {
    return filled(file, filling);
  } catch (cause) {
    if (isMigrateError(cause)) throw cause;
    const problem = `can't be filled in: ${firstLine(cause)}`;
    throw new MigrateError("ERR_TEMPLATE_INVALID", { file, problem }, { cause });
  }
}

function filled(file: string, filling: Filling): string {
  const source = new Project({ useInMemoryFileSystem: false }).addSourceFileAtPath(file);
  const up = exportedList(source, "up");
  if (up === undefined)
    throw new MigrateError("ERR_TEMPLATE_INVALID", {
      file,
      problem: "must export its steps as: export const up = [ … ]",
    });
  const comment = up.getVariableStatementOrThrow().getJsDocs()[0];
  const isAlone = comment?.getTags().length === 0;
  comment?.setDescription(`${sentencesOf(filling).join("\n\n")}${isAlone ? "" : "\n"}`);
  const { steps } = filling;
  return steps === undefined ? source.getFullText() : rewritten(source, up, listsOf(steps, filling));
}

/** The text of a migration with other lists, and with another version in `after(…)`. Throws ERR_TEMPLATE_INVALID. */
export function rewriteMigration(file: string, lists: Lists, after: string): string {
  const source = new Project({ useInMemoryFileSystem: false }).addSourceFileAtPath(file);
  // If the steps stay as they are, `up` may be defined in any way.
  const any = source.getVariableDeclaration("up");
  const up = lists.up !== undefined ? exportedList(source, "up") : any?.isExported() === true ? any : undefined;
  const problem = "must export its steps as export const up = [ … ] to be rewritten";
  if (up === undefined) throw new MigrateError("ERR_TEMPLATE_INVALID", { file, problem });
  const [version] = isAfter(up.getInitializer())
    ? up.getInitializerIfKindOrThrow(SyntaxKind.CallExpression).getArguments()
    : [];
  if (lists.up === undefined) version?.replaceWithText(JSON.stringify(after));
  return rewritten(source, up, lists);
}

function rewritten(source: SourceFile, up: VariableDeclaration, lists: Lists): string {
  const prefix = importNames(source, Object.values(lists).flatMap(namesIn));
  const find = (name: string) => {
    const list = exportedList(source, name);
    return list === undefined ? undefined : exportOf(list);
  };
  return withLists(source.getFullText(), lists, exportOf(up), find, prefix);
}

function exportOf(list: VariableDeclaration): ListExport {
  const value = list.getInitializer() ?? list;
  const statement = list.getVariableStatementOrThrow();
  const type = list.getTypeNode();
  const [typeTag] = statement.getJsDocs().flatMap((one) => one.getTags().filter((tag) => tag.getTagName() === "type"));
  return {
    value: { start: value.getStart(), end: value.getEnd() },
    statement: { start: statement.getStart(true), end: statement.getEnd() },
    type: type === undefined ? "" : `: ${type.getText()}`,
    typeTag: typeTag?.getText().split("\n")[0]!.trim(),
  };
}

function exportedList(source: SourceFile, name: string): VariableDeclaration | undefined {
  const found = source.getVariableDeclaration(name);
  const value = found?.getInitializer();
  const isList = value?.isKind(SyntaxKind.ArrayLiteralExpression) === true;
  return found?.isExported() === true && (isList || isAfter(value)) ? found : undefined;
}

/** Whether the steps are in `after("0007", …)`. */
function isAfter(value: Node | undefined): boolean {
  return value?.isKind(SyntaxKind.CallExpression) === true && /(^|\.)after$/.test(value.getExpression().getText());
}

/**
 * Imports the missing names. Gives the prefix of every name: none, or `m.` if the file imports the whole package as
 * `m`.
 */
function importNames(source: SourceFile, names: readonly string[]): string {
  if (names.length === 0) return "";
  const imports = source.getImportDeclarations().filter((one) => one.getModuleSpecifierValue() === packageName);
  const whole = imports.find((one) => !one.isTypeOnly() && one.getNamespaceImport() !== undefined);
  if (whole !== undefined) return `${whole.getNamespaceImportOrThrow().getText()}.`;
  const named =
    imports.find((one) => !one.isTypeOnly()) ?? source.insertImportDeclaration(0, { moduleSpecifier: packageName });
  const known = new Set(
    named.getNamedImports().flatMap((one) => (one.getAliasNode() === undefined ? one.getName() : [])),
  );
  const missing = [...new Set(names)].filter((name) => !known.has(name)).toSorted();
  named.insertNamedImports(0, missing);
  named.replaceWithText(
    importLine(
      named.getNamedImports().map((one) => one.getText()),
      packageName,
    ),
  );
  return "";
}
