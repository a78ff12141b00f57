/** Turns the content of a prompt into what a session is sent. Pure. */
import { fileURLToPath } from "node:url";
import type { ImageContent } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { JsonRpcError } from "@tau/protocol/json-rpc";

interface PromptParts {
  /** Has what the person typed. Commands and mentioned files in it are expanded. */
  text: string;
  images: ImageContent[];
  /** Texts that the editor has attached, such as a selection or an unsaved file. They are sent as they are. */
  context: { name: string; text: string }[];
}

/** Throws `invalid_params` for content that cannot be sent to a model. */
export function toPrompt(blocks: readonly unknown[]): PromptParts {
  const parts: PromptParts = { text: "", images: [], context: [] };
  for (const [index, block] of blocks.entries()) addBlock(parts, isRecord(block) ? block : {}, index);
  return parts;
}

function addBlock(parts: PromptParts, block: Record<string, unknown>, index: number): void {
  const wrong = (problem: string) => new JsonRpcError("invalid_params", `prompt[${index}]: ${problem}`);
  switch (block["type"]) {
    case "text":
      parts.text += mustBeText(block["text"], "text", wrong);
      return;
    case "image":
      parts.images.push({
        type: "image",
        data: mustBeText(block["data"], "data", wrong),
        mimeType: mustBeText(block["mimeType"], "mimeType", wrong),
      });
      return;
    case "resource_link":
      return addWord(parts, toMention(mustBeText(block["uri"], "uri", wrong), block["name"]));
    case "resource":
      return addResource(parts, isRecord(block["resource"]) ? block["resource"] : {}, wrong);
    case "audio":
      throw wrong("Sound cannot be sent. Send text, images, links and files.");
    default:
      throw wrong(`"type" has to be text, image, resource_link or resource.`);
  }
}

type Wrong = (problem: string) => JsonRpcError;

function mustBeText(value: unknown, name: string, wrong: Wrong): string {
  if (typeof value === "string") return value;
  throw wrong(`"${name}" has to be a string.`);
}

/** Keeps a blank between it and the words around it. */
function addWord(parts: PromptParts, word: string): void {
  parts.text += `${parts.text === "" || /\s$/.test(parts.text) ? "" : " "}${word}`;
}

/** A file is mentioned as a person would type it; anything else is named. */
function toMention(uri: string, name: unknown): string {
  const path = findPath(uri);
  if (path !== undefined && !/["\n]/.test(path)) return `@"${path}"`;
  return typeof name === "string" && name !== "" && name !== uri ? `${name} (${uri})` : uri;
}

function findPath(uri: string): string | undefined {
  if (!uri.startsWith("file:") || !URL.canParse(uri)) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    // The address of a file on another machine.
    return undefined;
  }
}

function addResource(parts: PromptParts, resource: Record<string, unknown>, wrong: Wrong): void {
  const uri = mustBeText(resource["uri"], "resource.uri", wrong);
  const path = findPath(uri);
  // The part of a file that was selected is in the address, such as `#L10:20`.
  const name = path === undefined ? uri : `${path}${new URL(uri).hash}`;
  const { text, blob, mimeType } = resource;
  if (typeof text === "string") {
    parts.context.push({ name, text });
    return addWord(parts, `[${name}]`);
  }
  const data = mustBeText(blob, "resource.text", wrong);
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/")) {
    throw wrong(`${name} is neither text nor an image, so it cannot be sent.`);
  }
  parts.images.push({ type: "image", data, mimeType });
}
