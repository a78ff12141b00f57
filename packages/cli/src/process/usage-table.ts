/** A report of usage as a table with a bar for each row, as wide as the terminal. Pure. */
import type { UsageAmounts, UsageReport, UsageReportData } from "@tau/protocol";
import { describeUsageLimit, getUsageBars, type UsageFigure, usageTables } from "@tau/protocol/surface";
import { type Column, displayWidth, type TableIo, tableText, terminalWidth } from "./table.ts";
import { isDumb } from "./terminal-text.ts";

const minBarWidth = 8;
const maxBarWidth = 40;
/** Names are cut before there is no room for bars. */
const maxNameWidth = 32;
const gap = 2;

export function formatStats(report: UsageReport, io: TableIo): string {
  const { rows, total } = report;
  const { unnamed, figures, addsUp, ...table } = usageTables[report.by];
  const title = table.title.toUpperCase();
  const names = rows.map(({ name }) => (name === "" ? unnamed : name));
  const nameWidth = ["TOTAL", title, ...names].reduce((width, name) => Math.max(width, displayWidth(name)), 0);
  const shownWidth = Math.min(maxNameWidth, nameWidth);
  const amounts = [...rows, total];
  const shown = takeFitting(figures, amounts, terminalWidth(io) - shownWidth);
  const cells = amounts.map((row) => shown.map(({ format }) => format(row)));
  const barWidth = Math.min(maxBarWidth, terminalWidth(io) - shownWidth - getWidth(shown, amounts) - gap);
  // Without a terminal there is no width to fill, and another program may read the table.
  const hasBars = io.terminal.out && barWidth >= minBarWidth;
  const bars = getUsageBars(report).map((part) => formatBar(part, barWidth, isDumb(io.env)));
  const head: Column[] = [
    { title, shrinks: true },
    ...(hasBars ? [{ title: "" }] : []),
    ...shown.map((figure) => ({ title: figure.title.toUpperCase(), align: "right" as const })),
  ];
  const body = rows.map((_row, index) => [names[index]!, ...(hasBars ? [bars[index]!] : []), ...cells[index]!]);
  const sum = ["TOTAL", ...(hasBars ? [""] : []), ...cells.at(-1)!];
  return tableText(head, rows.length > 1 && addsUp ? [...body, sum] : body, io);
}

/** A line for each limit that is set. */
export const formatLimits = ({ limits }: Pick<UsageReportData, "limits">): string =>
  limits.map((limit) => `${describeUsageLimit(limit)}\n`).join("");

/** Leaves out the last figures where there is no room for all; the first always stays. */
function takeFitting(
  list: readonly UsageFigure[],
  rows: readonly UsageAmounts[],
  width: number,
): readonly UsageFigure[] {
  return list.length > 1 && getWidth(list, rows) > width ? takeFitting(list.slice(0, -1), rows, width) : list;
}

const getWidth = (list: readonly UsageFigure[], rows: readonly UsageAmounts[]): number =>
  list.reduce(
    (sum, { title, format }) => sum + gap + rows.reduce((max, row) => Math.max(max, format(row).length), title.length),
    0,
  );

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws at least the thinnest bar unless there is nothing. */
function formatBar(part: number, width: number, isPlain: boolean): string {
  if (part <= 0 || width <= 0) return "";
  if (isPlain) return "#".repeat(Math.max(1, Math.round(part * width)));
  const count = Math.max(1, Math.round(part * width * 8));
  return "█".repeat(Math.floor(count / 8)) + eighths[count % 8]!;
}
