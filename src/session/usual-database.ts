/** The folder of the tables, if the configuration names none. */
export const usualDatabase = ".lancedb";
