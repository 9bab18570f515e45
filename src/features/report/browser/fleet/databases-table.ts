/** The table of the databases: sorted by a column, and with those that the filter and the search leave. */
import { count, formatNumber } from "../../../../errors/entry.ts";
import type { FleetDatabase } from "../../report-document.ts";
import { standingOf } from "../../standing.ts";
import { html } from "../dom.ts";
import { hasAll } from "../search.ts";
import { tableColumns, textOf, type TableColumn } from "./table-columns.ts";

/** How many rows are shown at first, and how many more at a time: to show 10,000 at once would take seconds. */
const first = 200;
const step = 1_000;

interface Row {
  readonly database: FleetDatabase;
  readonly text: string;
  readonly isPending: boolean;
  readonly isInTrouble: boolean;
  /** Built when it is first shown. */
  element?: HTMLElement;
}

const filters: readonly (readonly [label: string, holds: (row: Row) => boolean])[] = [
  ["all", () => true],
  ["with pending migrations", ({ isPending }) => isPending],
  ["with problems or unreadable", ({ isInTrouble }) => isInTrouble],
];

export function databasesTable(databases: readonly FleetDatabase[]) {
  let rows: readonly Row[] = databases.map(rowOf);
  let left = rows;
  const body = html("tbody");
  const more = html("button", { type: "button", class: "more" });
  const filter = filterOf();

  let shown = 0;
  const showUntil = (end: number) => {
    body.append(...left.slice(shown, end).map(elementOf));
    shown = Math.min(end, left.length);
    more.hidden = shown === left.length;
    more.textContent = `Show ${formatNumber(Math.min(step, left.length - shown))} more of ${count(left.length, "database")}`;
  };
  const render = (most: number) => {
    body.replaceChildren();
    shown = 0;
    showUntil(most);
  };
  const headings = headingsOf((column, isDescending) => {
    rows = sorted(rows, column, isDescending);
    const stays = new Set(left);
    left = rows.filter((row) => stays.has(row));
    render(first);
  });
  more.addEventListener("click", () => {
    const next = shown;
    showUntil(shown + step);
    const name = left[next]!.element!.querySelector("th")!;
    name.tabIndex = -1;
    name.focus({ preventScroll: true });
  });
  addEventListener("beforeprint", () => render(Infinity));
  addEventListener("afterprint", () => render(first));
  render(first);

  const head = html("thead", {}, html("tr", {}, ...headings));
  return {
    element: html("table", { "aria-labelledby": "databases-title" }, head, body),
    /** Shows more rows. */
    more,
    /** A change of it takes effect with the next search. */
    filter,
    search(words: readonly string[]): string {
      const [, holds] = filters[Number(filter.querySelector<HTMLInputElement>(":checked")!.value)]!;
      left = rows.filter((row) => holds(row) && hasAll(row.text, words));
      render(first);
      if (left.length === rows.length) return "";
      return left.length === 0 ? "nothing found" : count(left.length, "database");
    },
  };
}

function rowOf(database: FleetDatabase): Row {
  const { isPending, hasProblems, isUnread } = standingOf(database);
  return { database, text: textOf(database), isPending, isInTrouble: hasProblems || isUnread };
}

function elementOf(row: Row): HTMLElement {
  const [name, ...others] = tableColumns;
  return (row.element ??= html(
    "tr",
    {},
    html("th", { scope: "row" }, name!.cell(row.database)),
    // A phone shows the heading in each cell.
    ...others.map(({ heading, cell }) => html("td", { "data-heading": heading }, cell(row.database))),
  ));
}

function filterOf(): HTMLElement {
  const choices = filters.map(([label], value) =>
    html(
      "label",
      {},
      html("input", { type: "radio", name: "filter", value, checked: value === 0 ? true : undefined }),
      label,
    ),
  );
  return html("fieldset", { class: "filter" }, html("legend", { class: "unseen" }, "Databases to show"), ...choices);
}

/** The headings, with buttons. The table is in the order of the configuration until one is used. */
function headingsOf(sort: (column: TableColumn, isDescending: boolean) => void): readonly HTMLElement[] {
  const headings = tableColumns.map((column) => {
    const button = html("button", { type: "button" }, column.heading);
    const heading = html("th", { scope: "col" }, button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const isDescending = before === null ? column.isDescending : before === "ascending";
      for (const one of headings) one.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
      sort(column, isDescending);
    });
    return heading;
  });
  return headings;
}

const { compare } = new Intl.Collator("en", { numeric: true });

function sorted(rows: readonly Row[], { key }: TableColumn, isDescending: boolean): readonly Row[] {
  const keyed = rows.map((row) => ({ row, key: key(row.database) }));
  return keyed
    .toSorted(({ key: one }, { key: other }) => {
      if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
      const order = typeof one === "number" ? one - Number(other) : compare(one, String(other));
      return isDescending ? -order : order;
    })
    .map(({ row }) => row);
}
