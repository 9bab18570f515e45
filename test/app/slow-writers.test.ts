/** Writers whose models take long write across `up` and `down`: with `lance-migrate/app`, and with code that does not look again. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { save, type Models } from "../../src/features/app/app.ts";
import { down } from "../../src/commands/down.ts";
import { prepare } from "../../src/features/embed/prepare/prepare.ts";
import { up } from "../../src/commands/up.ts";
import { verifyTables } from "../../src/commands/verify/verify.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { runCommand } from "../support/project.ts";
import { isLong, ofThisTurn, rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { aScene, documentsIn, newModel, oldModel, type Document } from "./scene.ts";

type Table = Awaited<ReturnType<Awaited<ReturnType<typeof lancedb.connect>>["openTable"]>>;
type Schema = Awaited<ReturnType<Table["schema"]>>;
type Row = Document & { readonly embedding: readonly number[] };

const writers = rounds(20, 200);
/** The shortest and the longest call of a model, in milliseconds. */
const [shortest, longest] = isLong ? [100, 10_000] : [10, 1_000];
/** How many of the first rows a writer alone writes. All writers may write the rows after these. */
const perWriter = 10;
const ownRows = perWriter * writers;
const sharedRows = 10;
const titles = Array.from({ length: ownRows + sharedRows }, (_, id) => `title ${id}`);

/** Numbers of the title's hash: what the models give, computed without them. */
function numbersOf(title: string | null, from: number, to: number): readonly number[] {
  return [
    ...createHash("sha256")
      .update(title ?? "")
      .digest()
      .subarray(from, to),
  ];
}

/** The documents whose vector is not that of their title. */
async function wrongIn(folder: string, vectorIn: (title: string | null) => readonly number[]) {
  const documents = await documentsIn(folder);
  return documents.filter(({ title, embedding }) => String(embedding) !== String(vectorIn(title)));
}

/** Whether writes of others have come first each time. */
function isOutrun(error: unknown): boolean {
  return /too many concurrent writers|commit conflict|came first each time/i.test(String(error));
}

/** Runs a command again, as users do, if so many writers are at work that it has never come first. */
async function again(migrate: () => Promise<unknown>, tries = 20): Promise<void> {
  try {
    await migrate();
  } catch (error) {
    if (tries === 1 || !isOutrun(error)) throw error;
    await again(migrate, tries - 1);
  }
}

/** Joins files now and then, as the guide of LanceDB asks of applications. Each look at a row takes longer with each file. */
async function joinFiles(table: Table, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(longest, undefined, { signal }).catch(() => {});
    await table.checkoutLatest();
    // A writer may have changed the same file, and the next round joins it then.
    await table.optimize().catch((error: unknown) => {
      if (!isOutrun(error)) throw error;
    });
  }
}

/**
 * A stage on which writers write while the model changes. Half of those that wait begin to write just before the columns are
 * switched, and the others when the migration has ended.
 */
async function aStage(length: number) {
  const { chance } = drawnChance();
  let [early, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isSwitching = false;
  const beforeSwitch = async () => {
    isSwitching = true;
    early.resolve();
    await sleep(chance.below(longest / 2));
  };
  const scene = await aScene(titles, beforeSwitch, length);
  scene.pend();
  // All writers are in this process, which has little time for its lease then.
  const options = { ...scene.options, lease: { duration: 600_000, patience: 5_000 } };
  // Each connection has caches of its own, and 200 of them more than the memory of a machine.
  const connection = await lancedb.connect(scene.folder);
  const open = async () => await connection.openTable("docs");
  const shared = await open();
  // Most writers have a handle of their own, which nobody refreshes for them.
  const tables = await Promise.all(
    Array.from({ length: writers }, async (_, writer) => (writer % 4 < 3 ? await open() : shared)),
  );
  // A handle reads the schema once, and knows it from then on.
  for (const table of tables) await table.schema();
  /** Most calls of a model are short. */
  const think = async () => await sleep(shortest * (longest / shortest) ** chance.next());
  /** `write` is called by all writers again and again, until some time after `migrate` has ended. */
  const during = async (
    migrate: () => Promise<unknown>,
    write: (writer: number, turn: string, table: Table) => Promise<unknown>,
  ) => {
    const told = new AbortController();
    [early, late] = [Promise.withResolvers(), Promise.withResolvers()];
    isSwitching = false;
    const phase = chance.below(1e9);
    const joining = joinFiles(await open(), told.signal);
    const all = Promise.all(
      tables.map(async (table, writer) => {
        await sleep(chance.below(longest));
        for (let turn = 0; !told.signal.aborted; turn++) {
          const began = performance.now();
          await write(writer, `writer ${writer}, phase ${phase}, turn ${turn}`, table);
          // On a busy machine they wait longer: else the migration would never get its turn.
          const took = performance.now() - began;
          const isEarly = chance.happens(0.5) && !isSwitching;
          const bells = [late.promise, ...(isEarly ? [early.promise] : [])];
          await Promise.race([...bells, sleep(chance.below(400 * writers) + 5 * took)]);
        }
      }),
    );
    try {
      await Promise.race([all, sleep(longest / 2)]);
      await Promise.race([all, migrate()]);
      late.resolve();
      await Promise.race([all, sleep(longest / 2)]);
    } finally {
      told.abort();
      late.resolve();
    }
    await Promise.all([all, joining]);
  };
  return { ...scene, open, options, chance, think, during };
}

async function saving(): Promise<void> {
  const { folder, options, open, chance, think, during } = await aStage(2);
  const vectorsBy: Readonly<Record<string, (title: string | null) => readonly number[]>> = {
    [oldModel]: (title) => numbersOf(title, 0, 2),
    [newModel]: (title) => numbersOf(title, 2, 4),
  };
  const models: Models<Pick<Document, "title">> = Object.fromEntries(
    Object.entries(vectorsBy).map(([version, vectorIn]) => [
      version,
      async (rows) => {
        await think();
        return rows.map(({ title }) => vectorIn(title));
      },
    ]),
  );
  const last = new Map<number, string>();
  const write = async (writer: number, title: string, table: Table) => {
    const [first, second] = [0, 0].map(() => perWriter * writer + chance.below(perWriter));
    // The second may be new.
    const own = [first!, second! + 2 * ownRows];
    for (const id of own) last.set(id, title);
    const documents = [...own, ownRows + chance.below(sharedRows)].map((id): Document => ({ id, title }));
    await save(table, "embedding", documents, { key: "id", models, attempts: 100 });
  };
  const judge = async (model: string) => {
    expect(await wrongIn(folder, vectorsBy[model]!)).toEqual([]);
    const found = new Map((await documentsIn(folder)).map(({ id, title }) => [id, title]));
    expect([...last].filter(([id, title]) => found.get(id) !== title)).toEqual([]);
  };
  const version = async () => await (await open()).version();
  const upward = async (migrate: () => Promise<unknown>) => {
    await during(migrate, write);
    await judge(newModel);
    // None of the rows that the writers have written is taken for one that lacks its vector.
    expect((await verifyTables(options)).stale).toEqual([]);
    const before = await version();
    await up(options);
    expect(await version()).toBe(before);
  };
  await upward(async () => {
    await again(async () => await prepare(options));
    await again(async () => await up(options));
  });
  await during(async () => await again(async () => await down(options)), write);
  await judge(oldModel);
  if (isLong) await upward(async () => await again(async () => await up(options)));
  console.log(`${last.size} documents`);
}

type Way = (table: Table, row: Row, schema: Schema) => Promise<unknown>;

/** How applications write new rows. `schema`: what they saw before they called the model. */
const adding: readonly Way[] = [
  async (table, row) => await table.add([{ ...row }]),
  async (table, row, schema) => await table.add(arrowOf(row, schema)),
];

/** How they change rows. */
const changing: readonly Way[] = [
  ...adding.map((add): Way => async (table, row, schema) => {
    await table.delete(`id = ${row.id}`);
    await add(table, row, schema);
  }),
  async (table, row) => await merging(table).execute([{ ...row }]),
  async (table, row, schema) => await merging(table).execute(arrowOf(row, schema)),
  async (table, { id, ...values }) => await updating(table, id, values),
];

/**
 * Leaves the vector to a job that the application runs later. Of a row that an application has written with its own vector,
 * nothing shows that the vector is that of a former text.
 */
const textAlone: Way = async (table, { id, title }) => await updating(table, id, { title });

function arrowOf(row: Row, schema: Schema) {
  return lancedb.makeArrowTable([{ ...row }], { schema: schema.select(["id", "title", "embedding"]) });
}

function merging(table: Table) {
  return table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll();
}

async function updating(table: Table, id: number, values: Partial<Row>) {
  await table.update({ where: `id = ${id}`, values: { ...values } as never });
}

async function notLooking(): Promise<void> {
  const { folder, options, open, chance, think, during } = await aStage(4);
  const [oldVector, newVector] = [
    (title: string | null) => numbersOf(title, 0, 2),
    (title: string | null) => numbersOf(title, 2, 6),
  ];
  writeFileSync(
    join(folder, "migrate.config.mjs"),
    `export default { targets: { app: { kind: "lance", uri: "." } } };\n`,
  );
  const migrate = async (args: readonly string[]) => await runCommand({ folder, args }, "shared");
  let [written, refused, next] = [0, 0, 1_000_000];
  const writeBy = async (way: Way, id: number, title: string, table: Table) => {
    const schema = await table.schema();
    const type = schema.fields.find(({ name }) => name === "embedding")!.type as { readonly listSize?: number };
    await think();
    const embedding = type.listSize === 2 ? oldVector(title) : newVector(title);
    // Many applications log such an error, and go on.
    await way(table, { id, title, embedding }, schema).then(
      () => written++,
      () => refused++,
    );
  };
  const write = async (writer: number, title: string, table: Table) => {
    const isNew = chance.happens(0.3);
    const id = isNew ? next++ : perWriter * writer + chance.below(perWriter);
    await writeBy(chance.pick(isNew ? adding : changing), id, title, table);
  };
  /** Writes too, in each way, with handles that have not been used meanwhile. */
  const storm = async (migrate: () => Promise<unknown>) => {
    const idle = await Promise.all(
      [...adding, ...changing, textAlone].map(async (way) => ({ way, table: await open() })),
    );
    for (const { table } of idle) await table.schema();
    [written, refused] = [0, 0];
    await during(migrate, write);
    for (const [at, { way, table }] of idle.entries())
      await writeBy(way, adding.includes(way) ? next++ : ownRows + at, `idle at ${next}`, table);
  };
  const verified = async () => {
    const { code, stdout } = await migrate(["verify", "--json"]);
    const { stale } = JSON.parse(stdout) as { stale: readonly { keys: readonly number[]; rows: object }[] };
    return { code, keys: stale.flatMap(({ keys }) => keys).toSorted((one, other) => one - other), stale };
  };
  /** The client for Node cuts a vector that is too long for the column: nothing shows that it is of the other model (documented). */
  const isCut = ({ title, embedding }: Document & { embedding: readonly number[] | null }) =>
    embedding?.length === 2 && String(embedding) === String(newVector(title).slice(0, 2));
  const wrongNow = async (vectorIn: typeof oldVector) => (await wrongIn(folder, vectorIn)).filter((one) => !isCut(one));
  /** What `verify` names is what is wrong, and this command computes it. */
  const judge = async (way: string, vectorIn: typeof oldVector, ...command: readonly string[]) => {
    const wrong = await wrongNow(vectorIn);
    const { code, keys, stale } = await verified();
    expect(keys).toEqual(wrong.map(({ id }) => id));
    expect(code).toBe(wrong.length === 0 ? 0 : 4);
    const rows = stale.map((one) => JSON.stringify(one.rows));
    console.log(`${way}: ${written} writes, ${refused} refused, ${wrong.length} rows wrong:`, ...rows);
    expect(await migrate(command)).toMatchObject({ code: 0 });
    expect(await wrongNow(vectorIn)).toEqual([]);
    expect(await verified()).toMatchObject({ code: 0, keys: [] });
    return wrong;
  };
  await storm(async () => await again(async () => await up(options)));
  expect(await judge("up", newVector, "up")).not.toEqual([]);
  await storm(async () => await again(async () => await down(options)));
  await judge("down", oldVector, "up", "--to", "1");
  // What is wrong after a rollback and never repaired is not taken for right by the next one.
  await storm(async () => await again(async () => await up(options)));
  await judge("up again", newVector, "up");
  if (!isLong) return;
  await storm(async () => await again(async () => await down(options)));
  await again(async () => await up(options));
  await again(async () => await down(options));
  await judge("down twice", oldVector, "up", "--to", "1");
}

/** For each commit one of them: test/app/writers.test.ts saves, and test/fault/reembed.test.ts does not look again. */
const ways = [
  [
    `${writers} slow writers save with lance-migrate/app while the model changes, is rolled back and every night changes again: no row is wrong`,
    saving,
  ],
  [`${writers} slow writers do not look again: verify names each row that is wrong, and up computes it`, notLooking],
] as const;

test.each(ofThisTurn(ways, 2))("%s", async (_, holds) => holds());
