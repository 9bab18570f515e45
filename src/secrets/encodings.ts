/** The two encodings that hide a text completely: base64 and hex. */

/**
 * The base64 and base64url forms inside other bytes, one for each of the three alignments, without the characters at
 * both ends that depend on the other bytes.
 */
export function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString("base64"), padded.toString("base64url")].map((text) => text.slice(...whole));
  });
  return [...new Set(cores)].filter((core) => core.length > 3);
}

export function hex(secret: string): string {
  return Buffer.from(secret).toString("hex");
}
