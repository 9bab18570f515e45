/** Runs before each file of tests; what it imports is loaded once in each of Vitest's processes. */
import "./quick-imports.ts";
