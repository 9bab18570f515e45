/** What `migrate init` finds in a project. Reads files only. */
import { locationOf } from "../../../engine/location.ts";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { configNames, type LoadedConfig } from "../../../session/load-config.ts";
import { fileKind, filesIn, lastMigration, type FileKind } from "../../shared/file-kind.ts";
import {
  foldersAbove,
  packageAt,
  packageManagerOf,
  type PackageManager,
} from "../../../engine/package/package-manager.ts";
import type { LanceTarget } from "../../../targets/index.ts";
import { isFolder, placeAt, type TablePlace } from "./files.ts";

export interface ProjectSurvey {
  readonly folder: string;
  readonly manager: PackageManager;
  /** The configuration, if there is one already. */
  readonly config: LoadedConfig | undefined;
  /** The kind of the files that will be written. */
  readonly kind: FileKind;
  /** The folder for migrations: another one than usual if that serves another tool. */
  readonly migrations: string;
  readonly hasMigrations: boolean;
  /** The command of the project's formatter. */
  readonly format: string | undefined;
  /** Where the tables are, as far as that is configured; otherwise where they are usually. */
  readonly place: TablePlace;
  /** The names of the tables there, if that is a folder. */
  readonly tables: readonly string[];
  /** Other folders of the project with tables, if there are none at that place and nothing is configured. */
  readonly elsewhere: readonly string[];
  /** The folder of the git repository. */
  readonly repository: string | undefined;
  /** The configuration of another CI service than GitHub's. */
  readonly otherCi: string | undefined;
}

/** The place of the target that is used without `--target`; without a configuration, the usual one. */
function placeFound(config: LoadedConfig | undefined): TablePlace {
  const service: TablePlace = { kind: "rest", uri: undefined };
  if (config === undefined) return process.env["MIGRATE_ENDPOINT"] ? service : { kind: "lance", uri: ".lancedb" };
  const { target, targets } = config;
  const used = (target === undefined ? undefined : targets[target]) ?? Object.values(targets)[0];
  return used?.kind === "lance" ? { kind: "lance", uri: (used as LanceTarget).uri } : service;
}

/** Whether there is a configuration file, for which no other one is written. */
export function isConfigured(folder: string): boolean {
  return configNames.some((name) => existsSync(join(folder, name)));
}

/** `uri`: where the tables are, if that is given. Then there is no configuration. */
export function surveyOf(folder: string, config: LoadedConfig | undefined, uri?: string): ProjectSurvey {
  const usual = isForeign(join(folder, "migrations")) ? "lance-migrations" : "migrations";
  const migrations = config?.migrations ?? usual;
  const base = config?.folder ?? folder;
  const place = uri === undefined ? placeFound(config) : placeAt(uri);
  const tables = tableNamesIn(base, place);
  const isOpen = config === undefined && uri === undefined && tables.length === 0 && isFolder(place);
  const repository = foldersAbove(folder).find((one) => existsSync(join(one, ".git")));
  const otherCi = repository && otherServices.find((name) => existsSync(join(repository, name)));
  return {
    folder,
    manager: packageManagerOf(folder),
    config,
    kind: fileKind({ folder, file: config?.file ?? "", migrations }, folder),
    migrations,
    hasMigrations: lastMigration(resolve(base, migrations)) !== "",
    format: formatterOf(folder),
    place,
    tables,
    elsewhere: isOpen ? foldersWithTables(folder) : [],
    repository,
    otherCi,
  };
}

const otherServices = [".gitlab-ci.yml", ".circleci", "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile"];

/** One line for people. */
export function describeSurvey({
  manager,
  config,
  kind,
  folder,
  place,
  tables,
  elsewhere,
  format,
}: ProjectSurvey): string {
  const isModule = packageAt(folder)?.type === "module";
  const found = [
    manager.name,
    kind.endsWith("ts") ? "TypeScript" : "JavaScript",
    isModule ? "ES modules" : "CommonJS",
    ...(format === undefined ? [] : [`the formatter ${format.split(" ")[0]}`]),
    ...(tables.length === 0
      ? []
      : [`${tables.length === 1 ? "the table" : "the tables"} ${tables.join(", ")} in ${place.uri}`]),
    ...(elsewhere.length === 0 ? [] : [`tables in ${elsewhere.join(" and ")}`]),
    ...(config === undefined && place.kind === "rest" && place.uri === undefined
      ? ["an address in MIGRATE_ENDPOINT"]
      : []),
  ];
  return `found ${found.join(", ")}`;
}

/** Whether the folder's code is that of another tool. Steps may also be written as plain data, which have a kind. */
function isForeign(folder: string): boolean {
  const code = filesIn(folder).filter((file) => /\.(sql|[cm]?[jt]s)$/.test(file) && !file.endsWith(".d.ts"));
  return (
    code.length > 0 && !code.some((file) => /lance-migrate|\bkind\b/.test(readFileSync(join(folder, file), "utf8")))
  );
}

const formatters = [
  ["prettier", "prettier --write"],
  ["biome", "biome format --write"],
  ["oxfmt", "oxfmt"],
  ["dprint", "dprint fmt"],
] as const;

function formatterOf(folder: string): string | undefined {
  const bins = foldersAbove(folder).map((one) => join(one, "node_modules", ".bin"));
  return formatters.find(([name]) => bins.some((bin) => existsSync(join(bin, name))))?.[1];
}

/**
 * The names of the tables, if the place is a folder. The engine keeps each table in a folder of its name. The ledger's
 * table is no table of the application.
 */
export function tableNamesIn(base: string, place: TablePlace): readonly string[] {
  if (!isFolder(place) || place.uri === undefined) return [];
  const names = filesIn(locationOf(place.uri, resolve(base)).folder!).flatMap(
    (file) => /^(.+)\.lance$/.exec(file)?.[1] ?? [],
  );
  return names.filter((name) => !name.startsWith("_migrations"));
}

/** Folders up to two levels below, by their relative paths, without those of tools. */
function foldersWithTables(folder: string, below = 2): readonly string[] {
  const names = filesIn(folder).filter((name) => !/^\.|^node_modules$|\.lance$/.test(name));
  return names.flatMap((name) => {
    const path = join(folder, name);
    if (!isRealFolder(path)) return [];
    const own = tableNamesIn(folder, { kind: "lance", uri: name }).length > 0 ? [name] : [];
    return [...own, ...(below === 1 ? [] : foldersWithTables(path, below - 1).map((one) => `${name}/${one}`))];
  });
}

/** Links are left out: they may lead out of the project. */
function isRealFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The path from the repository to the project, for messages and workflows; empty if they are the same folder. */
export function placeInRepository({ repository, folder }: ProjectSurvey): string {
  return repository === undefined ? "" : relative(repository, folder).replaceAll("\\", "/");
}
