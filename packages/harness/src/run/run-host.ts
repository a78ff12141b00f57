/** The session as its runs see it. */
import type { AgentLoopConfig, AgentTool, StreamFn, ThinkingLevel } from "@tau/agent";
import type { Clock, Ids, Model, StreamOptions, TextContent, ToolCall } from "@tau/ai";
import type { Approval, CustomMessage } from "@tau/protocol";
import type { RunExtensions } from "@tau/extensions/internal";
import type { GetTouches } from "../compaction/files.ts";
import type { Tracer } from "../observe/trace.ts";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { Session } from "../session/session.ts";
import type { Settings } from "@tau/config/settings";
import type { RunningCalls } from "./running-calls.ts";
import type { Inbox } from "./inbox.ts";
import type { Publisher } from "./publisher.ts";
import type { PrefixTracker } from "../request/prefix-tracker.ts";
import type { Transcript } from "./transcript.ts";
import type { UsedModel } from "./used-model.ts";

/** The model, the prompt and the tools of the next turn. */
interface CurrentChoices {
  model: Model;
  thinkingLevel: ThinkingLevel;
  systemPrompt: SystemPrompt;
  tools: readonly AgentTool[];
}

/** The calls that wait for an answer after their run. */
interface WaitingCalls {
  /** A call of the current answer waits, so those after it wait too. */
  readonly hasAsked: boolean;
  /** Returns the questions that the run ends with, and forgets that they are of this run. */
  takeAsked(): readonly Approval[];
  /** Gives those that wait the outcome that nobody has answered. */
  settle(): Promise<void>;
}

export interface RunHost {
  /** Undefined without extensions. */
  readonly extensions: RunExtensions | undefined;
  /** Where relative paths of calls begin. */
  readonly cwd: string;
  readonly session: Session;
  readonly transcript: Transcript;
  readonly inbox: Inbox;
  readonly publisher: Publisher;
  /** Takes reports for the model about jobs that have ended since the last request. */
  readonly takeReports: () => CustomMessage[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** Asks a model, with keys and headers. */
  readonly ask: StreamFn;
  readonly settings: () => Settings;
  /** Says which model and key the next request uses. `current` has the model. */
  readonly used: UsedModel;
  readonly current: () => CurrentChoices;
  /** The model that writes summaries. Undefined: the current one. */
  readonly getSummaryModel: () => Model | undefined;
  /** Finds a tool that can be called although requests do not list it. */
  readonly findTool: NonNullable<AgentLoopConfig["findTool"]>;
  /** Notes a call that has been executed, which may decide about the role of the run. */
  readonly noteCall: (call: ToolCall) => void;
  /** Uses the role that calls of the last turn have decided. */
  readonly takeCalls: () => Promise<void>;
  /** Returns what the prompt, or whoever created the session, chose for the next request. */
  readonly getRequestChoices: () => Pick<StreamOptions, "output" | "toolChoice">;
  /** Finds instructions for files that a call touched and that the model does not have yet. */
  readonly findInstructions: (paths: readonly string[]) => Promise<TextContent | undefined>;
  /** Which files a call touched. */
  readonly touches: GetTouches;
  /** Judges each call. */
  readonly judge: NonNullable<AgentLoopConfig["beforeToolCall"]>;
  /**
   * Lets extensions know, those of the session that this one works for if there is one, that a call which may write or execute is
   * about to begin. Never rejects.
   */
  readonly beforeFilesChange: (call: Pick<ToolCall, "id" | "name">) => Promise<void>;
  readonly questions: WaitingCalls;
  /** The calls that are being executed, for those that their tools make. */
  readonly calls: RunningCalls;
  /** Called when a call that was judged is over. */
  readonly endCall: (toolCallId: string) => void;
  /** Returns what the user said to the model when they allowed the call. */
  readonly getCallMessage: (toolCallId: string) => string | undefined;
  /** Keeps what is too long for the model in a file, and answers with its path. */
  readonly keep: (text: string) => Promise<string | undefined>;
  /** Keeps bytes in a file with this extension, and answers with its path. */
  readonly keepBytes: (bytes: Uint8Array, extension: string) => Promise<string>;
  /** Replaces the paths of kept results in the arguments of a call, where another process has kept them. */
  readonly restoreResults: (args: Record<string, unknown>) => Promise<void>;
  /** See `AgentSessionParams.waitsForBusyProvider`. */
  readonly waitsForBusyProvider: boolean;
  readonly tracer: Tracer | undefined;
  readonly agentName: string | undefined;
  readonly resumedFrom: string | undefined;
  /** Remembers the last request, for the next to be compared with. */
  readonly sent: PrefixTracker;
}
