/** What the sources state about themselves. */
import { join } from "node:path";
import { Project, type JSDoc, type SourceFile } from "ts-morph";
import { root } from "../screenshots/project.ts";

/** Half a gigabyte, so it is kept just while somebody uses it. */
let last: WeakRef<Project> | undefined;

/** A source file of the repository. All are read into one project, whose types are worked out once. */
export function source(path: string): SourceFile {
  const options = { tsConfigFilePath: join(root, "tsconfig.json"), skipAddingFilesFromTsConfig: true };
  const project = last?.deref() ?? new Project(options);
  last = new WeakRef(project);
  return project.addSourceFileAtPath(join(root, path));
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
