/**
 * The manifests in the documentation, by the schemas of Kubernetes. The validator is a package of Python, with the schemas
 * of all releases: to install it takes longer than most tests. So test/fixtures/manifests.json lists what it has found
 * valid, and it is asked where REQUIRE_PYTHON=1, as .ci/run sets it, about manifests that are not there; with
 * MIGRATE_LONG=1 about all.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pythonWith } from "../clients/client.ts";
import known from "../fixtures/manifests.json" with { type: "json" };
import { temporaryFolder } from "../support/project.ts";
import { isLong } from "../support/rounds.ts";
import { allBlocks, at } from "./blocks.ts";

const isWanted = process.env["REQUIRE_PYTHON"] === "1";
if (!isWanted) console.warn("test/docs/manifests asks no validator: it installs packages; set REQUIRE_PYTHON=1");

interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly initContainers?: unknown;
}

const blocks = allBlocks().filter(({ page, language }) => page === "docs/kubernetes.md" && language === "yaml");

/** A part of a pod becomes a pod. */
function wholeManifest(text: string): unknown {
  const manifest = parse(text) as Manifest;
  if (manifest.kind !== undefined) return manifest;
  const spec = { ...manifest, containers: [{ name: "app", image: "app" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "app" }, spec };
}

function validated(manifest: unknown) {
  const validator = join(dirname(pythonWith("kubernetes-validate==1.37.0")), "kubernetes-validate");
  const file = join(temporaryFolder(), "manifest.json");
  writeFileSync(file, JSON.stringify(manifest));
  const { status, stdout, stderr } = spawnSync(validator, ["--strict", file], { encoding: "utf8" });
  return { status, words: `${stdout}${stderr}` };
}

/** By what they are as JSON, so that comments and layout do not matter. */
const hashed = blocks.map((block) => {
  const manifest = wholeManifest(block.text);
  return { block, manifest, hash: createHash("sha256").update(JSON.stringify(manifest)).digest("hex").slice(0, 16) };
});
const asked = hashed.filter(({ hash }) => isLong || !known.valid.includes(hash));

test.runIf(isWanted).each(asked.map(({ block, manifest, hash }) => [at(block), hash, manifest] as const))(
  "%s is valid: add %s to test/fixtures/manifests.json",
  (_, hash, manifest) => {
    expect(validated(manifest)).toMatchObject({ status: 0 });
    expect(known.valid).toContain(hash);
  },
);

test("every manifest that is known to be valid is one of the documentation", () => {
  expect(hashed.map(({ hash }) => hash)).toEqual(expect.arrayContaining(known.valid));
});

test.runIf(isWanted && asked.length > 0)("the validator refuses a wrong member", () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { container: [] } };
  expect(validated(pod)).toMatchObject({ status: 1, words: expect.stringContaining("container") as string });
});
