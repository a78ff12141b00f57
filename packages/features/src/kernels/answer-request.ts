/** Does what the code of a kernel asks the host for. Each call of a tool is judged, asked about and logged like one of the model. */
import type { ExtensionAPI, ExtensionToolContext } from "@tau/extensions";
import type { Model } from "@tau/ai";
import { asRecord, isRecord, joinTextBlocks, parseOutput } from "@tau/ai/internal";
import { evalToolName } from "./feature.ts";
import type { AnswerRequest } from "./requests.ts";
import { KernelError } from "./kernel-error.ts";
import type { KernelRequest } from "./messages.ts";
import { getText, toArguments, toData } from "./tool-data.ts";

/** Tools that wait for a cell, or for a person who answers the model, and one that only code of features may call. */
const refused: ReadonlySet<string> = new Set([evalToolName, "call_tool", "codemode", "change_files"]);
const maxPromptLength = 1_000_000;
const maxDescription = 60;

interface AnswerParts {
  context: ExtensionToolContext;
  signal: AbortSignal | undefined;
  tau: Pick<ExtensionAPI, "findTools">;
}

/** Requests of one call. They are refused once it has ended. */
export const createAnswer =
  ({ context, signal, tau }: AnswerParts): AnswerRequest =>
  async (request) => {
    switch (request.kind) {
      case "tool":
        await findTool(tau, context, request.tool);
        return await callTool(context, request.tool, request.params);
      case "exec":
        return await execute(context, request);
      case "completion":
        return await complete(context, request, signal);
      case "agent":
        return await startAgent(context, request);
      case "glob":
        return await callTool(context, "find", { pattern: request.pattern, path: request.cwd, limit: 100_000 });
      case "readFile":
        return await readPart(context, request);
    }
  };

/** Tools of servers are there once their servers were asked for them. */
async function findTool(tau: AnswerParts["tau"], { tools }: ExtensionToolContext, name: string): Promise<void> {
  if (name.startsWith("mcp__") && !tools.some((tool) => tool.name === name)) await tau.findTools();
}

async function callTool(context: ExtensionToolContext, tool: string, params: unknown): Promise<unknown> {
  if (refused.has(tool))
    throw new KernelError(
      "denied",
      `${tool} cannot be called from a cell. Call other tools by their names, and py or js.`,
    );
  return toData(tool, await context.executeTool(tool, toArguments(tool, params)));
}

/** Code for the other kernel is a cell of its own, with its own judgement and entry. */
async function execute(context: ExtensionToolContext, { language, code }: KernelRequest & { kind: "exec" }) {
  const { result, isError } = await context.executeTool(evalToolName, { language, code });
  if (isError) throw new KernelError("failed", getText(result));
  const details = asRecord(result.details);
  if (details["isValueLeftOut"] === true)
    throw new KernelError("failed", "The value is too large. Write it to a file, and give the path.");
  return details["value"];
}

async function complete(
  { model: current, modelRegistry }: ExtensionToolContext,
  { prompt, options }: KernelRequest & { kind: "completion" },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { role, schema } = options;
  const chosen = typeof role === "string" ? modelRegistry.findRole(role)?.model : undefined;
  const model = chosen ?? current;
  if (!model) throw new KernelError("failed", "No model is chosen.");
  const wanted = isRecord(schema)
    ? `\n\nAnswer with JSON only, which fits this schema:\n${JSON.stringify(schema)}`
    : "";
  const content = prompt.slice(0, maxPromptLength) + wanted;
  const messages = [{ role: "user" as const, content, timestamp: 0 }];
  const answer = await modelRegistry.complete(model as Model, { messages }, signal ? { signal } : {});
  if (answer.stopReason === "error" || answer.stopReason === "aborted")
    throw new KernelError(
      answer.stopReason === "aborted" ? "aborted" : "failed",
      answer.errorMessage ?? "The model did not answer.",
    );
  const text = joinTextBlocks(answer.content.filter((block) => block.type === "text"));
  if (!isRecord(schema)) return text;
  return await parseOutput(text, schema);
}

async function startAgent(
  context: ExtensionToolContext,
  { prompt, options }: KernelRequest & { kind: "agent" },
): Promise<unknown> {
  const description = prompt.trim().split("\n")[0]!.slice(0, maxDescription) || "Work for a cell";
  const outcome = await context.executeTool("task", { description, ...options, prompt });
  if (outcome.isError) return toData("task", outcome);
  const text = getText(outcome.result);
  if (!isRecord(options["schema"])) return text;
  return await parseOutput(text, options["schema"]);
}

/** A part of a text as the tool gives it; `next` is the line after it, and null at the end. */
async function readPart(context: ExtensionToolContext, { path, offset }: KernelRequest & { kind: "readFile" }) {
  const outcome = await context.executeTool("read", { path, offset });
  const text = String(toData("read", outcome));
  const { shownLines, totalLines } = asRecord(outcome.result.details);
  if (typeof shownLines !== "number") return { text, next: null };
  const next = offset + shownLines;
  const isLast = shownLines === 0 || (typeof totalLines === "number" && next > totalLines);
  return { text: text.split("\n").slice(0, shownLines).join("\n"), next: isLast ? null : next };
}
