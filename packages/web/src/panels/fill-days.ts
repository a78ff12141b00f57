import { noUsage, type UsageReportData, type UsageRow } from "@tau/protocol";

const dayMs = 86_400_000;
/** A chart with more bars could not be read. */
const maxDays = 400;

/** A row for each day from the first of the report to the last that was used, also for days without any use. Pure. */
export function fillDays({ since, rows }: Pick<UsageReportData, "since" | "rows">): UsageRow[] {
  const last = rows.at(-1)?.name ?? since;
  const byDay = new Map(rows.map((row) => [row.name, row]));
  const [startMs, endMs] = [Date.parse(since), Date.parse(last)];
  const count = Math.min(maxDays, Math.floor((endMs - startMs) / dayMs) + 1);
  return Array.from({ length: count }, (_none, index) => {
    const name = new Date(endMs - (count - 1 - index) * dayMs).toISOString().slice(0, "2026-03-01".length);
    return byDay.get(name) ?? { name, ...noUsage };
  });
}
