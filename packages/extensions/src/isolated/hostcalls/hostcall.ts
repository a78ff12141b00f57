/** A kind of hostcall: what it wants, and what it does once it is allowed. */
import type { AgentToolUpdate } from "@tau/agent";
import type { AccessRequest, Capability, Files } from "@tau/tools";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import type { EventBus } from "../../api/api.ts";
import type { HostcallErrorCode, HostMessage } from "../messages.ts";
import type { IsolatedPorts } from "../ports.ts";
import type { QuotaMeter } from "../quota.ts";

/** A failure that is sent to the extension, with its code. */
export class HostcallFault extends Error {
  override readonly name = "HostcallFault";
  readonly code: HostcallErrorCode;

  constructor(code: HostcallErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface HostcallRun {
  ports: IsolatedPorts;
  extension: string;
  session: ExtensionSessionPort;
  signal: AbortSignal;
  onProgress: (update: AgentToolUpdate) => void;
  /** Sends messages to the process, besides the reply. */
  connection: HostConnection;
  /** With what was allowed for this call. */
  files: () => Files;
  quota: QuotaMeter;
  /** Counts a breach, and fails the call with it. */
  spend: (breach: ReturnType<QuotaMeter["countRequest"]>) => void;
}

/** The process that a hostcall came from, as far as hostcalls continue after their reply. */
export interface HostConnection {
  send(message: HostMessage): void;
  /** Names a run by a number. Its abort is reported. */
  nameRun(signal: AbortSignal): number;
  /** Forwards what is emitted on the channel from now on. */
  listen(channel: string, bus: EventBus): void;
}

export type Args = readonly unknown[];

/** The facts that a call may depend on besides its arguments. */
export interface HostcallFacts {
  /** Undefined before it has begun. */
  session: ExtensionSessionPort | undefined;
  isIsolatedProvider: IsolatedPorts["providers"]["isIsolated"];
}

export interface Hostcall {
  /** Returns the access that the extension wants; none where it changes nothing and reveals nothing of the user. */
  access: (args: Args, extension: string, facts: HostcallFacts) => readonly AccessRequest[];
  /** It is never done; this says why and what to do instead. It is written down like every denial. */
  refuses?: (args: Args) => string;
  /** Reads of the session's state do not count as calls: in process they are no calls either. */
  isRead?: boolean;
  /** Needs no session. */
  isEarly?: boolean;
  /** Shows something. Without an interface nothing is shown, and there is nothing to judge. */
  shows?: boolean;
  run?: (args: Args, run: HostcallRun) => unknown;
}

/** A capability as a whole, of this extension: a person is asked once for it, not for each kind of call. */
export const wholeCapability = (capability: Capability, extension: string): AccessRequest[] => [
  { capability, target: { kind: "name", name: extension } },
];

export type Hostcalls = Readonly<Record<string, Hostcall>>;

export function takeText(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw new HostcallFault("invalid_request", `${what} must be a text.`);
}

export function takeRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new HostcallFault("invalid_request", `${what} must be an object.`);
}

export function takeTexts(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new HostcallFault("invalid_request", `${what} must be a list of texts.`);
}

/** Names that begin like this are those of tau's own entries, such as decisions of the policy. */
export function takeCustomType(value: unknown): string {
  const name = takeText(value, "The type");
  if (!name.startsWith("tau.")) return name;
  throw new HostcallFault("denied", "Types that begin with tau. are tau's own.");
}
