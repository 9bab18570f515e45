/** Replaces a type that was given with notNull() where only a type is allowed, so that the error message can say so. */
export const notNullMark = "not null";
