/** What the sources state about themselves. */
import { join } from "node:path";
import { Project, type JSDoc, type SourceFile } from "ts-morph";
import { root } from "../screenshots/project.ts";

/** The source files of the repository, by path. */
export function sources(): (path: string) => SourceFile {
  const project = new Project({ tsConfigFilePath: join(root, "tsconfig.json"), skipAddingFilesFromTsConfig: true });
  return (path) => project.addSourceFileAtPath(join(root, path));
}

/** The text of a comment on one line, without its tags. */
export function descriptionOf(doc: JSDoc): string {
  return doc.getDescription().trim().replaceAll(/\s+/g, " ");
}

export function tagOf(doc: JSDoc, name: string): string | undefined {
  return doc
    .getTags()
    .find((tag) => tag.getTagName() === name)
    ?.getCommentText();
}
