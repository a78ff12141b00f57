/** Ports through which isolated extensions use the program around them. */
import type { Clock, Ids } from "@tau/ai";
import type { Address } from "@tau/sandbox/internal";
import type { AccessRequest, Files } from "@tau/tools";
import type { ExtensionPolicy, Audit } from "@tau/policy";
import type { EventBus, FlagDefinition } from "../api/api.ts";
import type { ExtensionProblem } from "../api/extension.ts";
import type { LogExtension } from "../api/object-form.ts";
import type { ProviderPort } from "../providers/providers.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";
import type { StreamBatch } from "./stream-batch.ts";

/** A hostcall, as the policy judges it. */
export interface JudgedHostcall {
  id: string;
  /** Such as `exec`, for people and the audit. */
  method: string;
  args: unknown;
  access: readonly AccessRequest[];
  /** Says in one sentence what the call would do. */
  summary: string;
}

export interface HostcallJudge {
  /** Why it is denied; undefined if it may continue. Writes the decision down. Never rejects. */
  judge(call: JudgedHostcall, signal: AbortSignal): Promise<string | undefined>;
  /** Files with the permissions of one hostcall. */
  createFiles(id: string): Files;
  /** Takes back what was granted for one hostcall. */
  endCall(id: string): void;
}

export interface HostNetwork {
  /** All addresses of a name. */
  lookup: (name: string) => Promise<readonly Address[]>;
  /** Whether an extension may reach it: not what is in this machine or its own network. */
  isOpen: (address: Address) => boolean;
}

export interface IsolatedPorts {
  /** The JavaScript file of the process, and what it reads besides itself. */
  program: { path: string; readable: readonly string[] };
  agentDir: string;
  home: string;
  cwd: string;
  /** The environment of which extensions may ask for variables. */
  env: Readonly<Record<string, string | undefined>>;
  getPolicy: () => ExtensionPolicy;
  /** With the extension as its subject. */
  createJudge: (extension: string) => HostcallJudge;
  audit: Audit;
  /** Undefined before the session has begun. */
  getSession: () => ExtensionSessionPort | undefined;
  flagValues: ReadonlyMap<string, boolean | string>;
  findFlag: (name: string) => FlagDefinition | undefined;
  events: EventBus;
  log: LogExtension;
  report: (problem: ExtensionProblem) => void;
  /** The input of a tool call was changed by this extension, so it is judged for the extension too. */
  onInputChanged: (toolCallId: string, extension: string) => void;
  /** Called after virtual models were registered or removed. Default: nobody wants to know. */
  onVirtualModelsChange?: (() => void) | undefined;
  /** The providers of all isolated extensions. */
  providers: Pick<ProviderPort, "isIsolated" | "registerIsolated" | "unregisterIsolated">;
  /** Shared by all isolated extensions of a session. */
  stream: StreamBatch;
  network: HostNetwork;
  clock: Clock;
  ids: Ids;
}
