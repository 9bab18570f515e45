/** `lance-migrate/app`: what an application calls while migrations change the embedding model of a column. */
export { modelOf, type Embed, type Models } from "./column-model.ts";
export { save, type SaveOptions } from "./save.ts";
export { search, type SearchOptions } from "./search.ts";
