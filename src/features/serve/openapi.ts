/** The OpenAPI document, derived from the schemas that requests are checked with. */
import type { SwaggerOptions } from "@fastify/swagger";
import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { fileType, jsonType, streamType } from "../../wire/content-types.ts";
import type { DescribedRoute } from "./routes/route.ts";
import { tableName } from "./tables/table-name.ts";

export const openApiOptions: SwaggerOptions = {
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "lance-migrate table service",
      description: "Lance tables of one folder over HTTP.",
      version: packageJson.version,
    },
    components: { securitySchemes: { apiKey: { type: "apiKey", name: "x-api-key", in: "header" } } },
    security: [{ apiKey: [] }],
  },
  // Called when the document is asked for, which few starts of a service lead to.
  transform({ schema, url }) {
    const { route } = schema as { readonly route?: DescribedRoute };
    return { schema: route === undefined ? {} : documentOf(route), url };
  },
};

export const errorAnswer = z.object({
  code: z.int().describe("A code of the Lance namespace protocol."),
  error: z.string().describe("One sentence."),
  instance: z.string().describe('The path that was asked for; "-" if it did not arrive.'),
});

const binary = { type: "string", format: "binary" };

/** The part of the document about a route, as @fastify/swagger takes it. */
function documentOf(route: DescribedRoute): object {
  const params = pathSchema(route.path);
  return {
    tags: [route.group],
    summary: route.summary,
    operationId: operationIdOf(route),
    ...(hasMembers(params) ? { params: toJsonSchema(params) } : {}),
    ...(hasMembers(route.query) ? { querystring: toJsonSchema(route.query) } : {}),
    ...bodyOf(route),
    response: {
      200: route.answer === undefined ? arrowAnswer : answerOf(route.answer, "It is done."),
      default: answerOf(errorAnswer, "It is refused, or failed."),
    },
  };
}

const arrowAnswer = {
  description: "Arrow IPC data.",
  content: { [fileType]: { schema: binary }, [streamType]: { schema: binary } },
};

function answerOf(answer: z.ZodType, description: string): object {
  return { description, content: { [jsonType]: { schema: toJsonSchema(answer) } } };
}

function bodyOf({ accepts, body }: DescribedRoute): object {
  const arrow = { [streamType]: { schema: binary } };
  switch (accepts) {
    case "nothing":
      return {};
    case "arrow":
      return { body: { content: arrow } };
    case "json":
      return { body: { content: { [jsonType]: { schema: toJsonSchema(body) } } } };
    case "either":
      return { body: { content: { [jsonType]: { schema: { type: "object" } }, ...arrow } } };
  }
}

/** The JSON Schema of a schema's input. What JSON Schema can't express is left open. */
function toJsonSchema(schema: z.ZodType): object {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return expanded(rest, $defs, 0) as object;
}

/** Schemas that contain themselves: deeper levels are left open. */
const levels = 2;

/** With the definitions in the place of references, which would not be found inside the document. */
function expanded(part: unknown, definitions: Readonly<Record<string, unknown>>, level: number): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((one) => expanded(one, definitions, level));
  const name = "$ref" in part ? String(part.$ref).replace("#/$defs/", "") : undefined;
  if (name !== undefined) return level === levels ? {} : expanded(definitions[name], definitions, level + 1);
  return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, expanded(one, definitions, level)]));
}

/** The schema of a path's parameters. */
export function pathSchema(path: string): z.ZodObject {
  const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  return z.object(Object.fromEntries(names.map((name) => [name, name === "name" ? tableName : z.string()])));
}

function hasMembers({ shape }: z.ZodObject): boolean {
  return Object.keys(shape).length > 0;
}

function operationIdOf({ method, path }: DescribedRoute): string {
  return [
    method.toLowerCase(),
    ...path
      .split("/")
      .filter((part) => part !== "")
      .map((part) => part.replace(":", "by_")),
  ].join("_");
}
