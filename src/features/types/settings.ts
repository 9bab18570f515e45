import { must, optional, yesOrNo, type Shape } from "../../checks/check.ts";

export interface TypesSettings {
  /**
   * For `migrate types`, the file for the application's row types and Arrow schemas, such as `src/db.ts` or
   * `app/models.py`, or a list of such files.
   */
  readonly types?: string | readonly string[];
  /**
   * Whether the TypeScript files of `types` have schemas that check new rows too: Standard Schemas.
   *
   * @default false
   */
  readonly standardSchema?: boolean;
}

/** Matches the paths to which `migrate types` may write the application's types. */
export const typesPattern = /^(?!.*\.d\.m?ts$).*[^/\\]\.(m?ts|py)$/;

export const typesSettings: Shape<TypesSettings> = {
  types: optional(
    must(
      (types) => [types].flat().every((file) => typeof file === "string" && typesPattern.test(file)),
      "must be the path of a .ts file, but no .d.ts, or of a .py file, or a list of such paths",
    ),
  ),
  standardSchema: optional(yesOrNo),
};
