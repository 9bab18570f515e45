import { defineConfig } from "rolldown";

export default defineConfig({
  input: { index: "src/index.ts", bin: "src/cli/bin.ts", worker: "src/service/work/worker.ts" },
  platform: "node",
  // yargs, zod and undici are bundled (zod stays a dependency for the types of our steps): a run with nothing pending
  // spends much of its time opening their many files (npm run bench).
  external: [/^@lancedb\//, /^apache-arrow/, "flatbuffers", "ts-morph", "fastify", /^@fastify\//, "workerpool"],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    chunkFileNames: "[name]-[hash].js",
    comments: { legal: true, jsdoc: false },
  },
});
