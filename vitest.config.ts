import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "lance-migrate": fileURLToPath(new URL("./src/index.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/pylance/**"],
    // Real engines and processes on machines of two cores: a limit that only a hanging test meets.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
