/** ts-morph, loaded with this file. Throws ERR_PACKAGES_MISSING where it is not installed. */
import { requirePackages } from "../../../engine/package/installed-packages.ts";
import { requireHere } from "../../../engine/package/own-module.ts";
import { authoringPackages } from "./authoring-packages.ts";

requirePackages("a template of the project, or rewriting migrations,", authoringPackages);

export const { Project, SyntaxKind, ts } = requireHere("ts-morph") as typeof import("ts-morph");
