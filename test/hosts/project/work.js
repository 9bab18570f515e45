/**
 * What an application does with the package, in any host. The runner writes it into files of each module system, between
 * imports of the package and what the host needs to call it; so it imports nothing itself.
 */
/* oxlint-disable no-unused-vars */

/** Paths are those of the project, wherever a host runs the code. */
const { PROJECT: project, TABLES: tables, BUNDLED: bundled } = process.env;

/** Applies two migrations while it hears of it, rolls one back, is stopped, and learns of an error. */
async function program({ createMigrator, openMigrator, isMigrateError }) {
  const config = (uri) => ({ targets: { local: { kind: "lance", uri } } });
  const from = (name) => (bundled ? { bundle: `${project}/${name}.json` } : {});
  const code = async (work) => {
    try {
      await work();
      return "no error";
    } catch (error) {
      return isMigrateError(error) ? error.code : `not ours: ${error.stack}`;
    }
  };
  const events = [];
  const stopping = new AbortController();
  const emit = ({ event }) => events.push(event);
  const given = { ...from("migrations"), folder: project, emit, signal: stopping.signal };
  const migrator = await createMigrator(config(tables), given);
  equal((await migrator.up()).applied, 2);
  equal(events.length > 0, true);
  await migrator.down();
  equal((await migrator.status()).pending.length, 1);
  stopping.abort();
  equal(await code(() => migrator.up()), "ERR_INTERRUPTED");
  await migrator.close();

  const wrong = await createMigrator(
    { ...config(`${tables}-impossible`), migrations: "impossible" },
    { ...from("impossible"), folder: project },
  );
  equal(await code(() => wrong.up()), "ERR_STEP_IMPOSSIBLE");
  await wrong.close();

  if (bundled) return;
  const configured = await openMigrator({ folder: project });
  equal((await configured.up()).total, 2);
  await configured.close();
}

/** Gets two databases for tests. */
async function testing({ migratedDatabase }) {
  for (const cache of [false, true]) {
    const database = await migratedDatabase({ folder: project, cache });
    equal(database.uri.includes("lance-migrate-test-"), true);
    await database.drop();
  }
}

function equal(found, wanted) {
  if (found !== wanted) throw new Error(`found ${found} instead of ${wanted}`);
}

/** Writes the outcome where the runner finds it. */
async function report(work) {
  let result = "works";
  try {
    await work();
  } catch (error) {
    result = error.message;
  }
  process.getBuiltinModule("node:fs").writeFileSync(process.env.RESULT, result);
}
