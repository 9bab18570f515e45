import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { locationOf, uriProblem } from "../../../src/engine/location.ts";

test.each([
  ".lancedb",
  "data",
  "db",
  "dbs/one",
  "./db:odd",
  "of:2026",
  "../data",
  "/var/data",
  "a b/ü",
  "a?b",
  "a#b",
  "file:///a%23b",
  "file:///var/data",
  "s3://bucket/path",
  "S3://bucket/path",
  "s3+ddb://bucket/path?ddbTableName=t",
  "gs://bucket/path",
  "az://container/path",
])("%s may hold a database", (uri) => {
  expect(uriProblem(uri, false)).toBeUndefined();
});

test.each([
  { uri: "", problem: "is empty" },
  { uri: " \t", problem: "is empty" },
  {
    uri: "http://host:8080",
    problem: "is the address of a service; a target of kind lance takes a folder or an object store",
  },
  {
    uri: "https://host",
    problem: "is the address of a service; a target of kind lance takes a folder or an object store",
  },
  {
    uri: "db://mine",
    problem: "is an address of LanceDB Cloud; a target of kind lance takes a folder or an object store",
  },
  {
    uri: "DB://mine",
    problem: "is an address of LanceDB Cloud; a target of kind lance takes a folder or an object store",
  },
  { uri: "data\0", problem: "holds a NUL character" },
  { uri: "ftp://host/a", problem: "has a scheme that the engine does not know (ftp:)" },
  { uri: "s3://bucket/a?b", problem: "holds ?, which ends the path; use a path without it" },
  { uri: "az://container/a#b?c", problem: "holds #, which ends the path; use a path without it" },
  { uri: "s3+ddb://bucket/a?ddbTableName=t#b", problem: "holds ?, which ends the path; use a path without it" },
  {
    uri: "file:///data/a#b",
    problem: "holds #, which ends the path; write %23 for it, or the path without file://",
  },
  { uri: "s3:/bucket/a", problem: "lacks // behind s3: (s3://…)" },
  { uri: "GS:bucket", problem: "lacks // behind GS: (GS://…)" },
  { uri: "file:/data", problem: "lacks // behind file: (file://…)" },
  { uri: "S4://bucket", problem: "has a scheme that the engine does not know (s4:)" },
  {
    uri: "file:///data/a%2Fb",
    problem:
      "can't be read as a path (File URL path must not include encoded / characters); write the path without file://",
  },
  { uri: "file:///data/%zz", problem: "can't be read as a path (URI malformed); write the path without file://" },
  { uri: "file:///data/a%00", problem: "holds a NUL character" },
])("$uri may not: it $problem", ({ uri, problem }) => {
  expect(uriProblem(uri, false)).toBe(problem);
});

test.each([
  { uri: "data", folder: "/project/data" },
  { uri: ".lancedb", folder: "/project/.lancedb" },
  { uri: "./a/../b", folder: "/project/b" },
  { uri: "../data", folder: "/data" },
  // The engine takes what begins with "db" for a remote database unless it is an absolute path.
  { uri: "db", folder: "/project/db" },
  { uri: "dbs/one", folder: "/project/dbs/one" },
  { uri: resolve("/var/data"), folder: "/var/data" },
  { uri: pathToFileURL("/var/a b").href, folder: "/var/a b" },
  { uri: pathToFileURL("/var/ü").href, folder: "/var/ü" },
])("$uri is the folder $folder", ({ uri, folder }) => {
  const place = resolve(folder);
  expect(locationOf(uri, "/project")).toEqual({ uri: place, folder: place });
});

test.each(["s3://bucket/path", "gs://bucket"])("%s is left to the engine and is no folder", (uri) => {
  expect(locationOf(uri, "/project")).toEqual({ uri });
});

test.each(["C:\\data\\lance", "c:/data/lance", "\\\\server\\share\\lance"])(
  "%s may hold a database on Windows alone",
  (uri) => {
    expect(uriProblem(uri, true)).toBeUndefined();
    expect(uriProblem(uri, false)).toBe(
      "is a path of Windows, and this is another system; write the path that the folder has here",
    );
  },
);

test("on Windows, a path behind file:// begins with a drive", () => {
  expect(uriProblem("file:///C:/data", true)).toBeUndefined();
  expect(uriProblem("file:///data", true)).toBe(
    "can't be read as a path (File URL path must be absolute); write the path without file://",
  );
});

test("a user without a home folder is asked for the whole path", () => {
  for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, "");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(uriProblem("~/data")).toBe(
    "begins with ~, and this user has no home folder; set HOME, or write the path in full",
  );
});
