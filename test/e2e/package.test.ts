/** What is published, and the workflows that do it. */
import { execFileSync, spawnSync } from "node:child_process";
import { isBuiltin } from "node:module";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { root, temporaryFolderOfFile } from "../support/project.ts";

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

describe("the package", () => {
  const folder = temporaryFolderOfFile();
  let packed: Packed;

  beforeAll(() => {
    // Without scripts: prepare would build dist anew under the tests that run it.
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [first] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" })) as Packed[];
    packed = first!;
  });

  const tarball = () => join(folder, packed.filename);
  const paths = () => packed.files.map(({ path }) => path);

  test("holds what is needed and nothing else", () => {
    const outside = paths().filter((path) => !path.startsWith("dist/"));
    expect(outside.filter((path) => !path.startsWith("docs/")).toSorted()).toEqual([
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "action.yml",
      "action/comment.mjs",
      "action/run.sh",
      "package.json",
      "python/embed.py",
      "python/index_column.py",
      "python/lance_migrate_app.py",
      "python/load_column.py",
      "python/load_on_ray.py",
      "python/prepare_on_ray.py",
      "templates/AGENTS.md",
      "templates/migration.js",
      "templates/migration.ts",
      "templates/row-schemas.ts",
    ]);
    // Only people who change the code need the decisions.
    const docs = globSync("docs/**/*.*", { cwd: root });
    expect(outside.filter((path) => path.startsWith("docs/")).toSorted()).toEqual(
      docs.filter((path) => path !== "docs/internals/decisions.md").toSorted(),
    );
    const built = paths().filter((path) => path.startsWith("dist/"));
    expect(built).toEqual(expect.arrayContaining(["dist/bin.js", "dist/index.js", "dist/types/index.d.ts"]));
    const strange = built.filter(
      (path) =>
        !/^dist\/([\w-]+\.js|(app|index|testing)\.cjs|(report|fleet)\.css|help\.json|licences\.txt|types\/(app|index|testing)\.d\.ts)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
  });

  test("holds every file that one of its pages links to, also pictures", () => {
    const isThere = (path: string) => paths().some((one) => one === path || one.startsWith(`${path}/`));
    const dead = paths()
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) =>
        [...readFileSync(join(root, path), "utf8").matchAll(/\]\((?!\w+:)([^)#\s]+)/g)].map(
          ([, file]) => `${path}: ${posix.join(posix.dirname(path), file!)}`,
        ),
      )
      .filter((link) => !isThere(link.split(": ")[1]!));
    expect(dead).toEqual([]);
  });

  test("has its types in one file for each of its modules, which needs no other but those of the client", () => {
    expect(paths().filter((path) => path.endsWith(".d.ts"))).toEqual([
      "dist/types/app.d.ts",
      "dist/types/index.d.ts",
      "dist/types/testing.d.ts",
    ]);
    const textOf = (name: string) => readFileSync(join(root, `dist/types/${name}.d.ts`), "utf8");
    // An application has the client, whose tables it gives.
    const own = textOf("app").replace(/^import .* from "@lancedb\/lancedb";$/m, "");
    for (const text of [textOf("index"), textOf("testing"), own])
      expect(text).not.toMatch(/^import |\bimport\(|\b(NodeJS\.|Buffer\b)|from "/m);
  });

  test("has the licence of each package whose code is in it", () => {
    const text = readFileSync(join(root, "dist/licences.txt"), "utf8");
    for (const name of ["apache-arrow", "flatbuffers", "undici", "yargs", "yargs-parser", "zod"])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n\\n.*`, "m"));
    const bundled = new Set(text.match(/^\S+ \d+\.\d+\.\d+$/gm));
    expect(text.match(/copyright/gi)!.length).toBeGreaterThanOrEqual(bundled.size);
  });

  test("needs no other package where a program does not use it, so that a bundler finds all of it", () => {
    const textOf = (name: string) => readFileSync(join(root, "dist", name), "utf8");
    const namesIn = (name: string) =>
      [...textOf(name).matchAll(/^(?:import|export)\b[^;"]*"([^"]+)";$|\bimport\("([^"]+)"\)/gm)].map(
        ([, first, later]) => (first ?? later)!,
      );
    const reached = new Set(["index.js", "testing.js"]);
    // What is added to a set is visited too.
    for (const file of reached) for (const name of namesIn(file)) if (name.startsWith("./")) reached.add(name.slice(2));
    const others = [...reached].flatMap(namesIn).filter((name) => !/^(\.\/|node:)/.test(name));
    expect(reached.size).toBeGreaterThan(20);
    expect(others.filter((name) => !isBuiltin(name))).toEqual([]);
  });

  test("stays small", () => {
    expect(packed.unpackedSize).toBeLessThan(4_500_000);
    const usual =
      /^(dist\/[^/]+\.c?js|dist\/(report|fleet)\.css|dist\/help\.json|dist\/licences\.txt|dist\/types\/(app|index|testing)\.d\.ts|docs\/|action\/|action\.yml$|python\/|templates\/|[A-Z]+(\.md)?$|package\.json$)/;
    expect(paths().filter((path) => !usual.test(path))).toEqual([]);
    expect(packed.files.length).toBeLessThan(175);
  });

  test("has no script of which npm warns at its installation", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
  });

  test("has a command that can be started", () => {
    expect(packed.files.find(({ path }) => path === "dist/bin.js")!.mode & 0o111).toBe(0o111);
    expect(readFileSync(join(root, "dist/bin.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test("is well-formed to publint", async () => {
    const bytes = readFileSync(tarball());
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    const texts = messages.map((message) => formatMessage(message, pkg, { color: false })!);
    // What Jest requires is the ES module, as Node loads it.
    const ours = texts.filter((text) => !/types is interpreted as ESM when resolving with the "require"/.test(text));
    expect(ours).toEqual([]);
  });

  test("has types that every resolution finds", () => {
    const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
    const args = [attw, tarball(), "--profile", "esm-only", "--format", "json"];
    // It ends with 1 for the problems that are not ours too.
    const { analysis } = JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as {
      analysis: { problems: readonly { kind: string; resolutionKind?: string }[]; types: unknown };
    };
    expect(analysis.types).toMatchObject({ kind: "included" });
    // TypeScript has CommonJS use import(); Node itself can require the package. Jest gets the same ES module from Node.
    const ours = analysis.problems.filter(
      ({ kind, resolutionKind }) => resolutionKind !== "node16-cjs" && kind !== "FalseESM",
    );
    expect(ours).toEqual([]);
  });
});

describe("the workflows", () => {
  const folder = join(root, ".github", "workflows");
  const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);

  test.each(workflows)("%s pins every action to a commit and says which version that is", (_, text) => {
    const used = text.match(/^.*\buses:.*$/gm) ?? [];
    expect(used.length).toBeGreaterThan(0);
    for (const line of used) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test.each(workflows)("%s may read the code and nothing else, and ends", (_, text) => {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    expect(text).not.toMatch(/pull_request_target|: write(?!.*# )/);
    const jobs = text.match(/^ {2}\w+:\n(?= {4}runs-on)/gm) ?? [];
    expect(text.match(/^ {4}timeout-minutes: \d+$/gm)).toHaveLength(jobs.length);
    expect(text.match(/persist-credentials: false/g)).toHaveLength(text.match(/actions\/checkout@/g)!.length);
  });

  test("one publishes with its provenance, and all look for known holes", () => {
    const text = new Map(workflows);
    expect(text.get("release.yml")).toMatch(/npm publish --provenance --access public/);
    for (const [, workflow] of workflows) expect(workflow).toContain("npm audit --audit-level=low");
  });
});
