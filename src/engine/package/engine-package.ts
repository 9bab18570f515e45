/** The engine's package. In a file of its own, so that using the name loads nothing. */
export const enginePackage = "@lancedb/lancedb";
