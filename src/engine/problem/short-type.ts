const nestedType = /(FixedSizeList|LargeList|List|Struct|Map)\(\[?Field \{/;

/**
 * A message of the engine with nested types as `FixedSizeList(Float32, 2)`, `List(Utf8)` and `Struct`. Rust prints them
 * with all of their fields.
 */
export function withShortTypes(message: string): string {
  const found = nestedType.exec(message);
  if (found === null) return message;
  const end = endOfType(message, found.index);
  const type = message.slice(found.index, end);
  return message.slice(0, found.index) + shortType(found[1] ?? "", type) + withShortTypes(message.slice(end));
}

function shortType(name: string, type: string): string {
  if (!name.endsWith("List")) return name;
  const item = /data_type: (\w+)/.exec(type)?.[1];
  const length = /, (\d{1,10})\)$/.exec(type)?.[1];
  const inside = [item, length].filter((part) => part !== undefined);
  return inside.length === 0 ? name : `${name}(${inside.join(", ")})`;
}

/** The position behind the parenthesis that closes a type; the end of a message that was cut. Names are in quotes. */
function endOfType(message: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let position = start; position < message.length; position++) {
    const character = message[position];
    if (quoted && character === "\\") position++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === "(") depth++;
    else if (!quoted && character === ")" && --depth === 0) return position + 1;
  }
  return message.length;
}
