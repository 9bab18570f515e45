import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/project.ts";

/** What the command finds where it runs, or does without. */
const unbundled = new Set([
  "@fastify/swagger",
  "@lancedb/lancedb",
  "@opentelemetry/api",
  "fastify",
  "ts-morph",
  "workerpool",
]);

// A package that is missing there would be missing in the bundle: the build only warns.
test("the image installs all packages that the command is bundled from", () => {
  const [, list = ""] = /^FROM install AS build\n.*\nRUN node --eval "\$ONLY" (.*?) &&/m.exec(
    readFileSync(join(root, "Dockerfile"), "utf8"),
  )!;
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const imported = sources.flatMap((name) =>
    [
      ...readFileSync(join(root, "src", name), "utf8").matchAll(
        /^(?:import|export)\b(?! type)[^;]*? from "([^.":][^":]*)";$/gm,
      ),
    ].map(([, module]) => /^(?:@[^/]+\/)?[^/]+/.exec(module!)![0]),
  );
  const bundled = [...new Set(imported)].filter((name) => !unbundled.has(name));
  expect(list.split(" ")).toEqual([...bundled, "rolldown"].toSorted());
});
