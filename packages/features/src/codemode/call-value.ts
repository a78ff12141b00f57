/** Values that calls of tools give to scripts. Pure. */
import type { ToolCallOutcome } from "@tau/agent";
import type { ImageContent, TextContent } from "@tau/ai";
import { asRecord, isRecord } from "@tau/ai/internal";

interface CalledTool {
  readonly name: string;
  readonly outputSchema?: unknown;
}

type CallValue =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly message: string };

/** `durationMs`: how long the call took. */
export function toCallValue(tool: CalledTool, outcome: ToolCallOutcome, durationMs: number): CallValue {
  const { result, isError, errorDetails } = outcome;
  const text = joinText(result.content);
  if (tool.name === "bash") {
    const details = isError ? errorDetails : (result.details as unknown);
    const value = toBashValue(text, details, durationMs);
    if (value) return { kind: "value", value };
  }
  // A result of a server is one, also if it says that something failed. What failed here has no server.
  if (tool.name.startsWith("mcp__") && (!isError || isServerResult(result.details)))
    return { kind: "value", value: toServerValue(outcome) };
  const structured = isRecord(tool.outputSchema) ? getStructured(result) : undefined;
  if (structured !== undefined) return { kind: "value", value: structured };
  if (isError) return { kind: "error", message: text || "The call failed." };
  const image = tool.name === "read" ? result.content.find((block) => block.type === "image") : undefined;
  if (image) return { kind: "value", value: { type: "image", data: image.data, mimeType: image.mimeType, note: text } };
  return { kind: "value", value: text };
}

const joinText = (content: readonly (TextContent | ImageContent)[]): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

const getStructured = (result: ToolCallOutcome["result"]): unknown =>
  asRecord(result)["structuredContent"] ?? asRecord(result.details)["structured"];

const isServerResult = (details: unknown): boolean => typeof asRecord(details)["server"] === "string";

function toServerValue({ result, isError }: ToolCallOutcome): Readonly<Record<string, unknown>> {
  const structuredContent = asRecord(result.details)["structured"];
  return {
    content: result.content,
    ...(structuredContent !== undefined && { structuredContent }),
    isError,
  };
}

/** Undefined for a command that did not run to its end. */
function toBashValue(
  text: string,
  details: unknown,
  durationMs: number,
): Readonly<Record<string, unknown>> | undefined {
  const { exitCode, outputLength, shownLines, totalLines, outputFile, jobId } = asRecord(details);
  if (typeof exitCode !== "number" && jobId === undefined) return undefined;
  return {
    output: typeof outputLength === "number" ? text.slice(0, outputLength) : text,
    truncated: typeof shownLines === "number" && typeof totalLines === "number" && shownLines < totalLines,
    ...(typeof outputFile === "string" && { full_output_path: outputFile }),
    exit_code: typeof exitCode === "number" ? exitCode : null,
    wall_time_seconds: Math.round(durationMs) / 1_000,
  };
}
