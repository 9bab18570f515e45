import { afterEach, expect, test, vi } from "vitest";
import { thisRunner } from "../../../src/run/run-context.ts";

const variables = ["MIGRATE_ACTOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN"];

afterEach(() => vi.unstubAllEnvs());

test("a run states who started its pipeline, or whom MIGRATE_ACTOR names, instead of the user of the machine", () => {
  for (const name of variables) vi.stubEnv(name, undefined);
  const own = thisRunner().by;
  vi.stubEnv("GITLAB_USER_LOGIN", "ada");
  expect(thisRunner().by).toMatch(/^ada@.+ \(process \d+\)$/);
  vi.stubEnv("GITHUB_ACTOR", "bob");
  vi.stubEnv("MIGRATE_ACTOR", "eve");
  expect(thisRunner().by).toMatch(/^eve@/);
  vi.stubEnv("MIGRATE_ACTOR", "");
  expect(thisRunner().by).toMatch(/^bob@/);
  vi.unstubAllEnvs();
  for (const name of variables) vi.stubEnv(name, undefined);
  expect(thisRunner().by).toBe(own);
});
