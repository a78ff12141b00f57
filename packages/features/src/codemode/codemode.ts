/** The code of the feature `codemode`. */
import { systemClock } from "@tau/ai";
import { asRecord, getErrorMessage } from "@tau/ai/internal";
import type { ExtensionAPI, ExtensionFactory, ExtensionToolContext, FeaturePlace } from "@tau/extensions";
import { toVisibleLine } from "../kit/visible-text.ts";
import { toCallValue } from "./call-value.ts";
import { runScript } from "./engine/run-script.ts";
import { Slots } from "./engine/slots.ts";
import type { OutputItem } from "./engine/worker.ts";
import { codemodeTool } from "./feature.ts";
import { formatOutput, formatResult, isTooLong, limitOutput } from "./output.ts";
import { parseScriptOptions } from "./options.ts";
import { ScriptTools } from "./script-tools.ts";
import { readStore, storeEntryType, toEntryData } from "./store.ts";

/** A call that a script made, for people. */
interface NestedCall {
  readonly name: string;
  /** JSON of the arguments, cut. */
  readonly args: string;
  status: "running" | "ok" | "error" | "cancelled";
  durationMs?: number;
  error?: string;
  /** US dollars, of a call of a model. */
  cost?: number;
}

interface RunningCall extends NestedCall {
  /** On the monotonic clock. */
  readonly startMs: number;
}

interface CodemodeDetails {
  readonly calls: readonly NestedCall[];
  /** The file with the whole output, if it was cut. */
  readonly fullOutputPath?: string;
}

const maxShownArgs = 200;
const maxShownCalls = 256;
/** Others of the same script wait for their turn. */
const maxCallsAtOnce = 32;
const maxModelsAtOnce = 4;
/** Parts of the output of a command that a script gets, at its start and at its end. */
const maxCommandOutputPart = 512 * 1024;

/** `env` is that of the session. */
export const createCodemodeExtension =
  (env: FeaturePlace["env"]): ExtensionFactory =>
  (tau) => {
    tau.registerTool({
      ...codemodeTool,
      async execute(_id, args: unknown, signal, onUpdate, context) {
        const code = asRecord(args)["code"] as string;
        const { options, problem } = parseScriptOptions(code);
        if (problem !== undefined) throw new Error(problem);
        const tools = await listTools(tau, context, code);
        const calls = new ScriptCalls(tools, context, env);
        let shown = "";
        const result = await runScript({
          code,
          setup: { tools: tools.listForGuest(), store: readStore(context.sessionManager.getBranch()) },
          call: (method, given, callSignal) => calls.answer(method, given, callSignal),
          onOutput(items) {
            shown = keepTail(shown, items);
            onUpdate?.({ content: [{ type: "text", text: shown }], details: calls.details });
          },
          timeoutMs: options.timeoutMs,
          getPersonWaitMs: () => tau.getPersonWaitMs(),
          signal,
        });
        calls.end();
        const changes = result.end.kind === "completed" ? toEntryData(result.end.changes) : undefined;
        if (changes) tau.appendEntry(storeEntryType, changes);
        const output = formatOutput(result.items, await keepImages(tau, result.items));
        const isCut = isTooLong(output.text, options.maxOutputTokens);
        const fullOutputPath = isCut ? await tau.keepText(output.text) : undefined;
        const content = formatResult(
          addHint(result, code, tools),
          limitOutput(output, options.maxOutputTokens, fullOutputPath),
        );
        return {
          content: [...content],
          details: { ...calls.details, ...(fullOutputPath !== undefined && { fullOutputPath }) },
          ...(result.end.kind === "failed" && { isError: true }),
        };
      },
    });
  };

const maxUpdate = 20_000;

/** The end of the output, for people who watch the script. */
function keepTail(shown: string, items: readonly OutputItem[]): string {
  let added = "";
  for (const item of items.toReversed()) {
    if (added.length > maxUpdate) break;
    if (item.kind !== "image") added = `${item.text.slice(-maxUpdate)}\n${added}`;
  }
  return `${shown}${added}`.slice(-maxUpdate);
}

/** Writes the images of a script to files, one after the other, so that a later turn can use them. */
async function keepImages(tau: ExtensionAPI, items: readonly OutputItem[]): Promise<(string | undefined)[]> {
  const paths: (string | undefined)[] = [];
  for (const item of items) if (item.kind === "image") paths.push(await tau.keepImage(item));
  return paths;
}

/** Tools of servers are looked for only if the script may use them: that may take seconds. */
async function listTools(tau: ExtensionAPI, context: ExtensionToolContext, code: string): Promise<ScriptTools> {
  const found = /\b(?:ALL_TOOLS|searchTools|describeTool|describeNamespace|mcp__)/.test(code)
    ? await tau.findTools()
    : [];
  return new ScriptTools(context.tools, [...tau.getAllTools(), ...found]);
}

/** Names the tool that is not there: QuickJS says only that something is not a function. */
function addHint<R extends { end: { kind: string; message?: string } }>(
  result: R,
  code: string,
  tools: ScriptTools,
): R {
  if (result.end.kind !== "failed" || !/not a function/.test(result.end.message ?? "")) return result;
  const names = [...code.matchAll(/\btools\.([\p{ID_Continue}$]+)/gu)].map(([, name]) => name!);
  const missing = [...new Set(names)].filter((name) => tools.find(name) === undefined);
  if (missing.length === 0) return result;
  const message = `${result.end.message} There is no tool ${missing.join(", ")}; searchTools() finds tools.`;
  return { ...result, end: { ...result.end, message } };
}

/** The calls of one script. */
class ScriptCalls {
  readonly #tools: ScriptTools;
  readonly #context: ExtensionToolContext;
  readonly #env: FeaturePlace["env"];
  readonly #calls: RunningCall[] = [];
  readonly #slots = new Slots(maxCallsAtOnce);
  readonly #modelSlots = new Slots(maxModelsAtOnce);

  constructor(tools: ScriptTools, context: ExtensionToolContext, env: FeaturePlace["env"]) {
    this.#tools = tools;
    this.#context = context;
    this.#env = env;
  }

  get details(): CodemodeDetails {
    return { calls: this.#calls.slice(0, maxShownCalls).map(({ startMs: _startMs, ...call }) => call) };
  }

  /** Marks the calls that have not ended. */
  end(): void {
    for (const call of this.#calls) if (call.status === "running") call.status = "cancelled";
  }

  /** Answers a call of the script; see `Script.call`. */
  async answer(method: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "tool":
        return await this.#callTool(asRecord(args), signal);
      case "searchTools":
        return this.#tools.search(args);
      case "describeTool":
        return this.#tools.describe(args);
      case "describeNamespace":
        return this.#tools.describeNamespace(args);
      default:
        return await this.#askModels(method, args, signal);
    }
  }

  /** The catalogue is loaded by the first script that uses it. */
  async #askModels(method: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    const { answerModels, isListFunction, isRunFunction, runModel } = await import("./models/script-models.ts");
    const { modelRegistry } = this.#context;
    if (isListFunction(method)) return await answerModels(method, args, modelRegistry, this.#env);
    if (!isRunFunction(method)) throw new Error(`There is no function ${method}.`);
    const { provider, id } = asRecord(args);
    const call = this.#begin(`models.${method}`, { provider, id });
    const free = await this.#modelSlots.take(signal);
    const result = await runModel(method, args, modelRegistry, signal).finally(free);
    this.#end(call, result.stopReason === "stop", signal);
    if (result.errorMessage !== undefined) call.error = toVisibleLine(result.errorMessage, maxShownArgs);
    if (result.usage) call.cost = result.usage.cost.total;
    return result;
  }

  #begin(name: string, args: unknown): RunningCall {
    const call: RunningCall = {
      name,
      args: toVisibleLine(JSON.stringify(args) ?? "", maxShownArgs),
      status: "running",
      startMs: systemClock.monotonic(),
    };
    this.#calls.push(call);
    return call;
  }

  #end(call: RunningCall, isOk: boolean, signal: AbortSignal): number {
    call.durationMs = Math.round(systemClock.monotonic() - call.startMs);
    call.status = signal.aborted ? "cancelled" : isOk ? "ok" : "error";
    return call.durationMs;
  }

  async #callTool({ name, args }: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    const tool = this.#tools.find(String(name));
    if (!tool) throw new Error(`There is no tool ${String(name)}.`);
    const call = this.#begin(tool.name, args);
    const free = await this.#slots.take(signal);
    const outcome = await this.#context.executeTool(tool.name, args, { signal }).finally(free);
    const answer = toCallValue(tool, outcome, this.#end(call, !outcome.isError, signal));
    if (answer.kind === "value")
      return tool.name === "bash" ? await withWholeOutput(answer.value, this.#context) : answer.value;
    call.error = toVisibleLine(answer.message, maxShownArgs);
    throw new Error(answer.message);
  }
}

/**
 * Reads more of the output of a command than the model would be shown, from the file that has all of it. With the permissions of the
 * call: an extension may have replaced `bash` and name any path, and a command may have put a link there.
 */
async function withWholeOutput(value: unknown, { ports }: ExtensionToolContext): Promise<unknown> {
  const { full_output_path: path, truncated } = asRecord(value);
  if (typeof path !== "string" || truncated !== true) return value;
  try {
    const file = await ports!.files.openRead(path);
    try {
      const { size } = file;
      const read = async (position: number, length: number): Promise<string> => {
        const buffer = Buffer.alloc(length);
        return buffer.toString("utf8", 0, await file.read(buffer, position));
      };
      const limit = 2 * maxCommandOutputPart;
      if (size <= limit) return { ...asRecord(value), output: await read(0, size), truncated: false };
      const [head, tail] = [
        await read(0, maxCommandOutputPart),
        await read(size - maxCommandOutputPart, maxCommandOutputPart),
      ];
      return { ...asRecord(value), output: `${head}\n[… ${size - limit} bytes were left out …]\n${tail}` };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ...asRecord(value), note: `The whole output could not be read: ${getErrorMessage(error)}` };
  }
}
