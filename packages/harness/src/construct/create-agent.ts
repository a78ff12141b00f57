/** The three-line version: an AI, tools by name, and a text in, a text out. */
import type { AgentMessage, StreamFn } from "@tau/agent";
import {
  type AI,
  type AssistantMessage,
  modelsAreEqual,
  type OutputOf,
  type OutputSchema,
  streamSimple,
  systemClock,
  systemIds,
  type ToolChoice,
  type Usage,
} from "@tau/ai";
import type { PromptOutcome } from "../agent-session/activity.ts";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { HostedSession, openView } from "../host/hosted-session.ts";
import { resumeEvents, RunStream, type SentEvents, startRun, type StreamOptions } from "../host/run-stream.ts";
import { sumUsage } from "../run/sum-usage.ts";
import { createSessionFrameRedactor } from "../observe/frame-redactor.ts";
import type { DefinedTool } from "@tau/extensions";
import { type AgentGuards, applyGuards } from "./agent-guards.ts";
import { type AgentToolOptions, createAgentTool } from "./agent-tool.ts";
import { createAgentSession } from "./create-agent-session.ts";
import type { AgentSessionParams } from "./params.ts";
import { HarnessError } from "@tau/protocol";
import { createCheck, fn, param, withMethods } from "@tau/config/internal";
import { jsonObject, list, object } from "@tau/config/fields";

export interface CreateAgentOptions extends Omit<AgentSessionParams, "model" | "streamFn"> {
  ai: AI;
  /** Look at the prompts and the answers of `run`, and of the tool that `asTool` creates. Default: none. */
  guards?: AgentGuards;
}

interface RunOptions extends StreamOptions {
  /** Whether the first request may, must or must not call tools, or which one it must call. Default: that of the agent. */
  toolChoice?: ToolChoice;
}

/** An answer of a given form. */
interface RunResult<Value> {
  value: Value;
  /** The tokens and the cost of all requests, corrections included. */
  usage: Usage;
  /** Everything that was said. */
  messages: readonly AgentMessage[];
}

/** An agent with one session. It is made when the agent first runs, and kept where `createAgentSession` keeps it. */
export interface SimpleAgent {
  /**
   * Runs to the end and resolves with the answer's text. Rejects with `HarnessError` `run_failed` when there is none, and
   * when a limit ended the run: what the model said last is then no answer, or only the beginning of one.
   */
  run(text: string, options?: RunOptions): Promise<string>;
  /**
   * Resolves with a value that fits the schema. An answer that does not fit is sent back at most twice; then it rejects with
   * `run_failed` and what is wrong.
   */
  run<Schema extends OutputSchema>(
    text: string,
    options: RunOptions & { output: Schema },
  ): Promise<RunResult<OutputOf<Schema>>>;
  /**
   * Runs to the end, and gives the events as they come: `for await (const event of agent.stream(text))`. `result()` of it resolves with
   * how the run ended, and `toResponse()` and `pipeTo(response)` send it to a client over HTTP. tau's own keys are not in the events.
   */
  stream(text: string, options?: StreamOptions): RunStream;
  /**
   * Sends a client that lost its connection what came after the event with this id (the header `Last-Event-ID`), until the
   * session is idle. Rejects with `invalid_input` for a text that is no id.
   */
  resume(lastEventId?: string): Promise<SentEvents>;
  /**
   * Creates a tool with which another agent gives work to this one. Each call is answered in a child of the session that calls: with this
   * agent's prompt, model and tools, and the directory, policy, sandbox, questions and at most the budget of that session. Throws
   * `invalid_input` for an agent with parameters that would not apply there, such as `cwd` or `decide`.
   */
  asTool(options: AgentToolOptions): DefinedTool;
  /** The session behind it, for everything else. Guards do not look at what is done with it. */
  session(): Promise<AgentSession>;
  dispose(): Promise<void>;
}

const guardList = list(fn);

const checkOptions = createCheck({
  options: jsonObject,
  guards: object({ input: param(guardList), output: param(guardList) }),
  ai: withMethods("an AI, such as one of createAI", "streamSimple"),
});

export function createAgent(options: CreateAgentOptions): SimpleAgent {
  checkOptions({ options });
  const { ai, guards, ...params } = options;
  checkOptions({ ai });
  checkOptions(guards ? { guards } : {});
  /** The key that is bound to the AI is only for its own model. */
  const streamFn: StreamFn = (model, context, streamOptions) => {
    if (!modelsAreEqual(model, ai.model)) return streamSimple(model, context, streamOptions);
    if (streamOptions?.apiKey !== undefined) return ai.streamSimple(context, streamOptions);
    // The key of `createAI` is used, about which the session knows nothing.
    const { keyHint: _hint, ...own } = streamOptions ?? {};
    return ai.streamSimple(context, own);
  };
  const source = { model: ai.model, streamFn };
  let opened: Promise<AgentSession> | undefined;
  const open = async () => {
    return await createAgentSession({ ...params, ...source });
  };
  const session = () => {
    opened ??= open().catch((error: unknown) => {
      // The caller may correct the cause and try again.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const { clock = systemClock, ids = systemIds } = params;
  let following: Promise<HostedSession> | undefined;
  const host = () =>
    (following ??= (async () => {
      const opened = await session();
      const hosted = new HostedSession(opened, { epoch: ids(), view: await openView(opened) });
      hosted.redactWith(createSessionFrameRedactor(opened));
      return hosted;
    })().catch((error: unknown) => {
      following = undefined;
      throw error;
    }));
  function run(text: string, runOptions?: RunOptions): Promise<string>;
  function run<Schema extends OutputSchema>(
    text: string,
    runOptions: RunOptions & { output: Schema },
  ): Promise<RunResult<OutputOf<Schema>>>;
  async function run(
    text: string,
    runOptions: RunOptions & { output?: OutputSchema } = {},
  ): Promise<string | RunResult<unknown>> {
    const { signal } = runOptions;
    await applyGuards("input", guards, { text, signal });
    const outcome = await (await session()).prompt(text, runOptions);
    if (outcome.kind !== "ran")
      throw new HarnessError("busy", "A run is already in progress. Wait for it before you start another.");
    const result = runOptions.output ? toResult(outcome) : toText(outcome);
    await applyGuards("output", guards, { text: outcome.answer ? getAnswerText(outcome.answer) : "", signal });
    return result;
  }
  return {
    session,
    stream: (text, streamOptions = {}) => {
      if (guards?.output?.length) throw new HarnessError("invalid_input", unguarded);
      const { signal } = streamOptions;
      const start = async (started: StreamOptions) => {
        await applyGuards("input", guards, { text, signal });
        return await startRun(await host(), text, started);
      };
      return new RunStream(streamOptions, start, clock);
    },
    resume: async (lastEventId) => resumeEvents(await host(), lastEventId, clock),
    run,
    asTool: (toolOptions) => createAgentTool(toolOptions, { params, source, guards, toText }),
    async dispose() {
      if (opened) await (await opened).dispose();
    },
  };
}

const waiting =
  "The run waits for an answer: `getQuestions`, `approve` and `resume` of the session list the questions, answer them and continue.";

const unguarded =
  "An agent with output guards cannot stream: a guard sees an answer when it is whole, and parts of it would have been sent. Use run.";

type Ran = Extract<PromptOutcome, { kind: "ran" }>;

function toText({ end, answer, ...outcome }: Ran): string {
  if (end.kind === "asked") throw new HarnessError("run_failed", waiting);
  if ((end.kind !== "done" && end.kind !== "stopped") || !answer) throw toError(outcome);
  return getAnswerText(answer);
}

const getAnswerText = ({ content }: AssistantMessage): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

function toResult({ output, messages, ...outcome }: Ran): RunResult<unknown> {
  if (!output) throw toError(outcome);
  if (output.kind === "fits") return { value: output.value, usage: sumUsage(messages), messages };
  throw new HarnessError("run_failed", `The answer does not fit its schema, also after corrections: ${output.problem}`);
}

function toError({ terminationReason, detail, failure }: Pick<Ran, "terminationReason" | "detail" | "failure">) {
  const why = failure?.message ?? detail ?? "it was given no answer";
  return new HarnessError("run_failed", `The run ended for the reason ${terminationReason}: ${why}`);
}
