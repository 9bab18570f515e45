/** ts-morph, loaded with this file. Throws ERR_PACKAGES_MISSING where it is not installed. */
import { createRequire } from "node:module";
import { requirePackages } from "../../../engine/package/installed-packages.ts";
import { authoringPackages } from "./authoring-packages.ts";

const name = "ts-morph";

requirePackages("a template of the project, or rewriting migrations,", authoringPackages);

export const { Project, SyntaxKind, ts } = createRequire(import.meta.url)(name) as typeof import("ts-morph");
