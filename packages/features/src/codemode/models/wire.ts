/** Shared by the protocols of these models: the arguments of scripts, checked, and the counts of answers. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";
import { asRecord, isRecord } from "@tau/ai/internal";
import type { OtherModel } from "./catalog.ts";

interface WireRequest {
  /** Follows the base URL of the model. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

export interface WireUsage {
  readonly input: number;
  readonly output: number;
  /** US dollars, if the service says so. */
  readonly cost?: number;
}

/** How the requests of one API look. Both functions throw an `Error` that says what is wrong. */
export interface WireProtocol {
  encode(model: OtherModel, context: unknown): WireRequest;
  /** Returns the fields of the result for the script. `context` is what was asked. */
  decode(response: unknown, context: unknown): Record<string, unknown>;
  readUsage(response: unknown): WireUsage | undefined;
}

export interface Question {
  readonly type: "choice" | "score" | "bool";
  readonly instructions: string;
  readonly criteria: unknown;
}

interface ClassifierContext {
  readonly state: unknown;
  readonly images: readonly ImageContent[];
  readonly questions: ReadonlyMap<string, Question>;
}

/** Checks what a script gives to `classify`. */
export function parseClassifierContext(model: OtherModel, value: unknown): ClassifierContext {
  const { state, images = [], questions } = asRecord(value);
  if (state === undefined) throw new Error("classify() needs a state.");
  const entries = isRecord(questions) ? Object.entries(questions) : [];
  if (entries.length === 0) throw new Error("classify() needs questions.");
  const parsed = parseBlocks(images).map((block) => {
    if (block.type === "image") return block;
    throw new Error("The images of classify() are blocks of images. A text belongs into the state.");
  });
  if (parsed.length > 0 && !model.input.includes("image"))
    throw new Error(`${model.provider}/${model.id} takes no images.`);
  return {
    state,
    images: parsed,
    questions: new Map(entries.map(([id, question]) => [id, parseQuestion(id, question)])),
  };
}

function parseQuestion(id: string, value: unknown): Question {
  const { type, instructions, criteria } = asRecord(value);
  const isCriteria =
    type === "score"
      ? isTexts(criteria) && criteria.length > 1
      : isRecord(criteria) && isTexts(Object.values(criteria)) && Object.keys(criteria).length > 1;
  const isBool =
    type !== "bool" ||
    (typeof asRecord(criteria)["true"] === "string" && typeof asRecord(criteria)["false"] === "string");
  if (
    (type !== "choice" && type !== "score" && type !== "bool") ||
    typeof instructions !== "string" ||
    !isCriteria ||
    !isBool
  )
    throw new Error(
      `The question ${JSON.stringify(id)} is not complete: it needs a type (choice, score or bool), instructions, and criteria of its type.`,
    );
  return { type, instructions, criteria };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Checks blocks of text and images, as they are in messages. */
export function parseBlocks(value: unknown): (TextContent | ImageContent)[] {
  if (!Array.isArray(value))
    throw new Error('A list of blocks was expected: { type: "text", text } or { type: "image", data, mimeType }.');
  return value.map((block) => {
    const { type, text, data, mimeType } = asRecord(block);
    if (type === "text" && typeof text === "string") return { type, text };
    if (type === "image" && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
    throw new Error('A block is { type: "text", text } or { type: "image", data, mimeType }.');
  });
}

export const toDataUrl = ({ data, mimeType }: ImageContent): string => `data:${mimeType};base64,${data}`;

/** Reads `{ input_tokens, output_tokens, cost? }`. */
export function readTokens(usage: unknown): WireUsage | undefined {
  const { input_tokens: input, output_tokens: output, cost } = asRecord(usage);
  if (!isCount(input) || !isCount(output)) return undefined;
  return { input, output, ...(isCount(cost) && { cost }) };
}

export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Throws unless the value is a number. */
export function mustBeNumber(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Error(`The answer has no ${name}.`);
  return value;
}
