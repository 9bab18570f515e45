/** The generated part of docs/reference/json.md. */
import { commandNames } from "../../src/main/commands/registry.ts";
import type { Example } from "./examples.ts";
import type { Schema } from "./json-schema.ts";
import { shownJson } from "./shown-json.ts";
import { table } from "./markdown.ts";

type Schemas = Readonly<Record<string, Schema>>;

/** Parts that the section of a command shows. */
const shownAt: Readonly<Record<string, string>> = { statusDocument: "status", runEvent: "events-of-a-run" };

export function jsonPage(schemas: Schemas, examples: Readonly<Record<string, readonly Example[]>>): string {
  const elsewhere = new Set([...commandNames, "error", ...Object.keys(shownAt)]);
  const shared = Object.keys(schemas).filter((name) => !elsewhere.has(name));
  return [
    ...["error", ...commandNames].flatMap((name) => [
      `## ${name}`,
      ...partsOf(schemas[name]!, schemas),
      ...(examples[name] ?? []).map(block),
    ]),
    "## Events of a run",
    events(schemas["runEvent"]!.anyOf!.flatMap(optionsOf)),
    "## Shared parts",
    ...shared.toSorted().flatMap((name) => [`### ${name}`, ...partsOf(schemas[name]!, schemas)]),
  ].join("\n\n");
}

function block({ args, printed }: Example): string {
  const title = `\`migrate ${args} --json\`:`;
  const [only, ...others] = printed;
  return others.length === 0
    ? `${title}\n\n\`\`\`json\n${shownJson(only)}\n\`\`\``
    : `${title}\n\n\`\`\`jsonl\n${printed
        .slice(-8)
        .map((one) => shownJson(one, Infinity))
        .join("\n")}\n\`\`\``;
}

/** The tables of a definition: one, or one for each of several documents. */
function partsOf(schema: Schema, schemas: Schemas): readonly string[] {
  const options = optionsOf(schema);
  const eventsHere = options.filter((one) => ownOf(one).properties?.["event"]?.const !== undefined);
  if (options.length > 1 && eventsHere.length > 0) {
    const others = options.filter((one) => !eventsHere.includes(one)).flatMap((one) => partsOf(one, schemas));
    return [...others, events(eventsHere)];
  }
  if (options.length > 1) return options.flatMap((one) => partsOf(one, schemas));
  const { $ref, description } = schema;
  if ($ref === "#/$defs/runEvent") return ["One event per line, of the [events of a run](#events-of-a-run)."];
  if ($ref !== undefined) return partsOf(schemas[nameIn($ref)]!, schemas);
  const lead = description === undefined ? [] : [description];
  const base = schema.allOf?.flatMap((one) => (one.$ref === undefined ? [] : linked(one.$ref))) ?? [];
  const more = base.length === 0 ? [] : [`The members of ${base.join(" and ")}, and:`];
  return [...lead, ...more, table(["member", "type", "meaning"], membersOf(ownOf(schema), ""))];
}

function optionsOf(schema: Schema): readonly Schema[] {
  return (schema.anyOf ?? schema.oneOf)?.flatMap(optionsOf) ?? [schema];
}

/** What a schema adds to those that it refers to. */
function ownOf(schema: Schema): Schema {
  const own = schema.allOf?.filter(({ $ref }) => $ref === undefined);
  if (own === undefined) return schema;
  return {
    description: own[0]?.description ?? "",
    properties: Object.assign({}, ...own.map(({ properties }) => properties)) as Schema["properties"] & {},
    required: own.flatMap(({ required = [] }) => required),
  };
}

function events(all: readonly Schema[]): string {
  const rows = all.map((schema) => {
    const { properties = {}, required = [], description = "" } = ownOf(schema);
    const names = Object.keys(properties).filter((name) => name !== "event" && name !== "database");
    const members = names.map((name) => `\`${name}\`${required.includes(name) ? "" : "?"}`);
    const others = schema.allOf?.flatMap(({ $ref }) => ($ref === undefined ? [] : `those of ${linked($ref)}`)) ?? [];
    return [`\`${String(properties["event"]!.const)}\``, [...members, ...others].join(", "), description];
  });
  return table(["event", "members", "meaning"], rows);
}

/** A row for each member, and for the members of objects in it. */
function membersOf({ properties = {}, required = [] }: Schema, prefix: string): readonly (readonly string[])[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const isOptional = !required.includes(name);
    const row = [`\`${path}\``, `${typeOf(schema)}${isOptional ? ", optional" : ""}`, schema.description ?? ""];
    const inner = optionsOf(schema.items ?? schema).flatMap((option) =>
      membersOf(option, schema.items === undefined ? `${path}.` : `${path}[].`),
    );
    return [row, ...inner];
  });
}

function typeOf(schema: Schema): string {
  const { $ref, const: constant, enum: words, type, format, items, additionalProperties, prefixItems } = schema;
  if ($ref !== undefined) return linked($ref);
  const options = optionsOf(schema);
  if (options.length > 1) return [...new Set(options.map(typeOf))].join(" or ");
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  if (words !== undefined) return words.map((word) => `\`${JSON.stringify(word)}\``).join(", ");
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (prefixItems !== undefined) return `list of ${prefixItems.map(typeOf).join(", ")}`;
  if (additionalProperties !== undefined && schema.properties === undefined)
    return `object with values of type ${typeOf(additionalProperties)}`;
  return format === "date-time" ? "time (ISO 8601)" : (type ?? "any");
}

const nameIn = (ref: string) => ref.replace("#/$defs/", "");

function linked(ref: string): string {
  const name = nameIn(ref);
  return `[${shownAt[name] ?? name}](#${shownAt[name] ?? name.toLowerCase()})`;
}
