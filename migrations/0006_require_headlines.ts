import { setNullable } from "lance-migrate";

/** Every document has a headline from here on; a null that is there already makes this step fail and changes nothing. */
export const up = [setNullable("documents", "headline", false)];
