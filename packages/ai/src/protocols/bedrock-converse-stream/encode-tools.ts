import type { Tool } from "../../context.ts";
import type { Model } from "../../model.ts";
import { toJsonSchema } from "../../schema/adapt.ts";
import { createStrictNote } from "../function-tool.ts";
import type { EncodeNote } from "../protocol.ts";
import type { ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools } from "../tools.ts";
import type { Block, Turn } from "../turns.ts";
import { closeSchema, strictLimits } from "./strict-schema.ts";

interface ToolRequest {
  model: Model<"bedrock-converse-stream">;
  tools: readonly Tool[];
  choice: ResolvedToolChoice | undefined;
  messages: readonly Turn[];
  notes: EncodeNote[];
}

/**
 * The tools and the tool choice. Converse has no choice "none", so the tools are left out instead. But a history with
 * tool calls is rejected without tools, so then they are sent, or if there are none, the called tools are declared.
 */
export function encodeToolConfig({ model, tools, choice, messages, notes }: ToolRequest): Block | undefined {
  const called = getCalledTools(messages);
  if (choice?.kind === "none" && called.length === 0) return undefined;
  const remaining = { ...strictLimits };
  const encoded = encodeTools(tools, (tool) => encodeTool(model, tool, remaining, notes), notes);
  if (encoded.length > 0) {
    return { tools: encoded, ...(choice && choice.kind !== "none" && { toolChoice: encodeChoice(choice) }) };
  }
  if (called.length === 0 || model.compat?.supportsTools === false) return undefined;
  return { tools: called.map(encodeRemovedTool) };
}

function getCalledTools(messages: readonly Turn[]): string[] {
  const names = messages.flatMap(({ content }) =>
    content.map((block) => (block["toolUse"] as { name: string } | undefined)?.name),
  );
  return [...new Set(names.filter((name) => name !== undefined))];
}

const encodeRemovedTool = (name: string): Block => ({
  toolSpec: { name, description: "No longer available.", inputSchema: { json: { type: "object", properties: {} } } },
});

const encodeChoice = (choice: ResolvedToolChoice): Block =>
  choice.kind === "tool" ? { tool: { name: choice.name } } : { [choice.kind]: {} };

function encodeTool(
  model: ToolRequest["model"],
  tool: Tool,
  remaining: { tools: number; looseParameters: number },
  notes: EncodeNote[],
): Block {
  const schema = toJsonSchema(tool.parameters);
  const strict =
    tool.strict !== undefined && model.compat?.supportsStrictMode === true ? closeSchema(schema) : undefined;
  const fits = strict && remaining.tools > 0 && remaining.looseParameters >= strict.looseParameters;
  if (fits) {
    remaining.tools--;
    remaining.looseParameters -= strict.looseParameters;
  } else if (tool.strict === "require") {
    notes.push(createStrictNote(model, tool));
  }
  return {
    toolSpec: {
      name: tool.name,
      ...(tool.description.trim() && { description: tool.description }),
      inputSchema: { json: fits ? strict.schema : schema },
      ...(fits && { strict: true }),
    },
  };
}
