import type { Alteration } from "../../src/actions/model/alteration.ts";

/** "a → b, s.x → y" as the alterations of one call. */
export function renames(text: string): readonly Alteration[] {
  return text.split(", ").map((pair) => {
    const [path, rename] = pair.split(" → ");
    return { path: path!, rename };
  });
}
