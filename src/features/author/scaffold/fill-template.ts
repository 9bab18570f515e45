/** Fills steps into the templates and migrations of projects, whatever these look like, with ts-morph. */
import type { Node, SourceFile, VariableDeclaration } from "ts-morph";
import { firstLine, isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import type { Source } from "../../../schema/text/typescript-source.ts";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import { comments, listOf, packageName, notesOf, sentenceOf, type Addable, type Filling } from "./fill-built-in.ts";
import { importLine, layOut, namesIn } from "../../../schema/text/print-source.ts";
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

function filled(file: string, { name, notes, steps, down, accepts, replaces, after }: Filling): string {
  const source = new Project({ useInMemoryFileSystem: false }).addSourceFileAtPath(file);
  const up = exportedList(source, "up");
  if (up === undefined)
    throw new MigrateError("ERR_TEMPLATE_INVALID", {
      file,
      problem: "must export its steps as: export const up = [ … ]",
    });
  const comment = up.getVariableStatementOrThrow().getJsDocs()[0];
  const isAlone = comment?.getTags().length === 0;
  const sentences = [sentenceOf(name), ...notesOf(notes)].join("\n\n");
  comment?.setDescription(`${sentences}${isAlone ? "" : "\n"}`);
  if (steps === undefined) return source.getFullText();
  return withLists(source, up, {
    up: listOf(steps, after),
    ...(down && { down: listOf(down) }),
    ...(replaces && { replaces: valueSource(replaces) }),
    ...(accepts && { accepts: valueSource(accepts) }),
  });
}

/** The lists that a migration exports, by name. */
export type Lists = Readonly<Partial<Record<Addable | "up", Source>>>;

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
  return withLists(source, up, lists);
}

function withLists(source: SourceFile, up: VariableDeclaration, lists: Lists): string {
  const wanted = Object.entries(lists) as (readonly [Addable | "up", Source])[];
  const prefix = importNames(
    source,
    wanted.flatMap(([, list]) => namesIn(list)),
  );
  const edits = wanted.map(([name, list]) => {
    const known = exportedList(source, name);
    return known === undefined ? addition(name as Addable, list, up, prefix) : replacement(known, list, prefix);
  });
  return edited(source.getFullText(), edits);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits the text directly, because ts-morph lays out what it writes in its own way. */
function edited(text: string, edits: readonly Edit[]): string {
  const lineEnds = (own: string) => (text.includes("\r\n") ? own.replaceAll("\n", "\r\n") : own);
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((all, { start, end, text: own }) => all.slice(0, start) + lineEnds(own) + all.slice(end), text);
}

function replacement(list: VariableDeclaration, source: Source, prefix: string): Edit {
  const old = list.getInitializerOrThrow();
  const used = `export const ${list.getNameNode().getText()}${typeOf(list)} = `.length;
  return { start: old.getStart(), end: old.getEnd(), text: layOut(source, { indent: 0, used, tail: 1, prefix }) };
}

/** `down` is added after the steps, every other list before them. */
function addition(name: Addable, source: Source, up: VariableDeclaration, prefix: string): Edit {
  const statement = up.getVariableStatementOrThrow();
  const start = `export const ${name}${name === "down" ? typeOf(up) : ""} = `;
  const list = layOut(source, { indent: 0, used: start.length, tail: 1, prefix });
  const text = `${commentOf(name, up)}\n${start}${list};`;
  const at = name === "down" ? statement.getEnd() : statement.getStart(true);
  return { start: at, end: at, text: name === "down" ? `\n\n${text}` : `${text}\n\n` };
}

/** In JavaScript, the type of a list of steps is in its comment. */
function commentOf(name: Addable, up: VariableDeclaration): string {
  const [type] = up
    .getVariableStatementOrThrow()
    .getJsDocs()
    .flatMap((one) => one.getTags().filter((tag) => tag.getTagName() === "type"));
  if (name !== "down" || type === undefined) return `/** ${comments[name]} */`;
  return `/**\n * ${comments.down}\n *\n * ${type.getText().split("\n")[0]!.trim()}\n */`;
}

function typeOf(list: VariableDeclaration): string {
  const type = list.getTypeNode();
  return type === undefined ? "" : `: ${type.getText()}`;
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
