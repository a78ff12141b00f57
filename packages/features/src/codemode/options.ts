/** The options of a script, in its first line. Pure. */
import { isRecord } from "@tau/ai/internal";

interface ScriptOptions {
  readonly maxOutputTokens: number;
  /** Undefined: the default limit. */
  readonly timeoutMs: number | undefined;
}

type ParsedOptions =
  | { readonly options: ScriptOptions; readonly problem?: undefined }
  | { readonly options?: undefined; readonly problem: string };

const defaultMaxOutputTokens = 10_000;
const maxOutputTokens = 1_000_000;
const maxTimeoutMs = 24 * 60 * 60 * 1_000;

const optionsLine = /^[ \t]*\/\/[ \t]*@options:(.*)$/;
const example = '// @options: {"max_output_tokens": 2000, "timeout_ms": 60000}';

export function parseScriptOptions(code: string): ParsedOptions {
  const lines = code.split("\n");
  const index = lines.findIndex((line) => optionsLine.test(line));
  if (index === -1) return { options: { maxOutputTokens: defaultMaxOutputTokens, timeoutMs: undefined } };
  if (index > 0) return { problem: `The options are in line ${index + 1}; they must be in the first line.` };
  const json = optionsLine.exec(lines[0]!)![1]!;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { problem: `The options are not JSON. Write them like this: ${example}` };
  }
  if (!isRecord(value)) return { problem: `The options are not an object. Write them like this: ${example}` };
  const unknown = Object.keys(value).find((key) => key !== "max_output_tokens" && key !== "timeout_ms");
  if (unknown !== undefined)
    return {
      problem: `There is no option ${JSON.stringify(unknown.slice(0, 100))}: only max_output_tokens and timeout_ms.`,
    };
  const { max_output_tokens: tokens = defaultMaxOutputTokens, timeout_ms: timeoutMs } = value;
  if (!isWithin(tokens, maxOutputTokens))
    return { problem: `max_output_tokens must be a whole number from 1 to ${maxOutputTokens}.` };
  if (timeoutMs !== undefined && !isWithin(timeoutMs, maxTimeoutMs))
    return { problem: `timeout_ms must be a whole number from 1 to ${maxTimeoutMs}.` };
  return { options: { maxOutputTokens: tokens, timeoutMs } };
}

const isWithin = (value: unknown, max: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
