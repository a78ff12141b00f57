/** A report of usage as a table with a bar for each row, as wide as the terminal. Pure. */
import type { UsageAmounts, UsageGroup, UsageReport } from "@tau/harness/session";
import { type Column, displayWidth, tableText, terminalWidth } from "../process/table.ts";
import { isDumb } from "../process/terminal-text.ts";
import { formatTokens } from "../process/tokens-text.ts";
import type { Io } from "./command.ts";

interface Figure {
  title: string;
  format: (amounts: UsageAmounts) => string;
}

const figures = {
  cost: { title: "COST", format: ({ cost }) => `$${cost.toFixed(2)}` },
  tokens: { title: "TOKENS", format: (amounts) => formatTokens(getTokens(amounts)) },
  cached: { title: "CACHED", format: formatCached },
  requests: { title: "REQUESTS", format: ({ requests }) => String(requests) },
  calls: { title: "CALLS", format: ({ calls }) => String(calls) },
  errors: { title: "ERRORS", format: ({ errors }) => String(errors) },
  denied: { title: "DENIED", format: ({ denied }) => String(denied) },
  time: { title: "TIME", format: ({ timeMs }) => formatTime(timeMs) },
} satisfies Record<string, Figure>;

const ofModels: readonly Figure[] = [figures.cost, figures.tokens, figures.cached, figures.requests, figures.time];
const ofTools: readonly Figure[] = [figures.calls, figures.errors, figures.denied, figures.time];
const ofAll: readonly Figure[] = [
  figures.cost,
  figures.tokens,
  figures.cached,
  figures.requests,
  figures.calls,
  figures.denied,
  figures.time,
];

const columns: Readonly<Record<UsageGroup, { title: string; unnamed: string; figures: readonly Figure[] }>> = {
  day: { title: "DAY", unnamed: "", figures: ofAll },
  project: { title: "PROJECT", unnamed: "(unknown)", figures: ofAll },
  agent: { title: "AGENT", unnamed: "(none)", figures: ofAll },
  model: { title: "MODEL", unnamed: "(unknown)", figures: ofModels },
  tool: { title: "TOOL", unnamed: "(unknown)", figures: ofTools },
};

const minBarWidth = 8;
const maxBarWidth = 40;
/** Names are cut before there is no room for bars. */
const maxNameWidth = 32;
const gap = 2;

export function formatStats({ by, rows, total }: UsageReport, io: Io): string {
  const { title, unnamed, figures: all } = columns[by];
  const names = rows.map(({ name }) => (name === "" ? unnamed : name));
  const nameWidth = Math.min(maxNameWidth, Math.max(...["TOTAL", title, ...names].map(displayWidth)));
  const amounts = [...rows, total];
  const shown = takeFitting(all, amounts, terminalWidth(io) - nameWidth);
  const cells = amounts.map((row) => shown.map(({ format }) => format(row)));
  const barWidth = Math.min(maxBarWidth, terminalWidth(io) - nameWidth - getWidth(shown, amounts) - gap);
  // Without a terminal there is no width to fill, and another program may read the table.
  const hasBars = io.terminal.out && barWidth >= minBarWidth;
  const lengths = getLengths(rows, by);
  const head: Column[] = [
    { title, shrinks: true },
    ...(hasBars ? [{ title: "" }] : []),
    ...shown.map((figure) => ({ title: figure.title, align: "right" as const })),
  ];
  const body = rows.map((_row, index) => [
    names[index]!,
    ...(hasBars ? [formatBar(lengths[index]!, barWidth, isDumb(io.env))] : []),
    ...cells[index]!,
  ]);
  const sum = ["TOTAL", ...(hasBars ? [""] : []), ...cells.at(-1)!];
  return tableText(head, rows.length > 1 && by !== "tool" && by !== "model" ? [...body, sum] : body, io);
}

/** Leaves out the last figures where there is no room for all; the first always stays. */
function takeFitting(list: readonly Figure[], rows: readonly UsageAmounts[], width: number): readonly Figure[] {
  return list.length > 1 && getWidth(list, rows) > width ? takeFitting(list.slice(0, -1), rows, width) : list;
}

const getWidth = (list: readonly Figure[], rows: readonly UsageAmounts[]): number =>
  list.reduce(
    (sum, { title, format }) => sum + gap + Math.max(title.length, ...rows.map((row) => format(row).length)),
    0,
  );

/** The part of each row in the largest, from 0 to 1: of the cost, or else of the tokens, or else of the calls. */
function getLengths(rows: readonly UsageAmounts[], by: UsageGroup): number[] {
  const measures = by === "tool" ? [getCalls] : [getCost, getTokens, getCalls];
  const measure = measures.find((get) => rows.some((row) => get(row) > 0)) ?? getCalls;
  const largest = Math.max(...rows.map(measure), 0);
  return rows.map((row) => (largest > 0 ? measure(row) / largest : 0));
}

const getCost = ({ cost }: UsageAmounts) => cost;
const getCalls = ({ calls }: UsageAmounts) => calls;
const getTokens = ({ input, output, cacheRead, cacheWrite }: UsageAmounts) => input + output + cacheRead + cacheWrite;

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws at least the thinnest bar unless there is nothing. */
function formatBar(part: number, width: number, isPlain: boolean): string {
  if (part <= 0) return "";
  if (isPlain) return "#".repeat(Math.max(1, Math.round(part * width)));
  const count = Math.max(1, Math.round(part * width * 8));
  return "█".repeat(Math.floor(count / 8)) + eighths[count % 8]!;
}

function formatCached({ input, cacheRead, cacheWrite }: UsageAmounts): string {
  const prompt = input + cacheRead + cacheWrite;
  return prompt > 0 ? `${Math.round((cacheRead / prompt) * 100)}%` : "";
}

/** `45 s`, `12 min`, `3 h 5 min`. */
export function formatTime(timeMs: number): string {
  const minutes = Math.round(timeMs / 60_000);
  if (minutes === 0) return `${Math.round(timeMs / 1_000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}
