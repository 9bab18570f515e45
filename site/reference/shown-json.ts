/** JSON with line breaks only where a part is too long for one line. */
export function shownJson(value: unknown, columns = 110, indent = ""): string {
  const line = oneLine(value);
  if (indent.length + line.length <= columns || typeof value !== "object" || value === null) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => inner + shownJson(one, columns, inner))
    : Object.entries(value).map(([key, one]) => `${inner}"${key}": ${shownJson(one, columns, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  return entries.length === 0 ? "{}" : `{ ${entries.map(([key, one]) => `"${key}": ${oneLine(one)}`).join(", ")} }`;
}
