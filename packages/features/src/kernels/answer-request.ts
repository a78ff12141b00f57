/** Does what the code of a kernel asks the host for. Each call of a tool is judged, asked about and logged like one of the model. */
import type { ExtensionAPI, ExtensionToolContext } from "@tau/extensions";
import type { Model } from "@tau/ai";
import { asRecord, isRecord, joinTextBlocks, parseOutput } from "@tau/ai/internal";
import { evalToolName } from "./feature.ts";
import type { AnswerRequest } from "./requests.ts";
import { KernelError } from "./kernel-error.ts";
import type { KernelRequest } from "./messages.ts";
import { getRemark, getText, toArguments, toData } from "./tool-data.ts";

/** Tools that wait for a cell, or for a person who answers the model, and one that only code of features may call. */
const refused: ReadonlySet<string> = new Set([evalToolName, "call_tool", "codemode", "change_files"]);
const maxPromptLength = 1_000_000;
const maxDescription = 60;
const maxPaths = 100_000;

interface AnswerParts {
  context: ExtensionToolContext;
  signal: AbortSignal | undefined;
  tau: Pick<ExtensionAPI, "findTools">;
  /** Adds to the output of the cell. */
  print(text: string): void;
}

/** Requests of one call. They are refused once it has ended. */
export const createAnswer =
  ({ context, signal, tau, print }: AnswerParts): AnswerRequest =>
  async (request) => {
    switch (request.kind) {
      case "tool":
        await findTool(tau, context, request.tool);
        return await callTool({ context, print }, request.tool, request.params);
      case "exec":
        return await execute(context, request);
      case "completion":
        return await complete(context, request, signal);
      case "agent":
        return await startAgent(context, request);
      case "glob":
        return await findPaths(context, request);
      case "readFile":
        return await readPart(context, request);
    }
  };

/** Tools of servers are there once their servers were asked for them. Listing the tools of a session is not cheap. */
async function findTool(tau: AnswerParts["tau"], context: ExtensionToolContext, name: string): Promise<void> {
  if (name.startsWith("mcp__") && !context.tools.some((tool) => tool.name === name)) await tau.findTools();
}

async function callTool(
  { context, print }: Pick<AnswerParts, "context" | "print">,
  tool: string,
  params: unknown,
): Promise<unknown> {
  if (refused.has(tool))
    throw new KernelError(
      "denied",
      `${tool} cannot be called from a cell. Call other tools by their names, and py or js.`,
    );
  const outcome = await context.executeTool(tool, toArguments(tool, params));
  const data = toData(tool, outcome);
  const remark = getRemark(tool, outcome);
  // The data does not show that it is not all.
  if (remark !== undefined) print(`${tool}: ${remark}\n`);
  return data;
}

/** All paths: code that gets a part of them would not know. */
async function findPaths(context: ExtensionToolContext, { pattern, cwd }: KernelRequest & { kind: "glob" }) {
  const outcome = await context.executeTool("find", { pattern, path: cwd, limit: maxPaths });
  const paths = toData("find", outcome);
  if (asRecord(outcome.result.details)["stoppedBy"] === undefined) return paths;
  throw new KernelError("failed", getRemark("find", outcome) ?? "Not all files could be found.");
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

/** A part of the lines of a text; `next` is the line after it, and null at the end. */
async function readPart(context: ExtensionToolContext, { path, offset }: KernelRequest & { kind: "readFile" }) {
  const outcome = await context.executeTool("read", { path, offset });
  const text = String(toData("read", outcome));
  const { shownLines, totalLines } = asRecord(outcome.result.details);
  if (typeof shownLines !== "number") return { text, next: null };
  // An image, or a line that is too long.
  if (shownLines === 0 && totalLines !== 0) throw new KernelError("failed", text);
  const next = offset + shownLines;
  const isLast = typeof totalLines === "number" && next > totalLines;
  return { text: text.split("\n").slice(0, shownLines).join("\n"), next: isLast ? null : next };
}
