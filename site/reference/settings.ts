/** Tables of settings, from the interfaces of the configuration and their comments. */
import type { InterfaceDeclaration, PropertySignature, Type } from "ts-morph";
import { table } from "./markdown.ts";
import { descriptionOf, source, tagOf } from "./source.ts";

/** The interfaces by the names of their tables. A table may have the settings of two. */
const tables: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  "the settings": [
    ["src/session/config.ts", "CoreConfig"],
    ["src/features/author/scaffold/format-draft.ts", "FormatSettings"],
    ["src/features/lint/settings.ts", "LintSettings"],
    ["src/features/types/settings.ts", "TypesSettings"],
  ],
  "the settings of a target of kind lance": [["src/targets/lance/options.ts", "LanceConfig"]],
  "the settings of a target of any kind": [["src/session/config.ts", "TargetSettings"]],
  guards: [["src/plan/assess/guards.ts", "Guards"]],
  "the settings of a target of kind rest": [["src/features/rest/options/rest-config.ts", "RestConfig"]],
};

/** What to read about a setting. */
const guides: Readonly<Record<string, string>> = {
  migrations: "[not used with `--bundle`](cli.md#without-migration-files)",
  schema: "[a declared schema](authoring.md#from-a-declared-schema)",
  types: "[types](types.md)",
  ledger: "[the ledger](internals/ledger.md)",
  leaseSeconds: "[the lease](internals/ledger.md#the-lease)",
  format: "[your formatter](#your-formatter)",
  lint: "[rules](lint.md#rules)",
  storageOptions: "[object stores](object-stores.md)",
  newTables: "[clients](clients.md)",
  guards: "[guards](configuration.md#guards)",
  push: "[trying out a schema](authoring.md#trying-out-a-schema)",
  databases: "[many databases](databases.md)",
  accepts: "[consent](rollback.md#what-needs-consent)",
  forbid: "[rollback classes](rollback.md#classes)",
  dialect: "[the two dialects](#the-two-dialects)",
  endpoints: "[all names](#endpoints)",
};

/** By the name of its table. */
export function settingTables(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(tables).map(([title, interfaces]) => {
      const found = interfaces.map(([file, name]) => source(file).getInterfaceOrThrow(name));
      return [title, table(["setting", "type", "default", "meaning"], found.flatMap(rowsOf))];
    }),
  );
}

function rowsOf(declared: InterfaceDeclaration): readonly (readonly string[])[] {
  return declared.getProperties().flatMap((property) => {
    const name = property.getName();
    // It is in the title of the table.
    if (name === "kind") return [];
    const [doc] = property.getJsDocs();
    if (doc === undefined) throw new Error(`${name} of ${declared.getName()} has no comment`);
    const without = property.hasQuestionToken() ? "none" : "required";
    const guide = Object.hasOwn(guides, name) && !isElsewhere(name, declared) ? ` (${guides[name]})` : "";
    const text = commandLinks(descriptionOf(doc));
    const meaning = text.replace(/\.$/, `${guide}.`);
    return [[`\`${name}\``, typeText(property), shownDefault(tagOf(doc, "default")) ?? without, meaning]];
  });
}

/** The setting of another interface has the same name. */
function isElsewhere(name: string, declared: InterfaceDeclaration): boolean {
  return name === "types" && declared.getName() === "RestConfig";
}

/** A plain value as code; words with code in them are left as they are. */
function shownDefault(text: string | undefined): string | undefined {
  return text !== undefined && /^("[^"]*"|\d+|true|false)$/.test(text)
    ? `\`${text}\``
    : text?.replaceAll(/"[^"]+"/g, "`$&`");
}

function commandLinks(text: string): string {
  return text.replaceAll(
    /`migrate ([a-z]+)`/g,
    (link, name: string) => `[${link}](reference/commands.md#migrate-${name})`,
  );
}

function typeText(property: PropertySignature): string {
  return [...new Set(typesIn(property.getType().getNonNullableType()))].join(" or ");
}

function typesIn(type: Type): readonly string[] {
  if (type.isBoolean()) return ["true or false"];
  if (type.isUnion()) return type.getUnionTypes().flatMap(typesIn);
  if (type.isLiteral()) return [`\`${type.getText()}\``];
  if (type.isNumber() || type.isString()) return [type.isNumber() ? "number" : "text"];
  if (type.isArray() || type.isReadonlyArray()) {
    const items = [...new Set(typesIn(type.getArrayElementTypeOrThrow()))];
    return [`list of ${items.join(", ")}`];
  }
  return [type.getCallSignatures().length > 0 ? "function" : "object"];
}
