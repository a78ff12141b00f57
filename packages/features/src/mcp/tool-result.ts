/** Results of servers as results of tools. Texts of servers are data: nothing in them acts on a terminal. */
import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import type { ImageContent, TextContent } from "@tau/ai";
import { validateToolArguments } from "@tau/ai";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { mergeTexts } from "../kit/merge-texts.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { runCheck } from "./check-time.ts";

interface McpToolResult {
  content: (TextContent | ImageContent)[];
  details: McpResultDetails;
  isError?: boolean;
}

interface McpResultDetails {
  readonly server: string;
  readonly tool: string;
  /** The structured result, for programs, unless it is too large. */
  readonly structured?: unknown;
}

const maxBlocks = 500;
/** Longer results are cut before they are kept. */
const maxTextLength = 4_000_000;
const maxImageLength = 10 * 1024 * 1024;
const maxStructuredLength = 256 * 1024;
const imageTypes = /^image\/(?:png|jpeg|gif|webp)$/;

interface ResultOptions {
  server: string;
  tool: string;
  outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

export function toToolResult(result: CallToolResult, { server, tool, outputSchema }: ResultOptions): McpToolResult {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const content = mergeTexts(blocks.slice(0, maxBlocks).map(toBlock));
  if (blocks.length > maxBlocks) content.push(note(`${blocks.length - maxBlocks} more parts were left out.`));
  const { structuredContent: structured } = result;
  const json = structured === undefined ? "" : JSON.stringify(structured);
  // Servers repeat a structured result as text, for older clients.
  if (json !== "" && !content.some((block) => block.type === "text")) content.push(toText(json));
  const mismatch = structured === undefined || result.isError ? undefined : checkOutput(structured, outputSchema);
  if (mismatch !== undefined)
    content.push(note(`The result does not have the form that the server declares: ${mismatch}`));
  if (content.length === 0) content.push(note("The result is empty."));
  return {
    content,
    details: { server, tool, ...(json !== "" && json.length <= maxStructuredLength && { structured }) },
    ...(result.isError === true && { isError: true }),
  };
}

/** Shows the contents of a resource. */
export const toResourceContent = ({ contents }: ReadResourceResult): McpToolResult["content"] =>
  mergeTexts(contents.slice(0, maxBlocks).map((resource) => toBlock({ type: "resource", resource })));

function toBlock(block: ContentBlock): TextContent | ImageContent {
  switch (block.type) {
    case "text":
      return toText(block.text);
    case "image":
      return toImage(block.data, block.mimeType);
    case "audio":
      return note(`Audio (${toVisibleLine(block.mimeType, 100)}, ${countBytes(block.data)} bytes) cannot be shown.`);
    case "resource_link": {
      const { uri, name, description = "" } = block;
      return note(
        `Resource ${toVisibleLine(name, 200)}: ${toVisibleLine(uri, 2_000)} ${toVisibleLine(description, 500)}`.trim(),
      );
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource && typeof resource.text === "string") return toText(resource.text);
      const { blob, mimeType = "" } = resource as { blob?: string; mimeType?: string };
      if (typeof blob === "string" && imageTypes.test(mimeType)) return toImage(blob, mimeType);
      const size = typeof blob === "string" ? countBytes(blob) : 0;
      return note(
        `The resource ${toVisibleLine(resource.uri, 2_000)} is not text (${toVisibleLine(mimeType || "unknown type", 100)}, ${size} bytes).`,
      );
    }
    default:
      return note("A part of an unknown kind was left out.");
  }
}

function toImage(data: string, mimeType: string): TextContent | ImageContent {
  if (!imageTypes.test(mimeType)) return note(`An image (${toVisibleLine(mimeType, 100)}) cannot be shown.`);
  if (data.length > maxImageLength) return note(`An image of ${countBytes(data)} bytes is too large and was left out.`);
  // Each character can be matched in one way only, else a long text would take for ever.
  if (!/^[A-Za-z0-9+/\s]*(?:=\s*){0,2}$/.test(data)) return note("An image is damaged and was left out.");
  return { type: "image", data, mimeType };
}

const countBytes = (base64: string): number => Math.floor((base64.length * 3) / 4);

const toText = (text: string): TextContent => ({
  type: "text",
  text:
    text.length > maxTextLength
      ? `${toVisible(text.slice(0, maxTextLength))}\n[${text.length - maxTextLength} more characters were left out.]`
      : toVisible(text),
});

const note = (text: string): TextContent => ({ type: "text", text: `[${text}]` });

/** Says what is wrong with a structured result; undefined if nothing is, or if the schema cannot be used. One that takes too long cannot. */
function checkOutput(value: unknown, schema: ResultOptions["outputSchema"]): string | undefined {
  if (!schema || !isRecord(value)) return undefined;
  const tool = { name: "result", description: "", parameters: { ...schema, type: "object" } };
  try {
    runCheck(() => validateToolArguments(tool, { type: "toolCall", id: "result", name: "result", arguments: value }));
    return undefined;
  } catch (error) {
    if ((error as { code?: string }).code !== "invalid_arguments") return undefined;
    const lines = getErrorMessage(error)
      .split("\n")
      .filter((line) => line.startsWith("- "));
    // Without a line, the schema itself is the problem.
    return lines.length === 0 ? undefined : toVisibleLine(lines.map((line) => line.slice(2)).join("; "), 500);
  }
}
