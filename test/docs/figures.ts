/**
 * The figures of the documentation that the code or a test decides, each in the words around it: a page must contain them. A
 * figure that was measured is not here: the section around it states when, and with which command (figures.test.ts).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSeconds } from "../../src/session/config.ts";
import { patience, pauseAfter, type Patience } from "../../src/targets/contract/retry.ts";
import { root } from "../support/project.ts";
import { forEachCommit, plantedBugs } from "../simulate/planted.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");

/** The number that is written in a source: that of a constant, or what a pattern finds. */
function numberIn(file: string, what: string | RegExp): number {
  const pattern = typeof what === "string" ? new RegExp(`\\b${what}\\b[^=\\n]*= ([^;\\n]+);`) : what;
  const found = pattern.exec(read(file))?.[1]?.replaceAll("_", "").trim();
  if (found === undefined || !/^[\d.]+( (\*\*?) [\d.]+)*$/.test(found))
    throw new Error(`test/docs/figures.ts looks for a number in ${file} with ${String(pattern)}, and finds ${found}`);
  // oxlint-disable-next-line no-eval -- of an expression of numbers
  return eval(found) as number;
}

/** What a test does for each commit, and what it does with MIGRATE_LONG=1. */
function roundsIn(file: string, name: string): readonly [few: string, all: string] {
  const given = (before: string) => numberIn(file, new RegExp(`\\b${name}\\b.*rounds\\(${before}([\\d_]+)`));
  return [number(given("")), number(given("[\\d_]+, "))];
}

const number = (value: number) => value.toLocaleString("en-US");
const seconds = (milliseconds: number) => number(milliseconds / 1000);
const mebibytes = (bytes: number) => `${number(bytes / 2 ** 20)} MiB`;
/** Pauses are varied by a quarter. */
const longest = ({ longest }: Patience) => (1.25 * longest) / 1000;
const pausesOf = (allowed: Patience) =>
  Array.from({ length: allowed.tries - 1 }, (_, index) => pauseAfter(index + 1, allowed)).reduce(
    (sum, one) => sum + one,
  );

const lance = "src/targets/lance/lance.ts";
const http = "src/features/rest/http/http.ts";
const pages = "src/features/embed/compute/found-rows.ts";
const app = "src/features/serve/app.ts";
const traffic = "src/features/serve/traffic.ts";
const route = "src/features/serve/routes/route.ts";
const connections = "src/features/serve/connections.ts";
const lease = `${defaultSeconds.lease}`;
const reading = numberIn(lance, /answerSeconds = (\d+)/);
const asked = numberIn("src/features/rest/http/http-errors.ts", /, 0\), ([\d_]+)\)/);
const body = numberIn("src/features/serve/start-service.ts", /bodyLimit: (.+),/);
const inAll = numberIn(traffic, /mostInAll = ([\d_]+)/);
const perAddress = numberIn(connections, /Math\.min\(([\d_]+), Math\.max/) / 2;
const markerName = numberIn("src/ledger/journal/marker-name.ts", "longestMarker");
const ledgerName = numberIn("src/session/load-config.ts", /at most (\d+) characters/);

/** Of the table of the crash matrix, which the command has printed. */
const kills = [...read("docs/internals/faults.md").matchAll(/\| (\d+) of (\d+)/g)].map(([, converged, killed]) => {
  if (converged !== killed)
    throw new Error(`docs/internals/faults.md has a kill that did not converge: ${converged} of ${killed}`);
  return Number(killed);
});
const allKills = number(kills.reduce((sum, one) => sum + one));

const scene = roundsIn("test/fault/scene.ts", "rowsInEach").map((rows) =>
  number(Number(rows.replaceAll(",", "")) * numberIn("test/fault/scene.ts", "fragments")),
);
const kill = roundsIn("test/fault/kill.test.ts", "kills");
const killDown = roundsIn("test/fault/kill-down.test.ts", "kills");
const killDownRows = roundsIn("test/fault/kill-down.test.ts", "rows");
const backfillKills = roundsIn("test/fault/backfill.test.ts", "kills");
const reembedKills = roundsIn("test/fault/reembed.test.ts", "kills");
const served = roundsIn("test/fault/backfill-served.test.ts", "time");
const appenders = roundsIn("test/fault/writers.test.ts", "appenders");
const crowd = "test/fault/crowd.test.ts";
const [runs, swaps, crowdKills] = ["usual", "migrations", "kills"].map((name) => roundsIn(crowd, name!));
const generated = roundsIn("test/sequences/generate.test.ts", "pairs");
const branches = roundsIn("test/unit/features/author/branch/rebase-steps.test.ts", "pairs");
const simulated = roundsIn("test/simulate/simulate.test.ts", "schedules");
const found = numberIn("test/simulate/planted.test.ts", "schedules");

export const figures: Readonly<Record<string, readonly string[]>> = {
  "README.md": [`killed real runs ${allKills} times`],
  "docs/backfill.md": [
    `in which the column is null: at most ${number(numberIn(pages, "mostPageRows"))} rows or about ${mebibytes(numberIn(pages, "pageBytes"))} of data`,
    `(vectors and numbers within ${numberIn("src/features/embed/calls/edited-code.ts", "tolerance") * 100} %)`,
    `with at most ${mebibytes((2 * numberIn("src/features/embed/preflight/find-repeated.ts", "mostBits")) / 8)} of memory`,
    `the lease of the dead run has expired (${lease} seconds by default)`,
    `A merge sends a page, of up to about ${mebibytes(numberIn(pages, "pageBytes"))} of data`,
    `\`migrate serve\` accepts bodies of ${mebibytes(body)}`,
    `up to ${patience.unanswered.tries} times within about ${seconds(pausesOf(patience.unanswered))} seconds`,
    `up to ${patience.code.tries} attempts in all`,
    `if the first ${numberIn("src/features/embed/compute/compute-all.ts", "mostFailed")} rows that it computes all fail`,
  ],
  "docs/cli.md": [`first after ${seconds(numberIn("src/cli/render/progress.ts", "firstPause"))} s`],
  "docs/embedding-model.md": [
    `a page of about ${mebibytes(numberIn(pages, "pageBytes"))} at a time`,
    `On tables of up to ${number(numberIn("src/features/embed/recall/compare-neighbours.ts", "mostRows"))} rows, \`prepare\` also reports`,
  ],
  "docs/populate.md": [
    `at most ${number(numberIn("src/features/embed/populate/find-sources.ts", "mostKnown"))} rows of \`from\` at a time`,
  ],
  "docs/internals/engine.md": [
    `limits each of the two caches to ${mebibytes(numberIn("src/engine/engine.ts", "mostCacheBytes"))}`,
  ],
  "docs/internals/faults.md": [
    `over ${scene[0]} rows is killed at ${kill[0]} random moments, or over ${scene[1]} rows at ${kill[1]} |`,
    `and ${killDownRows[0]} rows is killed at ${killDown[0]} random moments, or over ${killDownRows[1]} rows at ${killDown[1]} |`,
    `after every ${roundsIn("test/fault/down-crash.test.ts", "every")[0]}th of its calls`,
    `is killed at ${backfillKills[0]} random moments, or ${backfillKills[1]}, while`,
    `at least ${reembedKills[0]} times, or ${reembedKills[1]}, in all`,
    `started again ${served[0]} times, or ${served[1]} |`,
    `every ${roundsIn("test/fault/lost-answers.test.ts", "every")[0]}th answer in turn`,
    `| ${appenders[0]} processes append, or ${appenders[1]} without pause`,
    `All ${allKills} kills converged`,
    `at every ${roundsIn("test/fault/crash-matrix.test.ts", "every")[0]}nd call`,
    `with ${appenders[0]} processes that pause`,
    `runs ${roundsIn("test/fault/writers.test.ts", "times")[1]} with ${appenders[1]} that do not`,
    `runs ${number(numberIn("test/histories/run.ts", /histories: .*default: "(\d+)"/))} random histories`,
    `starts ${runs![0]} runs of ${swaps![0]} migrations in the dialect \`namespace\` and kills ${crowdKills![0]} holder.`,
    `starts ${runs![1]} of ${swaps![1]} migrations in each dialect and kills ${crowdKills![1]}.`,
    `sends ${number(numberIn("test/fuzz/run.ts", /requests: .*default: "(\d+)"/))} drawn requests`,
    `\`test/fuzz\` sends ${roundsIn("test/fuzz/fuzz.test.ts", "requests")[0]}.`,
    `It runs ${numberIn("test/fault/store-race.ts", /rounds: .*default: "(\d+)"/)} races of ${numberIn("test/fault/store-race.ts", /runners: .*default: "(\d+)"/)} first runs`,
    `generates ${generated[0]} random pairs of schemas, or ${generated[1]} with`,
    `generates ${branches[0]} random pairs of branches, or ${branches[1]} with`,
    `\`leaseSeconds\` is ${lease} unless`,
  ],
  "docs/kubernetes.md": [`once the lease has expired: after ${lease} seconds`],
  "docs/internals/ledger.md": [
    `A marker's name may have at most ${markerName} characters, so the ledger's own name may have at most ${ledgerName}`,
  ],
  "docs/limits.md": [
    `loaded and wait for something | ${numberIn("src/migrations/source.ts", /`loadSeconds`: .*; (\d+) when absent/)} s |`,
    `| another run that is working | ${defaultSeconds.wait} s |`,
    `the longer of the two runs' leases, ${lease} s by default`,
    `including name lookup and TLS | ${numberIn("src/features/rest/options/options.ts", /connectSeconds \?\? (\d+)/)} s |`,
    `which is sent only once | ${numberIn("src/features/rest/options/options.ts", /answerSeconds \?\? (\d+)/)} s |`,
    `that reads | ${seconds(numberIn(http, "longestRead"))} s or \`answerSeconds\`, whichever is less; ${patience.request.tries} tries, ` +
      `with pauses of ${(0.75 * patience.request.first) / 1000} s and more, or what \`Retry-After\` asks for, up to ${seconds(asked)} s |`,
    `| a list in pages | ${number(numberIn("src/features/rest/client.ts", "mostPages"))} pages, each with the limit of a read; ${numberIn("src/features/rest/client.ts", "mostIdlePages")} pages in a row`,
    `| a read from an object store | ${reading} s per read |`,
    `| ${patience.conflict.tries} tries, pauses up to ${seconds(patience.conflict.longest)} s. For a retype`,
    `${patience.detour.tries} tries, and ${patience.hurried.tries} with pauses up to ${seconds(patience.hurried.longest)} s while`,
    `an action whose answer was lost | ${patience.unanswered.tries} tries, pauses of ${seconds(patience.unanswered.first)} to ${seconds(patience.unanswered.longest)} s, or what the service asks for, up to ${seconds(asked)} s |`,
    `a service whose answer was lost | ${patience.unanswered.tries} tries, pauses of ${seconds(patience.unanswered.first)} to ${seconds(patience.unanswered.longest)} s |`,
    `a ledger record whose answer was lost | ${patience.repeatable.tries} tries, pauses up to ${longest(patience.repeatable)} s |`,
    `a request that arrives | ${seconds(numberIn("src/features/serve/start-service.ts", /requestTimeout: ([\d_]+),/))} s |`,
    `first come, first served; ${patience.served.tries} tries, or ${seconds(numberIn("src/features/serve/tables/open-tables.ts", "longestTime"))} s of them, with pauses up to ${longest(patience.served).toFixed(2)} s,`,
    `requests in flight when it ends | ${seconds(numberIn("src/features/serve/start-service.ts", "longestClose"))} s |`,
    `| ${mebibytes(numberIn(http, "largestAnswer"))} of rows, ${mebibytes(numberIn("src/features/rest/rows.ts", "largestRead"))} for a page of \`backfillColumn\`; otherwise ${mebibytes(numberIn(http, "largestText"))}, ` +
      `for JSON with at most ${numberIn(http, /levels: (\d+)/)} levels and ${number(numberIn(http, /values: ([\d_]+)/))} values. Messages show at most ${numberIn("src/features/rest/http/http-errors.ts", "shownOfAnswer")} characters`,
    `| the name of a ledger | ${ledgerName} characters |`,
  ],
  "docs/object-stores.md": [
    `after at most \`answerSeconds\` (${reading} by default)`,
    `is the time for them: ${Number(lease) / 2} s by default`,
  ],
  "docs/plans.md": [
    `It has at most ${numberIn("src/features/markdown/plan-markdown.ts", "mostRows")} rows and ${number(numberIn("test/unit/features/markdown/plan-markdown.test.ts", /toBeLessThan\(([\d_]+)\)/))} characters`,
  ],
  "docs/report.md": [
    `The first ${numberIn("src/features/report/browser/fleet/databases-table.ts", "first")} rows are shown, and a button shows ${number(numberIn("src/features/report/browser/fleet/databases-table.ts", "step"))} more`,
  ],
  "docs/rest.md": [`up to ${patience.staleList.tries} times within ${seconds(pausesOf(patience.staleList))} seconds`],
  "docs/rollback.md": [
    `It compares up to ${number(numberIn("src/engine/versions.ts", /mostCompared: ([\d_]+)/))} rows, or ${number(numberIn("src/features/rest/versions.ts", /mostCompared: ([\d_]+)/))} through a service`,
    `Each table gets ${number(numberIn("src/features/rehearse/rehearse.ts", /rows = ([\d_]+)/))} rows`,
    `as the index needs, up to ${number(numberIn("src/features/rehearse/scratch-copy.ts", "mostForIndexes"))}.`,
  ],
  "docs/runbook.md": [`Heard of within the last lease** (${lease} seconds`],
  "docs/service.md": [
    `Bodies and answers of more than ${numberIn("src/features/serve/work/body.ts", "largestInMemory") / 1024} KiB`,
    `renews the time of its files every ${seconds(numberIn("src/features/serve/work/left-bodies.ts", "usualInterval"))} seconds`,
    `for JSON ${mebibytes(numberIn(app, "jsonLimit"))} and ${numberIn("src/wire/arrow/ipc-messages.ts", "deepest")} levels`,
    `| an answer | ${number(numberIn("src/features/serve/start-service.ts", /answerLimit: (.+),/) / 2 ** 30)} GiB |`,
    `| ${number(numberIn(route, "longestSql"))} characters, and ${numberIn(route, "mostOperators")} operators`,
    `| ${number(numberIn(route, /max\(([\d_]+), "must not be longer/))} characters; a table name ${markerName}; a tag ${numberIn(route, "longestTag")},`,
    `| requests with the key at a time | ${number(inAll)}, from one address ${number(inAll / 2)};`,
    `| requests of a connection without an answer | ${numberIn(traffic, /mostOfConnection = ([\d_]+)/)}; more end the connection, as does reading nothing of an answer for ${seconds(numberIn(traffic, /patience = ([\d_]+)/))} seconds`,
    `| connections | ${number(2 * perAddress)}; from one address ${number(perAddress)}. While more than three quarters of all are taken, ${numberIn(connections, /Math\.min\((\d+), Math\.ceil/)} of an address may wait`,
    `fewer than ${number(2 * perAddress + numberIn(connections, "otherFiles"))} files`,
    `| the head of a request | ${seconds(numberIn(app, "headTimeout"))} seconds |`,
    `merged files of more than ${number(numberIn("src/features/rest/versions.ts", /mostCompared: ([\d_]+)/))} rows`,
  ],
  "docs/internals/simulator.md": [
    `has ${plantedBugs.length} bugs`,
    `plants ${forEachCommit.length} of them`,
    `find it within ${number(found)} schedules`,
    `\`npm test\` runs ${simulated[0]} schedules, and ${simulated[1]} with \`MIGRATE_LONG=1\``,
    `\`npm run nightly\` runs ${number(numberIn("test/parts.ts", /"--schedules", "(\d+)"/))}`,
    `\`npm run simulate\` runs ${number(numberIn("test/simulate/run.ts", /schedules = ([\d_]+),/))};`,
  ],
  "docs/steps.md": ["k", "sample"].map((name) => {
    const most = numberIn("src/steps/define/schemas.ts", new RegExp(`${name}: wholeFrom1\\.max\\(([\\d_]+)`));
    return `${name === "k" ? "how many neighbours each search looks for" : "the number of vectors to search for"}; at most ${number(most)}`;
  }),
  "docs/telemetry.md": [
    `for at most ${seconds(numberIn("src/features/telemetry/send-telemetry.ts", "flushLimit"))} seconds`,
  ],
};

/** What others decide: the engine, or an example. */
export const ofOthers: Readonly<Record<string, readonly string[]>> = {
  // LanceDB 0.39.
  "docs/internals/engine.md": [
    "A value in the lists is 256 bytes or longer",
    "gives up a call after 20 tries or 30 seconds",
    "of every file that it has written, up to 1 GB",
    "It removes versions older than 7 days",
    "255, 256 and 1,000 rows",
  ],
  // The object stores of LanceDB 0.39, and Node's own server.
  "docs/limits.md": ["30 s per request, retried for 180 s", "an idle connection | 72 s"],
  "docs/object-stores.md": ["30 s by default"],
  // pylance 14.0.2.
  "docs/backfill.md": ["what 1,000 rows cost"],
  "docs/rest.md": ["A request body may have at most 2 MiB"],
  "docs/service.md": ["asks for 8 GB"],
};
