/** Results of tools as data for the code of a kernel. Pure. */
import type { AgentToolResult, ToolCallOutcome } from "@tau/agent";
import { asRecord, isRecord } from "@tau/ai/internal";
import { KernelError, type KernelErrorKind } from "./kernel-error.ts";

/** Makes data of the results of tools whose texts have more in them than their details. */
const shapes: Readonly<Record<string, (text: string, details: Readonly<Record<string, unknown>>) => unknown>> = {
  read: (text) => text,
  ls: toLines,
  find: toLines,
  grep: toMatches,
  bash: (text, { exitCode, outputFile, shownLines, totalLines, outputLength }) => ({
    output: typeof outputLength === "number" ? text.slice(0, outputLength) : text,
    exit_code: exitCode ?? null,
    truncated: shownLines !== totalLines,
    ...(outputFile !== undefined && { full_output_path: outputFile }),
  }),
};

/** Ends the text of a command that failed, which has no details. */
const exitOfCommand = /(?:^|\n\n)Command exited with code (\d+)[^\n]*$/;

/** Throws a `KernelError` for a call that failed. */
export function toData(tool: string, { result, isError, errorCode }: ToolCallOutcome): unknown {
  const text = getText(result);
  const details = asRecord(result.details);
  const exit = isError && tool === "bash" ? exitOfCommand.exec(text) : null;
  // A command that fails is a result like others: its code and its output count.
  if (exit)
    return { output: text.slice(0, exit.index), exit_code: Number(exit[1]), truncated: text.includes("\n\n[Showing ") };
  if (isError) throw new KernelError(toKind(errorCode), text || "The call failed.");
  if (Object.hasOwn(shapes, tool)) return shapes[tool]!(text, details);
  if ("structured" in details) return details["structured"];
  const images = result.content.filter((block) => block.type === "image");
  const shown = images.length === 0 ? {} : { images: images.map(({ data, mimeType }) => ({ data, mimeType })) };
  return Object.keys(details).length === 0 && images.length === 0 ? text : { ...details, text, ...shown };
}

export const getText = ({ content }: Pick<AgentToolResult, "content">): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

const kinds: Readonly<Record<string, KernelErrorKind>> = {
  unknown_tool: "unknown_tool",
  invalid_arguments: "invalid_arguments",
  denied: "denied",
  aborted: "aborted",
  timeout: "timeout",
};

const toKind = (code: string | undefined): KernelErrorKind => kinds[code ?? ""] ?? "failed";

/** Finds the remark of a tool about a list, such as how many items were left out: in brackets, after an empty line. */
export function getRemark(tool: string, { result, isError }: ToolCallOutcome): string | undefined {
  if (isError || !listTools.has(tool)) return undefined;
  const text = getText(result);
  const start = text.indexOf("\n\n[");
  return start < 0 ? undefined : text.slice(start).trim();
}

const listTools: ReadonlySet<string> = new Set(["ls", "find", "grep"]);

function toLines(text: string, details: Readonly<Record<string, unknown>>): string[] {
  const shown = details["shown"] ?? details["shownEntries"];
  if (shown === 0) return [];
  return (text.split("\n\n[")[0] ?? "").split("\n").filter((line) => line !== "");
}

interface Match {
  path: string;
  line: number;
  text: string;
  is_match: boolean;
}

function toMatches(text: string, { matches }: Readonly<Record<string, unknown>>): Match[] {
  if (matches === 0) return [];
  return text.split("\n").flatMap((line): Match[] => {
    const match = /^(.*?)(?::(\d+): |-(\d+)- )(.*)$/s.exec(line);
    if (!match || line === "--") return [];
    const [, path = "", matching, around, rest = ""] = match;
    return [{ path, line: Number(matching ?? around), text: rest, is_match: matching !== undefined }];
  });
}

/** The arguments of a tool that have other names in kernels. */
export function toArguments(tool: string, params: unknown): unknown {
  if (tool !== "grep" || !isRecord(params) || !("case_sensitive" in params)) return params ?? {};
  const { case_sensitive: isSensitive, ...rest } = params;
  return { ...rest, ignoreCase: isSensitive !== true };
}
