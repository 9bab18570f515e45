/** `lance-migrate/app`: what an application calls while migrations change the embedding model of a column. */
export { modelOf, type Embed, type Models } from "./app/column-model.ts";
export { save, type SaveOptions } from "./app/save.ts";
export { search, type SearchOptions } from "./app/search.ts";
