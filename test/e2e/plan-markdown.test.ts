/** What `plan --format markdown` prints, which is written into comments on pull requests; with the built command. */
import { expect, test } from "vitest";
import { renderedMarkdown } from "../support/rendered-markdown.ts";
import { manyProjects } from "./support/many-projects.ts";
import { onStderr, onStdout } from "../support/project.ts";

const { project } = manyProjects();

const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = [${up}];\n`;
const create = module(
  `m.createTable("documents", { id: m.int32(), title: m.utf8(), body: m.utf8() }, { rows: [{ id: 1, title: "a", body: null }] })`,
);

const markdown = ["plan", "--format", "markdown"];

test("a plan is a short comment with its risks first", async () => {
  const { migrate } = project({
    "migrations/0001_documents.ts": create,
    "migrations/0002_headlines.ts": module(`m.renameColumn("documents", "title", "headline")`),
    "migrations/0003_no_body.ts": module(`m.dropColumn("documents", "body")`),
  });
  expect(await migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  const { code, stdout } = await migrate(markdown);
  expect(code).toBe(4);
  expect(stdout.replaceAll("\u00a0", " ").replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/, "NOW"))
    .toBe(`<!-- lance-migrate local up -->
### 2 migrations for \`local\`: needs consent

> [!CAUTION]
> - \`0003_no_body\`: drop documents.body: needs consent: migrate up --accept lossy, or accepts = \\["lossy"\\] in its file

| migration | risk | rollback | cost |
| --- | --- | --- | --- |
| ⛔ \`0003_no_body\` | documents.body is dropped with its values: no row now | **restore** of an old version | metadata only, 1 version |
| ✅ \`0002_headlines\` | none | exact | metadata only, 1 version |

Sorted by risk. They run in the order in which the steps below list them.

In total: metadata only, 2 versions.

<details>
<summary>Steps and calls</summary>

**\`0002_headlines\`**

- rename documents.title to headline (metadata only, 1 version)
  \`\`\`text
  documents.alterColumns([{"path":"title","rename":"headline"}])
  \`\`\`
- rollback: rename documents.headline to title (exact, metadata only, 1 version)

**\`0003_no_body\`**

- drop documents.body (metadata only, 1 version)
  \`\`\`text
  documents.dropColumns(["body"])
  \`\`\`
- rollback: restore documents as it was before (restore, refused if rows were written since, metadata only, 1 version)

</details>

<sub>Planned by lance-migrate 0.1.0 against the tables of NOW.</sub>
`);
  const saved = await migrate([...markdown, "--accept", "lossy", "--out", "plan.json"]);
  expect(saved).toMatchObject(onStdout(0, "Z. `migrate up --plan plan.json` runs exactly this plan, once.</sub>\n"));
  expect((await migrate([...markdown, "--plan", "plan.json"])).stdout).toContain(
    "\n### 2 migrations for `local`: ready\n",
  );
  expect((await migrate([...markdown, "--down"])).stdout).toMatch(
    /^<!-- lance-migrate local down -->\n### 1 migration to/,
  );
  expect((await migrate([...markdown, "--to", "1"])).stdout).toMatch(
    /^<!-- lance-migrate local up -->\nNothing to apply to `local`\.\n\n<sub>.*<\/sub>\n$/,
  );
  expect(await migrate([...markdown, "--json"])).toMatchObject({ code: 2 });
  expect(await migrate(["plan", "--format", "html"])).toMatchObject(onStderr(2, "--format must be text or markdown"));
});

test("names and SQL of migrations are shown as they are, and do nothing else", async () => {
  const evil = "a|b`c` </code></details><b>![x](y) @somebody #1 -->\u202e";
  const column = evil.replaceAll("`", "");
  const [target, quoted] = [JSON.stringify(evil), JSON.stringify(column)];
  const { migrate } = project({
    "migrate.config.ts": `export default { targets: { ${target}: { kind: "lance", uri: ".lancedb" } } };\n`,
    "migrations/0001_documents.ts": create,
    "migrations/0002_evil.ts": module(
      `m.renameColumn("documents", "title", ${quoted}), m.dropColumn("documents", ${quoted}), m.execute("documents", { delete: ${JSON.stringify(`body = '\n\`\`\`\n${evil}'`)} })`,
    ),
  });
  expect(await migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  const { code, stdout } = await migrate([...markdown, "--accept", "lossy"]);
  expect(code).toBe(0);
  const { tags, loose, rows, html } = renderedMarkdown(stdout);
  const own = "blockquote br code details h3 li p pre strong sub summary table tbody td th thead tr ul".split(" ");
  expect(tags.filter((tag) => !own.includes(tag))).toEqual([]);
  expect(loose).not.toMatch(/@|#|www\./);
  expect(rows.map((row) => row.length)).toEqual([4, 4]);
  expect(rows[1]![1]).toContain(column.replace("\u202e", "\\u202e"));
  expect(html.match(/<details>|<\/details>/g)).toEqual(["<details>", "</details>"]);
});

test("a migration that has failed half-way is marked as unfinished", async () => {
  const { migrate } = project({
    "migrations/0001_documents.ts": create,
    "migrations/0002_halves.ts": module(
      `m.addColumn("documents", "half", m.int32()), m.execute("documents", { update: { half: "cast(1 / (id - 1) as int)" } })`,
    ),
    "migrations/0003_headlines.ts": module(`m.renameColumn("documents", "title", "headline")`),
  });
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
  const { stdout } = await migrate([...markdown, "--accept", "lossy"]);
  expect(stdout).toContain("\n### 2 migrations for `local`: ready (1 unfinished, 1 may lose data)");
  expect(renderedMarkdown(stdout).rows.map(([cell]) => cell)).toEqual([
    "migration",
    "⏳ 0002_halves (1 of 2 done)",
    "✅ 0003_headlines",
  ]);
});

test("if no plan can be made, the comment states why, so that it replaces an earlier plan", async () => {
  const { migrate } = project({
    "migrations/0001_documents.ts": create,
    "migrations/0002_same.ts": module(`m.addColumn("documents", "title", m.utf8())`),
  });
  const { code, stdout, stderr } = await migrate(markdown);
  expect(code).toBe(4);
  expect(stderr).toContain("0002_same.ts, step 1 (addColumn): ");
  expect(stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/, "NOW")).toMatch(
    /^<!-- lance-migrate local up -->\n### No plan for `local`\n\n> \[!CAUTION\]\n> 0002\\_same\.ts, step 1 \(addColumn\): .* \(`ERR_STEP_IMPOSSIBLE`\)\n\n<sub>By lance-migrate [\d.]+, NOW\.<\/sub>\n$/,
  );
});
