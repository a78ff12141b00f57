/** Draws what fills the window as a bar, with a row for each part. Pure. */
import { formatTokens } from "@tau/protocol/surface";
import { toVisibleLine } from "../kit/visible-text.ts";
import { type MeasuredContext, type PartName, partNames } from "./measure-context.ts";

const labels: Readonly<Record<PartName | "free", string>> = {
  system: "System prompt",
  tools: "Tools",
  instructions: "Instructions",
  memory: "Memory",
  messages: "Messages",
  free: "Free",
};

/** The character of each part: they differ without colors too. */
const marks: Readonly<Record<PartName | "free", string>> = {
  system: "▓",
  tools: "▒",
  instructions: "░",
  memory: "◆",
  messages: "█",
  free: "·",
};

/** Fits into a terminal of 40 columns. */
const barWidth = 36;
const labelWidth = Math.max(...Object.values(labels).map(({ length }) => length));
const maxPathLength = 60;

export function formatContext(
  measured: MeasuredContext,
  model: { readonly provider: string; readonly id: string } | undefined,
): string {
  const { parts, files, totalTokens, isCounted, windowTokens } = measured;
  const name = model ? ` of ${model.provider}/${model.id}` : "";
  const free = windowTokens === undefined ? undefined : Math.max(0, windowTokens - totalTokens);
  const whole = windowTokens === undefined ? totalTokens : Math.max(windowTokens, totalTokens);
  const rows = [
    ...partNames.map((part) => [part, parts[part]] as const),
    ...(free === undefined ? [] : [["free", free] as const]),
  ];
  const share = (tokens: number) => formatPercent(tokens, windowTokens ?? totalTokens);
  const used = isCounted ? formatTokens(totalTokens) : `About ${formatTokens(totalTokens)}`;
  const title = windowTokens === undefined ? `${used} tokens` : `${used} of ${formatTokens(windowTokens)} tokens`;
  return [
    `${title}${name} (${share(totalTokens)})`,
    drawBar(
      rows.map(([part, tokens]) => ({ mark: marks[part], tokens })),
      whole,
    ),
    ...rows.flatMap(([part, tokens]) => [
      formatRow(`${marks[part]} ${labels[part].padEnd(labelWidth)}`, tokens, share(tokens)),
      ...(part === "instructions" ? files.map((file) => formatFile(file.path, file.tokens)) : []),
    ]),
    isCounted
      ? "The total is the provider's count; its parts are estimated."
      : "All of it is estimated: the provider has not counted it yet.",
  ].join("\n");
}

const formatRow = (label: string, tokens: number, percent: string): string =>
  `${label} ${formatTokens(tokens).padStart(6)} ${percent.padStart(5)}`;

const formatFile = (path: string, tokens: number): string =>
  `    ${toVisibleLine(path, maxPathLength)}: ${formatTokens(tokens)}`;

/** Draws a bar in which everything that is there has a cell at least. */
export function drawBar(parts: readonly { readonly mark: string; readonly tokens: number }[], whole: number): string {
  if (whole <= 0) return "";
  const widths = parts.map(({ tokens }) => (tokens <= 0 ? 0 : Math.max(1, Math.round((tokens / whole) * barWidth))));
  // The widest part gives or takes what rounding has left over.
  const widest = widths.indexOf(Math.max(...widths));
  widths[widest]! += barWidth - widths.reduce((sum, width) => sum + width, 0);
  return parts.map(({ mark }, index) => mark.repeat(Math.max(0, widths[index]!))).join("");
}

function formatPercent(tokens: number, whole: number): string {
  if (tokens <= 0 || whole <= 0) return "0%";
  const percent = (tokens / whole) * 100;
  return percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}
