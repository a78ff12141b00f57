import type { Tool } from "../../context.ts";
import type { Model } from "../../model.ts";
import { toJsonSchema } from "../../schema/adapt.ts";
import { strictNote } from "../function-tool.ts";
import type { EncodeNote } from "../protocol.ts";
import type { ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools } from "../tools.ts";
import type { Block, EncodedMessage } from "./encode-messages.ts";
import { closeSchema, strictLimits } from "./strict-schema.ts";

interface ToolRequest {
  model: Model<"bedrock-converse-stream">;
  offered: readonly Tool[];
  choice: ResolvedToolChoice | undefined;
  messages: readonly EncodedMessage[];
  notes: EncodeNote[];
}

/**
 * The tools and whether they must be called. Converse cannot say "none": then the tools stay out. But a history that
 * holds calls is rejected without tools, so there they stay in, and calls of tools that are gone are declared by name.
 */
export function encodeToolConfig({ model, offered, choice, messages, notes }: ToolRequest): Block | undefined {
  const called = calledTools(messages);
  if (choice?.kind === "none" && called.length === 0) return undefined;
  const room = { ...strictLimits };
  const tools = encodeTools(offered, (tool) => encodeTool(model, tool, room, notes), notes);
  if (tools.length > 0) return { tools, ...(choice && choice.kind !== "none" && { toolChoice: encodeChoice(choice) }) };
  if (called.length === 0 || model.compat?.supportsTools === false) return undefined;
  return { tools: called.map(formerTool) };
}

function calledTools(messages: readonly EncodedMessage[]): string[] {
  const names = messages.flatMap(({ content }) =>
    content.map((block) => (block["toolUse"] as { name: string } | undefined)?.name),
  );
  return [...new Set(names.filter((name) => name !== undefined))];
}

const formerTool = (name: string): Block => ({
  toolSpec: { name, description: "No longer available.", inputSchema: { json: { type: "object", properties: {} } } },
});

const encodeChoice = (choice: ResolvedToolChoice): Block =>
  choice.kind === "tool" ? { tool: { name: choice.name } } : { [choice.kind]: {} };

function encodeTool(
  model: ToolRequest["model"],
  tool: Tool,
  room: { tools: number; looseParameters: number },
  notes: EncodeNote[],
): Block {
  const schema = toJsonSchema(tool.parameters);
  const strict =
    tool.strict !== undefined && model.compat?.supportsStrictMode === true ? closeSchema(schema) : undefined;
  const fits = strict && room.tools > 0 && room.looseParameters >= strict.looseParameters;
  if (fits) {
    room.tools--;
    room.looseParameters -= strict.looseParameters;
  } else if (tool.strict === "require") {
    notes.push(strictNote(model, tool));
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
