/**
 * One random history: migrations go up and down on real tables while an application writes before, between and during. After
 * every run the oracle says whether a write that was acknowledged is gone, a table can't be read, or a promise was broken.
 */
import { embed } from "../../src/features/embed/feature.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { acceptsLoss } from "../../src/migrations/acceptance.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { down, type DownChoice } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { savePlan, savePlanDown } from "../../src/commands/plan.ts";
import { status } from "../../src/commands/status.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { verifyTables } from "../../src/commands/verify/verify.ts";
import { tablesOfAction } from "../../src/actions/apply-action.ts";
import { chanceOf, type Chance } from "../simulate/seeded-random.ts";
import { aMigration } from "../simulate/history.ts";
import { aKind, moodOf, type Mood } from "./moods.ts";
import { judge, keysOf, type Found, type Known, type Stage } from "./oracle.ts";
import { checkRefusal } from "./promises.ts";
import { readAll } from "./read.ts";
import { onScene, outcomeOf, type Counts, type Scene, type Where } from "./scene.ts";
import { settle, type Losing, type Outcome } from "./settle.ts";
import type { World } from "./shapes.ts";
import { advanced, dropsTables, stagesDown, stagesUp, writtenSince, type Applied, type UpStage } from "./stages.ts";
import { drawMigration, indexStep, tableStep, type Able } from "./steps.ts";
import type { Calls } from "./thread.ts";
import { promisedClasses, recordedEnd, wordsOfMigration } from "./told.ts";
import { violation } from "./violation.ts";
import { notNow, type Write, type WriteKind } from "./write.ts";

/** Throws what is wrong, with all that was done before it. */
export async function runHistory(seed: number, where: Where, application: Calls, counts: Counts): Promise<void> {
  await onScene(seed, where, application, counts, (scene) => new History(seed, scene).run());
}

class History {
  #scene: Scene;
  #chance: Chance;
  #world: World = new Map();
  #known: Known = new Map();
  #applied: readonly Applied[] = [];
  #pending: Migration[] = [];
  #number = 0;
  /** Why the history can't go on: what an application did to tables is nothing that a migration could follow. */
  #isOver = false;

  /** In some histories there is only one kind of writes: what others do would hide that it is not noticed. */
  #only: WriteKind | undefined;
  #hasRows = false;
  /** Tables that an application has created again since a plan was saved, and ever. */
  #recreated = new Set<string>();
  #everRecreated = new Set<string>();

  constructor(seed: number, scene: Scene) {
    this.#chance = chanceOf(seed);
    this.#scene = scene;
    if (this.#chance.happens(0.4)) this.#only = aKind(this.#chance);
  }

  async run(): Promise<void> {
    const chance = this.#chance;
    const tables = chance.happens(0.3) ? ["t", "u"] : ["t"];
    this.#pending = [
      aMigration(
        ++this.#number,
        tables.map((table) => tableStep(chance, table)),
      ),
    ];
    await this.#up();
    await this.#write();
    if (chance.happens(0.7)) {
      // What failed before stays pending.
      this.#pending.push(aMigration(++this.#number, tables.map(indexStep)));
      await this.#up();
    }
    for (let runs = 3 + chance.below(4); runs > 0 && !this.#isOver; runs--) {
      await this.#write();
      if (this.#isOver) break;
      const top = this.#applied.at(-1);
      const mayGoDown = top !== undefined && this.#applied.length > 1;
      if (mayGoDown && chance.happens(0.45)) await this.#down();
      else await this.#up();
    }
    this.#scene.note("histories");
  }

  /** Writes between the runs. */
  async #write(): Promise<void> {
    const count = this.#hasRows && this.#chance.happens(0.4) ? 0 : 1 + this.#chance.below(6);
    const writes = await this.#scene.application.write(count, keysOf(this.#state()), this.#mood());
    this.#scene.noteWrites(writes, "between");
    const found = await this.#read("after writes between runs");
    const judgement = judge(this.#state(), [], writes, 0, found);
    if (judgement.problems.length > 0) throw violation("writes between runs were lost", judgement.problems);
    this.#known = judgement.known;
    for (const write of writes) this.#mark(write);
  }

  async #up(): Promise<void> {
    const chance = this.#chance;
    if (this.#pending.length === 0 || chance.happens(0.3)) this.#draw();
    if (this.#pending.length === 0) return;
    const options = this.#options();
    const classes = await promisedClasses(options);
    const stages = this.#stagesUp();
    if (stages === undefined) return;
    const saved = chance.happens(0.15) ? await savePlan(options).catch(() => undefined) : undefined;
    this.#recreated.clear();
    if (saved !== undefined && chance.happens(0.5)) {
      await this.#write();
      if (this.#isOver) return;
      this.#scene.trace("  (a plan was saved before these writes)");
    }
    this.#scene.trace(
      `up${saved === undefined ? "" : " with a saved plan"}: ${this.#pending.map(wordsOfMigration).join(" | ")}`,
    );
    const isStale = this.#touchesRecreated(stages);
    const outcome = await this.#during(stages, (more) => up({ ...options, ...more }, saved && { plan: saved }));
    const { error, writes } = outcome;
    this.#scene.note(`up: ${error?.code ?? "done"}`);
    if (this.#isOver) return;
    if (error === undefined && saved !== undefined && isStale)
      throw violation("a saved plan was carried out on a table that had been created again");
    const found = await this.#read("after up");
    const done = this.#settle(outcome, found, stages, await recordedEnd(stages, this.#applied, options));
    if (done === undefined) return;
    this.#applied = advanced(this.#applied, this.#pending, stages.slice(0, done), classes, error === undefined);
    this.#pending = this.#pending.filter(({ version }) => {
      const one = this.#applied.find(({ migration }) => migration.version === version);
      return one === undefined || one.ran.length < one.total;
    });
    // What can't work would be refused for ever.
    if (error?.outcome === "refused")
      this.#pending = this.#pending.filter(({ version }) =>
        this.#applied.some((one) => one.migration.version === version),
      );
    for (const write of writes) this.#mark(write, new Set(stages.slice(0, done).map(({ version }) => version)));
    if (error === undefined) await this.#verify(options);
  }

  #touchesRecreated(stages: readonly UpStage[]): boolean {
    const touched = new Set(stages.flatMap(({ ran }) => (ran === undefined ? [] : tablesOfAction(ran.action))));
    return [...this.#recreated].some((table) => touched.has(table));
  }

  async #down(): Promise<void> {
    const chance = this.#chance;
    const most = this.#applied.length - 1;
    const steps = Math.min(most, chance.pick([1, 1, 1, 2]));
    const consent: DownChoice = chance.pick([{}, {}, { accept: ["lossy"] }, { reinsert: true }]);
    const choice: DownChoice = { ...consent, steps };
    const options = this.#options();
    const isSaved = chance.happens(0.15);
    const saved = isSaved ? await savePlanDown(options, choice).catch(() => undefined) : undefined;
    if (isSaved && saved === undefined) return;
    if (saved !== undefined && chance.happens(0.5)) await this.#write();
    if (this.#isOver) return;
    const back = this.#applied.slice(-steps).toReversed();
    const stagesOf = (mayLose: boolean) => back.flatMap((one) => stagesDown(one, this.#world, mayLose));
    const words = Object.keys(consent).join("") || "no consent";
    this.#scene.trace(`down ${steps}, ${words}${saved === undefined ? "" : ", with a saved plan"}`);
    const outcome = await this.#during(stagesOf(false), (more) =>
      down({ ...options, ...more }, saved === undefined ? choice : { plan: saved }),
    );
    const { error } = outcome;
    const classes = [...new Set(back.flatMap((one) => [...one.classes]))].toSorted().join("+");
    const written = back.some((one) => one.isWrittenSince) ? "written since" : "not written since";
    this.#scene.note(`down, ${classes}, ${written}, ${words}: ${error?.code ?? "done"}`);
    if (this.#isOver) return;
    // A version of the new table is restored, which may be from before anything that it holds.
    const isSaid = outcome.accepted.some((words) => words.includes("recreated"));
    if (error === undefined && isSaid && back.some((one) => one.isRecreatedSince)) {
      this.#isOver = true;
      return;
    }
    if (error?.outcome === "refused" && error.code !== "ERR_PLAN_STALE") {
      const broken = checkRefusal(error, back, consent);
      if (broken !== undefined && outcome.writes.length === 0) throw violation(broken);
    }
    // Rows that are reinserted lose the values of columns that the migration added.
    const isTold = outcome.accepted.some((words) => words.includes("without what they have in"));
    const losing = { stages: stagesOf(true), isAccepted: acceptsLoss(consent) || isTold };
    const done = this.#settle(outcome, await this.#read("after down"), stagesOf(false), 0, losing);
    if (done === undefined) return;
    if (error === undefined) {
      this.#applied = this.#applied.slice(0, -steps);
      // Some are applied again, and some are gone with their branch.
      this.#pending = chance.happens(0.5)
        ? []
        : [...back.map(({ migration }) => migration).toReversed(), ...this.#pending];
    } else if (done > 0 || (await this.#isPartlyBack(options))) this.#isOver = true;
    for (const write of outcome.writes) this.#mark(write);
    if (error === undefined) await this.#verify(this.#options());
  }

  /** Whether the ledger says so: rolling back an index is nothing that columns and rows tell. */
  async #isPartlyBack(options: MigratorOptions): Promise<boolean> {
    const { applied, reverting } = await status(options);
    return (
      reverting.length > 0 || applied.length < this.#applied.filter(({ ran, total }) => ran.length === total).length
    );
  }

  /** A run with writes beside it, more of them whenever it says something. */
  async #during(
    stages: readonly Stage[],
    run: (more: Pick<MigratorOptions, "emit">) => Promise<unknown>,
  ): Promise<Outcome> {
    const { application } = this.#scene;
    const chance = this.#chance;
    const isBeside = chance.happens(0.7) && !dropsTables(this.#world, stages);
    const accepted: string[] = [];
    if (isBeside) await application.start(keysOf(this.#state()), this.#mood());
    const emit: MigratorOptions["emit"] = (event) => {
      if (event.event === "accepted") accepted.push(event.words);
      if (event.event === "action") this.#scene.trace(`    ${event.text}`);
      if (event.event === "retried") this.#scene.trace(`    retried: ${event.reason}`);
      if (isBeside && chance.happens(0.5)) void application.burst();
    };
    const error = await outcomeOf(() => run({ emit }));
    const writes = isBeside ? await application.stop() : [];
    this.#scene.noteWrites(writes, "during");
    // The table is dropped, or half of it: the engine fails to drop one for which somebody writes a file.
    const isHalf = ({ kind, isAcknowledged, problem }: Write) =>
      kind === "recreate" && !isAcknowledged && problem !== `Error: ${notNow}`;
    if (writes.some(isHalf)) this.#isOver = true;
    // The run says which table may be unreadable, and how its rows come back.
    if (error?.code === "ERR_TABLE_RECREATED" && error.message.includes("may be unreadable")) this.#isOver = true;
    if (error !== undefined) this.#scene.trace(`  ${error.code}: ${error.message}`);
    return { error, writes, accepted };
  }

  /** How many of the stages were done; undefined where the history ends here. */
  #settle(
    outcome: Outcome,
    found: ReadonlyMap<string, Found>,
    stages: readonly Stage[],
    recorded: number,
    losing?: Losing,
  ): number | undefined {
    const settled = settle(outcome, this.#state(), found, stages, recorded, losing);
    for (const what of settled.notes) this.#scene.note(what);
    if (settled.isOver) this.#isOver = true;
    if (settled.known === undefined) return undefined;
    this.#world = (settled.done === 0 ? undefined : stages[settled.done - 1]?.world) ?? this.#world;
    this.#known = settled.known;
    return settled.done;
  }

  /** Undefined where what is pending can't follow what has become of the tables. */
  #stagesUp(): readonly UpStage[] | undefined {
    const stages: UpStage[] = [];
    try {
      for (const migration of this.#pending) {
        const done = this.#applied.find((one) => one.migration.version === migration.version)?.ran.length ?? 0;
        stages.push(...stagesUp(migration, done, stages.at(-1)?.world ?? this.#world));
      }
      return stages;
    } catch (error) {
      if (!isMigrateError(error)) throw error;
      this.#isOver = true;
      return undefined;
    }
  }

  #draw(): void {
    const { capabilities } = this.#scene.target;
    const able: Able = ({ kind }) => capabilities.actions[kind] === true;
    let world = this.#world;
    for (const stage of this.#stagesUp() ?? []) world = stage.world;
    for (let count = this.#chance.pick([1, 1, 2]); count > 0; count--) {
      const drawn = drawMigration(this.#chance, world, this.#number + 1, able);
      if (drawn === undefined) return;
      this.#number++;
      this.#pending.push(drawn.migration);
      world = drawn.after;
    }
  }

  #options(): MigratorOptions {
    const files = [
      ...this.#applied.map(({ migration }) => migration),
      ...this.#pending.filter((one) => this.#applied.every(({ migration }) => migration !== one)),
    ].toSorted((one, other) => one.version - other.version);
    const load = async (file: { version: number }) => files.find(({ version }) => version === file.version)!;
    return {
      target: this.#scene.target,
      ledger: "_migrations",
      migrations: { list: () => files, load },
      computing: embed.computing,
      lease: { duration: 30_000, patience: 60_000 },
    };
  }

  async #verify(options: MigratorOptions): Promise<void> {
    const { differences } = await verifyTables(options);
    // An application that creates a table again does not think of its indexes.
    const unexpected = differences.filter(({ table }) => !this.#everRecreated.has(table));
    if (unexpected.length > 0) throw violation(`verify finds ${JSON.stringify(differences)}`);
  }

  async #read(when: string): Promise<ReadonlyMap<string, Found>> {
    try {
      return await readAll(this.#scene.folder);
    } catch (error) {
      throw violation(`${when}: ${(error as Error).message}`);
    }
  }

  #state() {
    return { world: this.#world, known: this.#known, migrations: this.#applied.length };
  }

  /** `beside`: the versions of the migrations that ran meanwhile. */
  #mark({ kind, table }: Write, beside: ReadonlySet<number> = new Set()): void {
    if (kind === "recreate") for (const tables of [this.#recreated, this.#everRecreated]) tables.add(table);
    this.#applied = this.#applied.map((one) => writtenSince(one, kind, beside.has(one.migration.version)));
  }

  #mood(): Mood {
    // First there have to be rows, which the others then change.
    const isFirst = !this.#hasRows;
    this.#hasRows = true;
    const some = this.#only ?? (this.#chance.happens(0.3) ? aKind(this.#chance) : undefined);
    return moodOf(this.#chance, isFirst ? undefined : some);
  }
}
