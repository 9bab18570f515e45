/** Builds the page of `migrate report --fleet` from the document in it. */
import { count, formatNumber } from "../../../../errors/entry.ts";
import type { FleetDocument } from "../../report-document.ts";
import { countOf, type Standing } from "../../standing.ts";
import { html } from "../dom.ts";
import { fillHeader, section, tile, type Tone } from "../parts.ts";
import { searchBox } from "../search.ts";
import { minuteOf } from "../words.ts";
import { databasesTable } from "./databases-table.ts";
import { lastMigrations } from "./last-migrations.ts";

const fleet = JSON.parse(document.getElementById("data")!.textContent) as FleetDocument;
const { databases } = fleet;

function standingTile(tone: Tone, name: string, what: keyof Standing, meaning: string): HTMLElement {
  const number = countOf(databases, what);
  return tile(number === 0 ? "plain" : tone, name, formatNumber(number), meaning);
}

const facts = [
  tile("plain", "Databases", formatNumber(databases.length), "in the configuration"),
  standingTile("good", "Up to date", "isUpToDate", "nothing is pending"),
  standingTile("warn", "Pending", "isPending", "migrate up has something to run"),
  standingTile("bad", "With problems", "hasProblems", "migrate up refuses, or did not finish"),
  standingTile("bad", "Unreadable", "isUnread", "their state is unknown"),
];
const table = databasesTable(databases);
const main = document.querySelector("main")!;
main.replaceChildren(
  html("section", { id: "state", "aria-label": "State" }, html("dl", { class: "state" }, ...facts)),
  section(
    "progress",
    "How far they are",
    "How many databases there are for each migration that ran last.",
    ...lastMigrations(databases),
  ),
  section(
    "databases",
    "Databases",
    "The headings sort the table. All times are UTC.",
    table.filter,
    table.element,
    table.more,
  ),
);

const { form, run } = searchBox("Search names, problems, migrations and people", table.search);
table.filter.addEventListener("change", run);

fillHeader(
  fleet.target,
  `${count(databases.length, "database")} at ${minuteOf(fleet.madeAt)} UTC, by ${fleet.tool}`,
  form,
);
