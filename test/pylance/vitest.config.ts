import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import common from "../../vitest.config.ts";

const { projects: _, ...settings } = common.test!;

/** `npm run check pylance`: against a server that others wrote; it installs Python's pylance, so it is not part of `npm test`. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: { ...settings, include: ["test/pylance/*.test.ts"] },
});
