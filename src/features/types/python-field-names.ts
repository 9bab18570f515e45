/** Which names the fields of a LanceModel can have. Pure. */

/** Why there can be no such field; undefined if there can be. An alias is no way out: the client writes null for it. */
export function fieldNameProblem(name: string): string | undefined {
  const isName = /^\p{XID_Start}\p{XID_Continue}*$/u.test(name);
  // Python takes different spellings of such names for one.
  if (!isName || name.normalize("NFKC") !== name) return "it is not a public name of Python";
  if (keywords.has(name)) return "it is a keyword of Python";
  return inherited.has(name) ? "LanceModel has an attribute of that name" : undefined;
}

const keywords: ReadonlySet<string> = new Set(
  [
    "False None True and as assert async await break class continue def del elif else except finally for from global",
    "if import in is lambda nonlocal not or pass raise return try while with yield",
  ].flatMap((line) => line.split(" ")),
);

/** Of LanceModel in lancedb 0.40 with pydantic 2.14. */
const inherited: ReadonlySet<string> = new Set(
  [
    "construct copy dict field_names from_orm json model_computed_fields model_config model_construct model_copy",
    "model_dump model_dump_json model_extra model_fields model_fields_set model_json_schema",
    "model_parametrized_name model_post_init model_rebuild model_validate model_validate_json",
    "model_validate_strings parse_embedding_functions parse_file parse_obj parse_raw",
    "safe_get_fields schema schema_json to_arrow_schema update_forward_refs validate",
  ].flatMap((line) => line.split(" ")),
);
