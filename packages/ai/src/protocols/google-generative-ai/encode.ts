import type { Context, JsonSchema, Tool } from "../../context.ts";
import { handOff, type HandoffRules, toPlainId, toPlainName } from "../../handoff.ts";
import type { AssistantMessage, ImageContent, TextContent, ToolResultMessage } from "../../message.ts";
import type { Model } from "../../model.ts";
import { toGeminiJsonSchema, toGeminiSchema } from "../../schema/gemini.ts";
import { createStrictNote } from "../function-tool.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { resolveOutput } from "../output-format.ts";
import { resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools, selectTools } from "../tools.ts";
import { type Block as Part, encodeTurns } from "../turns.ts";
import { getFamily, type GoogleFamily } from "./families.ts";
import { encodeThinking, type GoogleOptions } from "./options.ts";

/** The tool names that the API accepts. */
const toolNamePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

const rules: HandoffRules = {
  toolCallId: (id) => toPlainId(id, 64),
  imageTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  // 7 MB of data, counted in base64.
  maxImageCharacters: Math.ceil((7 * 1024 * 1024) / 3) * 4,
  userFirst: true,
  toolName: (name) => (toolNamePattern.test(name) ? name : `tool_${toPlainName(name, 64)}`),
};

export const encode = (model: Model, context: Context, options: GoogleOptions): EncodedRequest => ({
  path: `/${getModelPath(model.id)}:streamGenerateContent?alt=sse`,
  headers: {},
  ...encodePayload(model, context, options),
});

/** The id of a tuned model already contains its collection. */
const getModelPath = (id: string): string =>
  (/^(models|tunedModels)\//.test(id) ? id : `models/${id}`).split("/").map(encodeURIComponent).join("/");

/** The payload for both the Gemini API and Vertex AI. */
export function encodePayload(
  model: Model,
  context: Context,
  options: GoogleOptions,
): Pick<EncodedRequest, "payload" | "notes"> {
  const notes: EncodeNote[] = [];
  const family = getFamily(model);
  const tools = selectTools(model, context.tools, notes, toolNamePattern);
  const declarations = encodeTools(tools, (tool) => encodeTool(model, tool, family, notes), notes);
  const calling = encodeCalling(resolveToolChoice(options.toolChoice, tools, notes), tools, family);
  const thinking = encodeThinking(model, options);
  // Older models refuse it beside tools.
  const isSupported = family.validatedCalls || declarations.length === 0;
  const output = resolveOutput(options.output, { isSupported, notes });
  const config = {
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.maxTokens !== undefined && { maxOutputTokens: options.maxTokens }),
    ...(thinking && { thinkingConfig: thinking }),
    ...(output && { responseMimeType: "application/json", ...encodeOutput(output.schema, family) }),
  };
  const payload: Record<string, unknown> = {
    contents: encodeContents(model, context, family),
    ...(context.systemPrompt?.trim() && {
      systemInstruction: { parts: [{ text: context.systemPrompt.toWellFormed() }] },
    }),
    ...(declarations.length > 0 && { tools: [{ functionDeclarations: declarations }] }),
    ...(declarations.length > 0 && calling && { toolConfig: { functionCallingConfig: calling } }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  };
  return { payload, notes };
}

const encodeOutput = (schema: JsonSchema, family: GoogleFamily): Part =>
  family.jsonSchema ? { responseJsonSchema: toGeminiJsonSchema(schema) } : { responseSchema: toGeminiSchema(schema) };

function encodeTool(model: Model, tool: Tool, family: GoogleFamily, notes: EncodeNote[]): Part {
  if (tool.strict === "require" && !family.validatedCalls) {
    notes.push(createStrictNote(model, tool));
  }
  const { name, description } = tool;
  if (family.jsonSchema) return { name, description, parametersJsonSchema: toGeminiJsonSchema(tool.parameters) };
  const parameters = toGeminiSchema(tool.parameters);
  // The API rejects an object without properties, but accepts a tool without parameters.
  const isEmpty = Object.keys(parameters["properties"] ?? {}).length === 0;
  return { name, description, ...(!isEmpty && { parameters }) };
}

function encodeCalling(
  choice: ResolvedToolChoice | undefined,
  tools: readonly Tool[],
  family: GoogleFamily,
): Part | undefined {
  const strict = family.validatedCalls && tools.some((tool) => tool.strict !== undefined);
  if (choice?.kind === "tool") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  if (choice?.kind === "any" || choice?.kind === "none") return { mode: choice.kind.toUpperCase() };
  if (strict) return { mode: "VALIDATED" };
  return choice && { mode: "AUTO" };
}

interface Content {
  role: "user" | "model";
  parts: Part[];
}

function encodeContents(model: Model, context: Context, family: GoogleFamily): Content[] {
  const turns = encodeTurns(handOff(context.messages, model, rules), {
    message: (message) =>
      message.role === "user"
        ? message.content.map(encodeBlock)
        : message.content.flatMap((block) => encodeAssistantBlock(block, family)),
    result: (message) => encodeResult(message, family),
  });
  const contents = turns.map(({ role, content }): Content => ({
    role: role === "user" ? role : "model",
    parts: content,
  }));
  if (family.callSignatures) for (const content of contents) signFirstCall(content);
  return contents;
}

/** Google's documented signature for calls of another model: it is not validated. */
const foreignSignature = "skip_thought_signature_validator";

function signFirstCall({ parts }: Content): void {
  const call = parts.find((part) => "functionCall" in part);
  if (call) call["thoughtSignature"] ??= foreignSignature;
}

const encodeBlock = (block: TextContent | ImageContent): Part =>
  block.type === "text" ? { text: block.text } : { inlineData: { mimeType: block.mimeType, data: block.data } };

function encodeAssistantBlock(block: AssistantMessage["content"][number], family: GoogleFamily): Part[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text, ...encodeSignature(block.textSignature) }];
    case "thinking": {
      const signature = encodeSignature(block.thinkingSignature);
      if (block.thinking.trim() === "" && !signature) return [];
      return [{ text: block.thinking, thought: true, ...signature }];
    }
    case "toolCall": {
      const call = { name: block.name, args: block.arguments, ...(family.callIds && { id: block.id }) };
      return [{ functionCall: call, ...encodeSignature(block.thoughtSignature) }];
    }
  }
}

/** A signature must be base64; any other value would make the request invalid and is left out. */
const encodeSignature = (value: string | undefined): { thoughtSignature: string } | undefined =>
  value !== undefined && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) ? { thoughtSignature: value } : undefined;

function encodeResult(message: ToolResultMessage, family: GoogleFamily): { result: Part; images: Part[] } {
  const images = message.content.filter((block) => block.type === "image").map(encodeBlock);
  const texts = message.content.filter((block) => block.type === "text").map((block) => block.text);
  const output = texts.join("\n") || "(The result is an image.)";
  const hasImages = images.length > 0;
  const result = {
    functionResponse: {
      name: message.toolName,
      response: message.isError ? { error: output } : { output },
      ...(family.callIds && { id: message.toolCallId }),
      ...(hasImages && family.imagesInResults && { parts: images }),
    },
  };
  if (!hasImages || family.imagesInResults) return { result, images: [] };
  return { result, images: [{ text: `Images from ${message.toolName}:` }, ...images] };
}
