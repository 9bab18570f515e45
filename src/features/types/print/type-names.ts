/** Derives names of types from names of tables and columns. Pure. */

/** Gives each text a unique name, such as `MyNotes` for `my_notes`; with a number if that name is taken. */
export function namer(taken: readonly string[] = []): (text: string) => string {
  const known = new Set(taken.map((name) => name.toLowerCase()));
  return (text) => {
    const base = typeName(text);
    let name = base;
    for (let number = 2; known.has(name.toLowerCase()); number++) name = `${base}_${number}`;
    known.add(name.toLowerCase());
    return name;
  };
}

function typeName(text: string): string {
  const name = text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join("");
  return /^[A-Za-z]/.test(name) ? name : `Table${name}`;
}
