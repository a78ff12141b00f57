/** Summaries of conversations by a model. */
import type { AgentMessage, StreamFn } from "@tau/agent";
import { emptyUsage, type Model, type ModelThinkingLevel, streamSimple, type Usage } from "@tau/ai";
import { addUsage, resolveCompactionSettings, summarise, summaryTokens, type SummaryTask } from "@tau/harness/session";
import { type FileLists, formatFiles, listFiles } from "./file-operations.ts";
import type { CompactionPreparation } from "./prepare.ts";

export interface CompactionResult<TDetails = unknown> {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: TDetails;
  usage?: Usage;
}

export interface SummaryRequest {
  apiKey?: string | undefined;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  streamFn?: StreamFn | undefined;
  /** Counts for a model that can think. Default `off`. */
  thinkingLevel?: ModelThinkingLevel | undefined;
}

/** Throws if the model gives no summary. */
export async function requestSummary(
  model: Model,
  task: Pick<SummaryTask, "kind" | "messages" | "previousSummary" | "instructions" | "replaceInstructions"> & {
    reserveTokens?: number | undefined;
  },
  { apiKey, headers, signal, streamFn = streamSimple, thinkingLevel = "off" }: SummaryRequest,
): Promise<{ text: string; usage: Usage }> {
  const { reserveTokens, ...others } = task;
  const settings = resolveCompactionSettings(reserveTokens === undefined ? {} : { reserveTokens }, model);
  const requestOptions = {
    ...(apiKey !== undefined && { apiKey }),
    ...(headers && { headers }),
    ...(model.reasoning && thinkingLevel !== "off" && { reasoning: thinkingLevel }),
  };
  const summariser = { model, streamFn, requestOptions, ...(signal && { signal }) };
  const result = await summarise(summariser, { ...others, settings, maxTokens: summaryTokens(settings, model) });
  if (result.kind === "summary") return { text: result.summary, usage: result.usage };
  throw new Error(
    result.kind === "aborted" ? "Summarization aborted" : `Summarization failed: ${result.failure.message}`,
  );
}

type Headers = Record<string, string>;

/** Arguments after the key. Before version 1.5 there were no headers, and the arguments after them came first. */
type SummaryArguments = [
  headers?: Headers,
  signal?: AbortSignal,
  instructions?: string,
  previousSummary?: string,
  thinkingLevel?: ModelThinkingLevel,
  streamFn?: StreamFn,
];

export async function generateSummaryWithUsage(
  messages: readonly AgentMessage[],
  model: Model,
  reserveTokens: number | undefined,
  apiKey: string | undefined,
  ...rest: readonly unknown[]
): Promise<{ text: string; usage: Usage }> {
  const isOld = rest[0] instanceof AbortSignal || typeof rest[1] === "string";
  const [headers, signal, instructions, previousSummary, thinkingLevel, streamFn] = (
    isOld ? [undefined, ...rest] : rest
  ) as SummaryArguments;
  const task = { kind: "history" as const, messages, previousSummary, instructions, reserveTokens };
  return await requestSummary(model, task, { apiKey, headers, signal, streamFn, thinkingLevel });
}

export async function generateSummary(
  messages: readonly AgentMessage[],
  model: Model,
  reserveTokens: number | undefined,
  apiKey: string | undefined,
  ...rest: readonly unknown[]
): Promise<string> {
  return (await generateSummaryWithUsage(messages, model, reserveTokens, apiKey, ...rest)).text;
}

type CompactArguments = [
  headers?: Headers,
  instructions?: string,
  signal?: AbortSignal,
  thinkingLevel?: ModelThinkingLevel,
  streamFn?: StreamFn,
];

export async function compact(
  preparation: CompactionPreparation,
  model: Model,
  apiKey: string | undefined,
  ...rest: readonly unknown[]
): Promise<CompactionResult<FileLists>> {
  const isOld = typeof rest[0] === "string" || rest[1] instanceof AbortSignal;
  const [headers, instructions, signal, thinkingLevel, streamFn] = (
    isOld ? [undefined, ...rest] : rest
  ) as CompactArguments;
  return await summarizePreparation(preparation, {
    model,
    instructions,
    apiKey,
    headers,
    signal,
    streamFn,
    thinkingLevel,
  });
}

interface CompactionRequest extends SummaryRequest {
  model: Model;
  instructions?: string | undefined;
}

/** The beginning of a turn that is split gets a summary of its own. */
export async function summarizePreparation(
  preparation: CompactionPreparation,
  { model, instructions, ...request }: CompactionRequest,
): Promise<CompactionResult<FileLists>> {
  const { messagesToSummarize, turnPrefixMessages, previousSummary, firstKeptEntryId, tokensBefore } = preparation;
  const { reserveTokens } = preparation.settings;
  const parts: string[] = [];
  let usage = emptyUsage();
  const summarize = async (task: Parameters<typeof requestSummary>[1]) => {
    const summary = await requestSummary(model, { ...task, reserveTokens }, request);
    usage = addUsage(usage, summary.usage);
    return summary.text;
  };
  if (messagesToSummarize.length > 0 || turnPrefixMessages.length === 0) {
    parts.push(await summarize({ kind: "history", messages: messagesToSummarize, previousSummary, instructions }));
  } else if (previousSummary !== undefined) parts.push(previousSummary);
  if (turnPrefixMessages.length > 0) {
    const text = await summarize({ kind: "turn", messages: turnPrefixMessages });
    parts.push(`**Turn Context (split turn):**\n\n${text}`);
  }
  const details = listFiles(preparation.fileOps);
  const summary = parts.join("\n\n---\n\n") + formatFiles(details);
  return { summary, firstKeptEntryId, tokensBefore, details, usage };
}
