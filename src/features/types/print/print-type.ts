/** Lays out TypeScript types in lines as the common formatters do. Pure. */
import { block, textText, width, textWidth } from "../../shared/print-source.ts";

export type TypeSource =
  | string
  | { readonly tuple: readonly TypeSource[] }
  /** A named type with its type argument. */
  | { readonly name: string; readonly of?: TypeSource | undefined; readonly orNull?: boolean }
  | { readonly members: readonly TypeMember[] }
  /** Members, each on a line of its own. */
  | { readonly lines: readonly TypeMember[] };

export type TypeMember = readonly [key: string, type: TypeSource, access?: "readonly" | "optional" | undefined];

/** `used` is how many columns of the first line are taken. One character must fit behind the type. */
export function layOutType(source: TypeSource, indent: number, used: number): string {
  const inOneLine = flat(source);
  if (inOneLine !== undefined && used + textWidth(inOneLine) + 1 <= width) return inOneLine;
  if (typeof source === "string") return source;
  const inner = indent + 2;
  if ("tuple" in source) {
    const items = source.tuple.map((item) => layOutType(item, inner, inner));
    return block("[", items, "]", indent);
  }
  if ("name" in source) return named(source, indent);
  const members = ("lines" in source ? source.lines : source.members).map((member) => layOutMember(member, inner));
  return block("{", members, "}", indent, ";");
}

function layOutMember([key, type, access]: TypeMember, indent: number): string {
  const start = `${access === "readonly" ? "readonly " : ""}${keyText(key)}${access === "optional" ? "?" : ""}: `;
  const text = layOutType(type, indent, indent + textWidth(start));
  return text.startsWith("\n") ? `${start.trimEnd()}${text}` : `${start}${text}`;
}

export type NamedType = Extract<TypeSource, { readonly name: string }>;

/** A type that is too long for its line is broken at its argument, if that has an argument itself. */
function named(source: NamedType, indent: number): string {
  const { name, of, orNull } = source;
  if (of === undefined) {
    const pad = " ".repeat(indent + 2);
    return orNull === true && /^[a-z]/.test(name) ? `\n${pad}| ${name}\n${pad}| null` : flat(source)!;
  }
  if (typeof of === "object" && "lines" in of) return `${name}<${layOutType(of, indent, 0)}>`;
  if (typeof of === "string" || !("name" in of) || !isBroken(of)) return flat(source)!;
  const inside = layOutType(of, indent + 2, indent + 2);
  return block(`${name}<`, [inside], `>${orNull === true ? " | null" : ""}`, indent, "");
}

/** Whether the formatters break a type at an argument of this form: not at the name of a type, nor at one of these or null. */
function isBroken({ name, of, orNull }: NamedType): boolean {
  return orNull === true ? /^[a-z]/.test(name) : of !== undefined;
}

/** The type on one line; undefined if it must be broken. */
function flat(source: TypeSource): string | undefined {
  if (typeof source === "string") return source;
  if ("tuple" in source) {
    const items = source.tuple.map(flat);
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }
  if ("name" in source) {
    const inside = source.of === undefined ? "" : flat(source.of);
    if (inside === undefined) return undefined;
    return `${source.name}${inside === "" ? "" : `<${inside}>`}${source.orNull === true ? " | null" : ""}`;
  }
  if ("lines" in source) return source.lines.length === 0 ? "{}" : undefined;
  if (source.members.length === 0) return "{}";
  const types = source.members.map(([, type]) => flat(type));
  if (types.includes(undefined)) return undefined;
  return `{ ${source.members.map(([key], index) => `${keyText(key)}: ${types[index]}`).join("; ")} }`;
}

/** A name that is a whole number keeps its quotes, because names are texts. */
function keyText(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : textText(key);
}
