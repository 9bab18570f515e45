import { expect, test } from "vitest";
import { planMarkdown } from "../../../../src/features/markdown/plan-markdown.ts";
import { planDocumentShape, type PlanDocument } from "../../../../src/plan/document/plan-document.ts";
import { renderedMarkdown } from "../../../support/rendered-markdown.ts";

type Migration = NonNullable<PlanDocument["pending"]>[number];
type Action = Migration["actions"][number];

const about = { database: undefined, tool: "lance-migrate 1.0.0", at: Date.UTC(2026, 10, 26), saved: undefined };
const cost = { rows: 0, bytes: 0, added: 0, indexes: [], versions: 1 };
const back: NonNullable<Action["rollback"]> = {
  class: "exact",
  text: "undo it",
  actions: [{ kind: "any", table: "t" }],
  cost,
};

function migration(version: number, actions: readonly Partial<Action>[], rest: Partial<Migration> = {}): Migration {
  const whole = actions.map((action) => ({
    step: 1,
    text: `change t.c${version}`,
    calls: ["t.change()"],
    cost,
    risks: [],
    rollback: back,
    action: { kind: "any", table: "t" },
    ...action,
  }));
  const name = { version, name: `change_c${version}`, file: "f.ts", checksum: "", steps: [] };
  return { ...name, done: 0, total: whole.length, actions: whole, ...rest };
}

const totals = { migrations: 1, actions: 1, ...cost };

function shown(plan: Partial<PlanDocument>, more: Partial<typeof about> = {}): string {
  const document = { target: "production", direction: "up", verdict: "ready", totals, ...plan } as const;
  expect(planDocumentShape.safeParse(document)).toMatchObject({ success: true });
  const lines = planMarkdown(document, { ...about, ...more });
  expect(lines.filter((line) => line.includes("\n"))).toEqual([]);
  return lines.join("\n");
}

const names = (text: string) =>
  renderedMarkdown(text)
    .rows.slice(1)
    .map(([cell]) => cell);
const loss = { kind: "loss", text: "t.c is dropped", rows: 3 } as const;

test("the migrations about which somebody must decide come first", () => {
  const text = shown({
    pending: [
      migration(1, [{}]),
      migration(2, [{ rollback: { ...back, class: "restore" } }]),
      migration(3, [{ risks: [{ kind: "failure", text: "a null would stop this", rows: 0 }] }]),
      migration(4, [{ risks: [loss] }]),
      migration(5, [{ rollback: { class: "none", text: "", reason: "rows are gone", actions: [] } }]),
      migration(6, [{ risks: [loss], refusal: { reason: "consent", consent: "lossy", loss: "t.c is dropped" } }]),
      migration(7, [{ risks: [{ ...loss, rows: 0 }], rollback: undefined }], {
        down: ["undo it"],
        unfinished: true,
        done: 1,
        total: 2,
      }),
      migration(8, [{}], { unfinished: true }),
    ],
  });
  expect(text).toContain(
    "\n### 8 migrations for `production`: ready (2 unfinished, 2 may lose data, 1 can't be rolled back)\n\n> [!CAUTION]\n> - `0006_change_c6`: change t.c6: needs consent:",
  );
  expect(renderedMarkdown(text).rows.map((row) => row.slice(0, 3).join(", "))).toEqual([
    "migration, risk, rollback",
    "⛔ 0006_change_c6, t.c is dropped: 3 rows now, exact",
    "⏳ 0007_change_c7 (1 of 2 done), t.c is dropped: no row now, its file exports down",
    "⏳ 0008_change_c8 (unfinished), none, exact",
    "🔶 0005_change_c5, none, none: rows are gone",
    "🔶 0004_change_c4, t.c is dropped: 3 rows now, exact",
    "🔶 0003_change_c3, a null would stop this: no row now, exact",
    "✅ 0002_change_c2, none, restore of an old version",
    "✅ 0001_change_c1, none, exact",
  ]);
  const order = "\n\nSorted by risk. They run in the order in which the steps below list them.\n";
  expect(text).toContain(order);
  expect(shown({ pending: [migration(1, [{ risks: [loss] }]), migration(2, [{}])] })).not.toContain(order);
});

test("a long plan is shorter than a comment may be, and its details are cut first", () => {
  const usual = Array.from({ length: 1_000 }, (_, at) => migration(at + 1, [{}]));
  const long = "|`".repeat(1_000);
  const hostile = usual.slice(0, 50).map(({ version }) =>
    migration(
      version,
      [{ text: long, calls: [long], risks: [{ ...loss, text: long }], refusal: { reason: "failure", problem: long } }],
      {
        name: long,
      },
    ),
  );
  const text = shown({ pending: usual });
  expect(text.length).toBeLessThan(60_000);
  expect(names(text)).toHaveLength(20);
  expect(text).toContain("\n980 migrations with less risk: see below.\n");
  expect(text).toMatch(/\n`migrate plan --verbose` also shows the steps of \d+ more\.\n\n<\/details>\n/);
  expect(shown({ pending: hostile }).length).toBeLessThan(60_000);
  expect(names(shown({ pending: hostile })).length).toBeGreaterThan(0);
});

test("what breaks a release is shown with the steps that would not, one in each line", () => {
  const broken = [{ application: "search", release: "1.4.0", problem: "reads t.c, which is dropped" }];
  const sequence = ["Deploy one that does not.", "Run this migration."];
  const refusal = { reason: "contract" as const, broken, sequence };
  const text = shown({ pending: [migration(1, [{ refusal }])] });
  expect(text).toContain(
    "\n> - `0001_change_c1`: change t.c1: breaks search 1.4.0, which reads t.c, which is dropped; instead:\n" +
      ">   1. Deploy one that does not.\n>   2. Run this migration.\n\n",
  );
  expect(renderedMarkdown(text).tags).toContain("ol");
  expect(renderedMarkdown(text).rows[1]).toContain("breaks search 1.4.0");
});

test("a plan without totals is shown without them", () => {
  const pending = [migration(1, [{}])];
  expect(shown({ pending })).toMatch(/^In total: .*\.$/m);
  const text = shown({ pending, totals: undefined });
  expect(text).toContain("`0001_change_c1`");
  expect(text).not.toContain("In total");
});

test("the calls of a group are shown once, before its migrations", () => {
  const action = { text: "change both", calls: ["t.changeBoth()"], cost, action: { kind: "any", table: "t" } };
  const grouped = { calls: undefined, cost: undefined };
  const text = shown({
    pending: [migration(1, [grouped]), migration(2, [grouped])],
    groups: [{ versions: [1, 2], done: 0, total: 1, actions: [action] }],
  });
  expect(text).toContain(
    "\n**`0001_change_c1` to `0002_change_c2`**, as a group: 1 call\n\n- change both (metadata only, 1 version)\n",
  );
  expect(renderedMarkdown(text).rows.map((row) => row[3])).toEqual(["cost", "in a group", "in a group"]);
});

test("a rollback shows what blocks it and what is lost", () => {
  const reverting = [migration(1, [{ rollback: undefined }])];
  const accepted = shown({ direction: "down", reverting, accepted: ["3 rows of t are lost"] });
  expect(accepted).toContain(
    "\n### 1 migration to roll back on `production`: ready\n\n> [!WARNING]\n> - 3 rows of t are lost\n",
  );
  expect(renderedMarkdown(accepted).rows[0]).toEqual(["migration", "risk", "cost"]);
  const blocked = shown({ direction: "down", reverting, blocked: { problems: ["t.c has nulls"], hint: "fill them" } });
  expect(blocked).toContain("\n> [!CAUTION]\n> - t.c has nulls\n> - fill them\n");
});

test("the first line names the target, the database and the direction, whatever their names contain", () => {
  const first = (plan: Partial<PlanDocument>, database?: string) =>
    shown({ pending: [], ...plan }, { database } as object).split("\n")[0];
  expect(first({})).toBe("<!-- lance-migrate production up -->");
  expect(first({}, "customer-7")).toBe("<!-- lance-migrate production%2Fcustomer-7 up -->");
  expect(first({ target: "--> @somebody\n<b>\ud800" })).toBe(
    "<!-- lance-migrate --%3E%20%40somebody%0A%3Cb%3E%EF%BF%BD up -->",
  );
});
