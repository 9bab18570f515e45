/** The JSON schema of contract files, for editors. What reads contracts needs no zod: a test compares the two. */
import { z } from "zod";
import type { ContractDocument, TableDocument } from "../../src/features/contracts/check/contract.ts";

const types = (use: string) =>
  z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe(`The columns that the release ${use}: their types by their paths, such as "utf8 not null", or "any".`);

const table = z.strictObject({
  reads: types("reads"),
  writes: types("writes"),
  appends: z
    .boolean()
    .optional()
    .describe("Whether the release adds rows. Then each column that it does not write must be nullable."),
} satisfies Record<keyof TableDocument, z.ZodType>);

const contract = z.strictObject({
  $schema: z.string().optional(),
  format: z.literal(1),
  application: z.string().min(1).describe("The name of the application."),
  release: z.string().min(1).describe("The name of the release."),
  migrations: z.string().optional().describe("The migration up to which the contract was written."),
  tables: z.record(z.string(), table).describe("What is not here can be changed at any time."),
} satisfies Record<keyof ContractDocument, z.ZodType>);

export function contractSchema(): string {
  const head = { title: "What a release of an application reads and writes", ...z.toJSONSchema(contract) };
  return `${JSON.stringify(head, null, 2)}\n`;
}
