/** The packages that write migrations and are not needed where these run, and their versions. */
export const authoringPackages = { "ts-morph": "28" };
