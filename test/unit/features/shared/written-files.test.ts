import { join, parse, relative } from "node:path";
import { expect, test } from "vitest";
import { shownPath } from "../../../../src/features/shared/written-files.ts";

test("a path is shown from the current folder, or whole where that is shorter", () => {
  const here = process.cwd();
  const far = join(parse(here).root, "x.html");
  expect(relative(here, far).length).toBeGreaterThan(far.length);
  const paths = [join(here, "pages", "x.html"), join(here, "..", "x.html"), far];
  expect(paths.map(shownPath)).toEqual([join("pages", "x.html"), join("..", "x.html"), far]);
});
