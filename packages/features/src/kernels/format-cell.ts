/** The outcome of a cell as the result of a tool. */
import type { AgentToolResult } from "@tau/agent";
import type { ImageContent } from "@tau/ai";
import { formatJson } from "../kit/format-json.ts";
import { toVisible } from "../kit/visible-text.ts";
import type { ShownOutput } from "./cell-output.ts";
import type { Language } from "./feature.ts";
import type { CellOutcome } from "./kernel.ts";
import type { Display, Table } from "./messages.ts";

export interface EvalDetails {
  language: Language;
  status: "ok" | "error" | "interrupted" | "ended";
  durationMs: number;
  /** The value of the last expression as people read it. */
  result?: string;
  /** The value as JSON, for the other kernel. */
  value?: unknown;
  /** Whether the value was too large to be kept. */
  isValueLeftOut?: boolean;
  outputFile?: string;
  /** Why the variables of earlier cells are gone. */
  lost?: string;
}

interface FormatOptions {
  language: Language;
  lost: string | undefined;
  timeoutMs: number | undefined;
  output: ShownOutput;
  durationMs: number;
  keepText(text: string): Promise<string | undefined>;
}

const maxResultLength = 50_000;
/** With the remark about the rest, a value is no longer than a result. */
const maxJsonLength = 49_900;
export const maxValueLength = 256 * 1024;
const maxImages = 10;

export async function formatCell(
  outcome: CellOutcome,
  { language, lost, timeoutMs, output, durationMs, keepText }: FormatOptions,
): Promise<AgentToolResult<EvalDetails> & { isError?: boolean }> {
  const outputFile = output.rest === undefined ? undefined : await keepText(output.rest);
  const { displays } = outcome;
  const images = displays.flatMap((display): ImageContent[] =>
    display.kind === "png" ? [{ type: "image", data: display.data, mimeType: "image/png" }] : [],
  );
  const done = outcome.kind === "done" ? outcome.done : undefined;
  const result = done?.result === undefined ? undefined : toVisible(cut(done.result));
  const notice =
    lost === undefined ? "" : `[A new kernel: the variables of the one before are gone. ${toSentence(lost)}]`;
  const parts = [
    notice,
    output.text,
    describeRest(output, outputFile),
    formatDisplays(displays),
    result ?? "",
    describeEnd(outcome, timeoutMs),
    images.length > maxImages ? `[${images.length - maxImages} more images are not shown.]` : "",
  ];
  const text = parts.filter((part) => part !== "").join("\n\n") || "(no output)";
  const status = outcome.kind === "done" ? outcome.done.status : outcome.kind;
  const { value } = done ?? {};
  const isSmall = value !== undefined && JSON.stringify(value).length <= maxValueLength;
  return {
    content: [{ type: "text", text }, ...images.slice(0, maxImages)],
    details: {
      language,
      status,
      durationMs,
      ...(result !== undefined && { result }),
      ...(isSmall && value !== null && { value }),
      ...(value !== undefined && !isSmall && { isValueLeftOut: true }),
      ...(outputFile !== undefined && { outputFile }),
      ...(lost !== undefined && { lost }),
    },
    ...(status !== "ok" && { isError: true }),
  };
}

/** How it ended, unless it is well. */
function describeEnd(outcome: CellOutcome, timeoutMs: number | undefined): string {
  switch (outcome.kind) {
    case "done": {
      const { status, error } = outcome.done;
      if (status === "interrupted") return "The cell was interrupted.";
      return status === "error" ? toVisible(cut(error?.traceback ?? "")) || "The cell failed." : "";
    }
    case "ended":
      return outcome.wasStarted
        ? `The kernel has ended: ${toSentence(outcome.reason)} The next cell starts a new one, without the variables.`
        : `The kernel could not be started: ${toSentence(outcome.reason)}`;
    case "interrupted": {
      const why =
        outcome.by === "timeout"
          ? `The cell took longer than ${timeoutMs} ms and was interrupted.`
          : "The cell was aborted.";
      return outcome.hasEnded
        ? `${why} The kernel had to be ended: the next cell starts a new one, without the variables.`
        : why;
    }
  }
}

const toSentence = (text: string): string => {
  const whole = text.endsWith(".") ? text : `${text}.`;
  return whole[0]!.toUpperCase() + whole.slice(1);
};

function describeRest({ rest, totalLines, shownLines, lostLength }: ShownOutput, file: string | undefined): string {
  if (rest === undefined) return "";
  const where = file === undefined ? "The rest could not be kept." : `Full output: ${file}`;
  const lost = lostLength > 0 ? ` ${lostLength.toLocaleString("en-US")} characters in its middle were not kept.` : "";
  return `[Showing the last ${shownLines} of ${totalLines} lines. ${where}${lost}]`;
}

/** Together they are as long as a result may be. */
function formatDisplays(displays: readonly Display[]): string {
  const texts = displays.flatMap((display) => (display.kind === "png" ? [] : [formatDisplay(display)]));
  return toVisible(cut(texts.join("\n\n")));
}

function formatDisplay(display: Exclude<Display, { kind: "png" }>): string {
  switch (display.kind) {
    case "text":
      return display.text;
    case "json":
      return formatValue(display.value);
    case "table":
      return formatTable(display.table);
  }
}

function formatValue(value: unknown): string {
  const { text, isWhole } = formatJson(value, { maxLength: maxJsonLength, indent: 2 });
  return isWhole ? text : `${text}… [the rest of this value is not shown]`;
}

/** A table in Markdown. */
function formatTable({ columns, rows, total }: Table): string {
  const toRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  const more = total > rows.length ? [`[${rows.length} of ${total} rows are shown.]`] : [];
  return [toRow(columns), toRow(columns.map(() => "---")), ...rows.map(toRow), ...more].join("\n");
}

/** Says how much is missing. */
export const cut = (text: string): string =>
  text.length <= maxResultLength
    ? text
    : `${text.slice(0, maxResultLength)}… [${text.length - maxResultLength} characters more]`;
