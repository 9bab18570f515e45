import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.ts";

export default mergeConfig(usual, { test: { setupFiles: ["test/mutants/setup.ts"] } });
