import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { compile, copySources, follow, migrateIn } from "../docs/recipes.ts";
import { root, temporaryFolder } from "../support/project.ts";

/** Lowest first: a file imports from its own room and from those before it. CONTRIBUTING: "One direction of imports". */
const rooms = [
  "time",
  "checks",
  "secrets",
  "errors",
  "schema",
  "actions",
  "wire",
  "engine",
  "targets/contract",
  "targets/lance",
  "targets",
  "steps",
  "migrations",
  "ledger",
  "plan",
  "run",
  "commands",
  "session",
  "cli",
  "features",
  "migrator",
  "index.ts",
  "main",
];

/** Each target, and what all of them have in common, is a room of its own. */
function roomOf(file: string): string {
  const [folder = "", inner = ""] = file.split("/");
  return folder === "targets" && rooms.includes(`targets/${inner}`) ? `targets/${inner}` : folder;
}

const fileOf = ({ file }: Pick<Source, "file">) => file;
const folderOf = (file: string) => dirname(file);

interface Import {
  /** As it is written. */
  readonly from: string;
  /** The file in src, for a relative one. */
  readonly file: string | undefined;
  /** Whether it is gone when the code runs. */
  readonly typeOnly: boolean;
}

interface Source {
  /** Relative to src, with slashes. */
  readonly file: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  readonly imports: readonly Import[];
}

const statement =
  /\b(?:import|export)\s+(type\s)?[^;"'`]*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|\bimport\s+"([^"]+)"/g;

function readSource(file: string): Source {
  const text = readFileSync(join(root, "src", file), "utf8");
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
  const imports = [...code.matchAll(statement)].map((match): Import => {
    const from = (match[2] ?? match[3] ?? match[4])!;
    const relative = from.startsWith(".") ? normalize(join(dirname(file), from)).replaceAll("\\", "/") : undefined;
    return { from, file: relative?.startsWith("..") === true ? undefined : relative, typeOnly: match[1] !== undefined };
  });
  return { file, text, code, imports };
}

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts"))
  .map(readSource);

const sourceOf = new Map(sources.map((source) => [source.file, source]));

/** Every import that breaks a rule, in words. */
function offending(rule: (source: Source, one: Import) => string | false | undefined): readonly string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((one) => {
      const words = rule(source, one);
      return words === undefined || words === false ? [] : [words];
    }),
  );
}

test("the walk of the imports sees all of them", () => {
  const count = sources.reduce((sum, { imports }) => sum + imports.length, 0);
  const lines = sources.reduce((sum, { code }) => sum + (code.match(/\bfrom "|\bimport\("/g) ?? []).length, 0);
  expect(count).toBe(lines);
  expect(
    offending((source, { file }) => file !== undefined && !sourceOf.has(file) && `${source.file}: ${file}`),
  ).toEqual([]);
});

test("everything that commands print goes through output.ts, where it is made printable", () => {
  const prints = /\bprocess\.(stdout|stderr)\.(write|end)\b|\bstream\.write\((?!"")|\bconsole\.\w+\(/;
  // bin.ts prints one sentence of its own, where no other file may be loaded.
  const allowed = new Set(["cli/command/output.ts", "main/bin.ts"]);
  expect(sources.filter(({ file, code }) => prints.test(code) && !allowed.has(file)).map(fileOf)).toEqual([]);
  const asks = sources.filter(({ imports }) => imports.some(({ from }) => /^node:(readline|tty)/.test(from)));
  expect(asks.map(fileOf)).toEqual(["cli/input/prompt.ts"]);
});

test("every file belongs to a room", () => {
  expect(sources.filter(({ file }) => !rooms.includes(roomOf(file))).map(fileOf)).toEqual([]);
});

test("imports go in one direction", () => {
  const rankOf = (file: string) => rooms.indexOf(roomOf(file));
  const wrong = offending(
    ({ file }, to) =>
      to.file !== undefined && rankOf(to.file) > rankOf(file) && `${file} imports ${to.file}, which is above it`,
  );
  expect(wrong).toEqual([]);
});

test("a feature imports no other one but what they share, and only the lists of features and of public types import it", () => {
  const featureOf = (file: string) => /^features\/[^/]+(?=\/)/.exec(file)?.[0];
  const wrong = offending(({ file }, to) => {
    const feature = featureOf(to.file ?? "");
    return (
      feature !== undefined &&
      featureOf(file) !== feature &&
      !(feature === "features/shared" && featureOf(file) !== undefined) &&
      !["features/index.ts", "index.ts"].includes(file) &&
      `${file} imports ${to.file}, which a copy without this feature does not have`
    );
  });
  expect(wrong).toEqual([]);
});

test("what applications load imports nothing of the rest", () => {
  const own = "features/app/";
  expect(
    offending(({ file }, to) => file.startsWith(own) && to.file?.startsWith(own) === false && `${file}: ${to.file}`),
  ).toEqual([]);
});

test("without its features, and with one more step kind, the rest compiles and runs", () => {
  const folder = copySources(temporaryFolder(), "migrations", "migrate.config.ts");
  follow(folder, "step-kind");
  const features = readdirSync(join(folder, "src/features"), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => name);
  for (const feature of features) rmSync(join(folder, "src/features", feature), { recursive: true });
  const ofFeature = new RegExp(`"\\./(?:features/)?(?:${features.join("|")})/`);
  for (const list of ["src/features/index.ts", "src/index.ts"]) {
    const lines = readFileSync(join(folder, list), "utf8").split("\n");
    const left = lines.filter((line) => !ofFeature.test(line)).join("\n");
    writeFileSync(
      join(folder, list),
      left.replace(/(type FeatureTarget =)[^;]*/, "$1 never").replace(/(type Feature[MS]\w+ =)[^;]*/g, "$1 object"),
    );
  }
  expect(compile(folder)).toBe("");
  const migrate = (...args: readonly string[]) => migrateIn(folder, args);
  expect(migrate("up")).toMatchObject({ status: 0, stdout: expect.stringContaining("7 migrations applied") });
  expect(migrate("down", "--to", "0", "--accept", "lossy")).toMatchObject({ status: 0 });
  expect(migrate("verify")).toMatchObject({ status: 0 });
  for (const typed of ["serve", "verify --write"])
    expect([typed, migrate(...typed.split(" ")).status]).toEqual([typed, 2]);
});

test.each([
  { what: "files", of: (file: string) => file },
  { what: "folders", of: folderOf },
])("no $what import each other in a circle, types included", ({ of }) => {
  const imports = new Map<string, Set<string>>();
  for (const { file, imports: all } of sources)
    for (const { file: to } of all)
      if (to !== undefined && of(to) !== of(file))
        imports.set(of(file), (imports.get(of(file)) ?? new Set()).add(of(to)));
  expect(circleIn(imports)).toBeUndefined();
});

/** The first circle that is found, as a path that ends where it begins. */
function circleIn(imports: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (one: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(one)) return [...path.slice(path.indexOf(one)), one];
    if (done.has(one)) return undefined;
    for (const next of imports.get(one) ?? []) {
      const circle = visit(next, [...path, one]);
      if (circle !== undefined) return circle;
    }
    done.add(one);
    return undefined;
  };
  for (const one of imports.keys()) {
    const circle = visit(one, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

test("a folder has at most 15 files", () => {
  const sizes = Map.groupBy(sources, ({ file }) => folderOf(file));
  const large = [...sizes].filter(([, { length }]) => length > 15);
  expect(large.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([]);
});

test("no two exported types have the same name", () => {
  const named = sources.flatMap(({ file, code }) =>
    [...code.matchAll(/^export (?:declare )?(?:interface|type|class) (\w+)/gm)].map((match) => ({
      name: match[1]!,
      file,
    })),
  );
  const twice = [...Map.groupBy(named, ({ name }) => name)].filter(([, { length }]) => length > 1);
  expect(twice.map(([name, all]) => `${name}: ${all.map(fileOf).join(", ")}`)).toEqual([]);
});

test("one target is reached through the registry alone", () => {
  const wrong = offending(({ file }, to) => {
    if (to.file === undefined || roomOf(to.file) !== "targets/lance") return undefined;
    if (file === "targets/index.ts" || roomOf(file) === roomOf(to.file)) return undefined;
    return `${file} imports ${to.file}; go through targets/index.ts`;
  });
  expect(wrong).toEqual([]);
});

test("the registry loads a target when it is first used", () => {
  expect(
    offending(({ file }, to) => file === "targets/index.ts" && to.file !== undefined && !to.typeOnly && to.file),
  ).toEqual(
    sourceOf
      .get("targets/index.ts")!
      .code.match(/(?<=\bimport\("\.\/)[^"]+/g)!
      .map((file) => `targets/${file}`),
  );
});

test("targets are opened by the configuration, not by what runs migrations", () => {
  const above = new Set(rooms.slice(rooms.indexOf("session")));
  expect(
    offending(
      ({ file }, to) =>
        to.file === "targets/index.ts" && !above.has(roomOf(file)) && `${file} imports the registry of targets`,
    ),
  ).toEqual([]);
});

test.each([
  { package: "@lancedb/lancedb", folder: "engine/", beside: "features/app/" },
  { package: "apache-arrow", folder: "wire/" },
  { package: "flatbuffers", folder: "wire/" },
  { package: "ts-morph", folder: "features/author/" },
  { package: "yargs", folder: "main/", beside: "cli/" },
])("$package is imported in $folder only", ({ package: name, folder, beside = folder }) => {
  const named = new RegExp(`["'\`]${name}(?:/[^"'\`]*)?["'\`]`);
  const importers = sources.filter(({ code }) => named.test(code)).map(({ file }) => file);
  expect(importers).not.toEqual([]);
  expect(importers.filter((file) => !file.startsWith(folder) && !file.startsWith(beside))).toEqual([]);
});

test("no code asks for a class of the language by instanceof, which is false under Jest", () => {
  const asking = sources.filter(({ file, code }) => {
    const isElsewhere = file === "checks/realm.ts" || file.startsWith("features/report/browser/");
    return (
      !isElsewhere && /instanceof (\w*Error|Date|Map|Set|RegExp|Promise|Object|Array)\b(?<!MigrateError)/.test(code)
    );
  });
  expect(asking.map(fileOf)).toEqual([]);
});

const pure = sources.filter(({ file }) => /^(schema|actions|plan)\/|^ledger\/(state|audit)\//.test(file));

test("what is pure reaches no file, no network and no clock, not even through what it imports", () => {
  const impure = pure.flatMap(({ file }) =>
    [...reachedFrom(file)]
      .filter((name) => name.startsWith("node:") && !["node:crypto", "node:util"].includes(name))
      .map((name) => `${file} reaches ${name}`),
  );
  const timed = pure.filter(({ code }) =>
    /\bDate\.now\b|\bDate\(\)|\bperformance\b|\bprocess\b|\bfetch\b|Math\.random/.test(code),
  );
  expect([impure, timed.map(({ file }) => file)]).toEqual([[], []]);
});

/** Files and packages that are loaded with a file. */
function reachedFrom(file: string, reached = new Set<string>()): ReadonlySet<string> {
  for (const one of sourceOf.get(file)?.imports ?? []) {
    const name = one.file ?? one.from;
    if (one.typeOnly || reached.has(name)) continue;
    reached.add(name);
    reachedFrom(name, reached);
  }
  return reached;
}

test("only the command line prints and ends the process", () => {
  const printing = /\bconsole\.|\bprocess\.(stdout|stderr|exit|exitCode)\b/;
  expect(sources.filter(({ file, code }) => !/^(cli|main)\//.test(file) && printing.test(code)).map(fileOf)).toEqual(
    [],
  );
});

test("no work is left in comments", () => {
  expect(sources.filter(({ text }) => /\b(TODO|FIXME|XXX)\b/.test(text)).map(fileOf)).toEqual([]);
});

test("every file is shorter than 300 lines", () => {
  expect(sources.filter(({ text }) => text.split("\n").length > 300).map(fileOf)).toEqual([]);
});

test("every step kind has its test", () => {
  const kinds = sourceOf.get("steps/index.ts")!.imports.map(({ file }) => file!.replace(/\.ts$/, ".test.ts"));
  expect(kinds.filter((file) => !existsSync(join(root, "test/unit", file)))).toEqual([]);
});

test("a step kind that is exported under another name does not compile", () => {
  const folder = copySources(temporaryFolder());
  follow(folder, "step-kind", (code) => code.replace(/dropNotNull(?= =| })/, "dropNotnull"));
  // The registry compares the names; what uses it need not be checked too.
  const registry = { extends: "./tsconfig.json", include: ["src/steps/registry.ts"] };
  writeFileSync(join(folder, "registry.json"), JSON.stringify(registry));
  expect(compile(join(folder, "registry.json"))).toContain("'dropNotnull.kind' are incompatible");
});
