/** A value as Rust prints it for debugging: `Struct([Field { name: …`, `Io { source: …`. */
const debugText = /(\w+)(?:\(\[?(?:\w+ )?| )\{ \w+: /;

/**
 * A message of the engine with the names of values whose contents Rust has printed for debugging. Of types of lists, the
 * items and the length are kept: `FixedSizeList(Float32, 2)`.
 */
export function withoutDebugText(message: string): string {
  const found = debugText.exec(message);
  if (found === null) return message;
  const end = endOfValue(message, found.index);
  const value = message.slice(found.index, end);
  return message.slice(0, found.index) + shortValue(found[1]!, value) + withoutDebugText(message.slice(end));
}

function shortValue(name: string, value: string): string {
  if (!name.endsWith("List")) return name;
  const item = /data_type: (\w+)/.exec(value)?.[1];
  const length = /, (\d{1,10})\)$/.exec(value)?.[1];
  const inside = [item, length].filter((part) => part !== undefined);
  return inside.length === 0 ? name : `${name}(${inside.join(", ")})`;
}

/** The position behind the bracket that closes a value; the end of a message that was cut. Texts are in quotes. */
function endOfValue(message: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let position = start; position < message.length; position++) {
    const character = message[position]!;
    if (quoted && character === "\\") position++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && "([{".includes(character)) depth++;
    else if (!quoted && ")]}".includes(character) && --depth === 0) return position + 1;
  }
  return message.length;
}
