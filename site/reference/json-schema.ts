/** The JSON schema of what each command prints with --json. */
import { z } from "zod";
import { documents } from "../../src/main/commands/documents.ts";

/** As much of JSON Schema as the shapes need. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** By name: a definition for each command, `error`, and the parts that they share. */
export function jsonSchemas(): Readonly<Record<string, Schema>> {
  const named = Object.entries(documents).map(([name, shape]) => [
    name,
    z.globalRegistry.get(shape)?.id === undefined ? shape.meta({ id: name }) : shape,
  ]);
  const { $defs, properties } = z.toJSONSchema(z.object(Object.fromEntries(named)), {
    override({ jsonSchema }) {
      // A later release may add members.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // A shape that several commands have is listed under its own name too.
  return { ...properties, ...$defs } as unknown as Readonly<Record<string, Schema>>;
}

/** One line for each definition. */
export function schemaFile(schemas: Readonly<Record<string, Schema>>): string {
  const head = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "What lance-migrate prints with --json",
    description: "#/$defs/COMMAND is the schema of each line that a command prints; any may print #/$defs/error.",
  };
  const definitions = Object.entries(schemas).map(([name, schema]) => `"${name}":${JSON.stringify(schema)}`);
  return `${JSON.stringify(head).slice(0, -1)},"$defs":{\n${definitions.join(",\n")}\n}}\n`;
}
