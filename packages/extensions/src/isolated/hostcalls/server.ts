/** Answers the hostcalls of one extension: declared, within its quota, judged, done, and the failures written down. */
import { getErrorMessage, PendingWork, SerialQueue } from "@tau/ai/internal";
import type { AccessRequest } from "@tau/tools";
import { evaluateFor, isDangerous, type PolicyReason, type Capability } from "@tau/policy";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import type { KillReason, KillRules } from "../kill-rules.ts";
import type { HostcallFailure, SyncReply } from "../messages.ts";
import type { HostcallJudge, IsolatedPorts } from "../ports.ts";
import type { HostcallContext } from "../process-link.ts";
import type { Breach, QuotaMeter } from "../quota.ts";
import { actCalls, getVariable } from "./exec.ts";
import { fileCalls } from "./files.ts";
import {
  type Hostcall,
  HostcallFault,
  type HostcallRun,
  type Hostcalls,
  type HostConnection,
  wholeCapability,
} from "./hostcall.ts";
import { httpCall } from "./http.ts";
import { providerCalls } from "./providers.ts";
import { readCalls } from "./reads.ts";
import { sessionCalls } from "./session.ts";
import { uiCalls } from "./ui.ts";

const table: Hostcalls = {
  ...readCalls,
  ...sessionCalls,
  ...providerCalls,
  ...uiCalls,
  ...fileCalls,
  ...actCalls,
  http: httpCall,
};

interface ServerParts {
  ports: IsolatedPorts;
  /** The name of the extension. */
  extension: string;
  quota: QuotaMeter;
  rules: KillRules;
  /** Returns the capabilities that it declared to need; undefined if it declared nothing. */
  getDeclared: () => readonly Capability[] | undefined;
  kill: (reason: KillReason) => void;
}

/** Where each step of the policy is set. */
const settings: Readonly<Record<PolicyReason, string>> = {
  extension_deny: "policy.perExtension",
  deny_caps: "policy.denyCaps",
  extension_allow: "policy.perExtension",
  default_caps: "policy.defaultCaps",
  mode: "policy.defaultCaps",
};

const hasInterface = ({ mode }: ExtensionSessionPort): boolean => mode === "tui" || mode === "rpc";

/** Capabilities that need no declaration: it is the extension itself that is asked. */
const undeclared: ReadonlySet<Capability> = new Set(["events", "tool", "log"]);

export class HostcallServer {
  readonly #parts: ServerParts;
  readonly #judge: HostcallJudge;
  /** Why it does not get a capability as a whole: asked once, and not again for each call. */
  readonly #refused = new Map<Capability, string>();
  readonly #questions = new Map<Capability, SerialQueue>();
  /** Decisions that are not written down yet. */
  readonly #deciding = new PendingWork();

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#judge = parts.ports.createJudge(parts.extension);
  }

  /** Never rejects. */
  async handle(
    method: string,
    args: readonly unknown[],
    context: HostcallContext,
    connection: HostConnection,
  ): Promise<SyncReply> {
    const id = this.#parts.ports.ids();
    try {
      const call = Object.hasOwn(table, method) ? table[method] : undefined;
      if (!call) throw new HostcallFault("invalid_request", `There is no hostcall ${method}.`);
      return { value: await this.#answer(call, { id, method, args, context, connection }) };
    } catch (error) {
      return { error: toFailure(error) };
    } finally {
      this.#judge.endCall(id);
    }
  }

  /** Why it gets no events; undefined if it does. */
  async judgeEvents(signal: AbortSignal): Promise<string | undefined> {
    const { ports, extension } = this.#parts;
    const id = ports.ids();
    const access = wholeCapability("events", extension);
    const summary = `The extension ${extension} listens to events.`;
    const call = { id, method: "events", args: [], access, summary };
    const reason = await this.#deciding.add(this.#judge.judge(call, signal));
    this.#judge.endCall(id);
    return reason;
  }

  /** Whether it may read the conversation. Asked once, like its own reads of the session. */
  async mayReadSession(signal: AbortSignal): Promise<boolean> {
    if (!this.#isDeclared("session")) return false;
    const { ports, extension } = this.#parts;
    const id = ports.ids();
    const [access] = wholeCapability("session", extension);
    const reason = await this.#judgeWhole({ id, method: "route", args: [], context: { signal } }, access!);
    this.#judge.endCall(id);
    return reason === undefined;
  }

  /** Resolves when every decision is written down. Hostcalls themselves may wait for the end of the session. */
  async settle(): Promise<void> {
    await this.#deciding.whenSettled();
  }

  async #answer(call: Hostcall, asked: Asked): Promise<unknown> {
    const { ports, quota } = this.#parts;
    const { id, method, args, context } = asked;
    const session = ports.getSession();
    const facts = { session, isIsolatedProvider: ports.providers.isIsolated };
    const isHidden = call.shows && session && !hasInterface(session);
    const access = isHidden ? [] : call.access(args, this.#parts.extension, facts);
    if (!call.isRead) await this.#spend(quota.countCall(), method, access);
    if (method === "env" && getVariable(ports, args) === undefined) return undefined;
    if (call.refuses) throw await this.#deny(asked, access, "isolated", call.refuses(args));
    const undeclaredAccess = access.find(({ capability }) => !this.#isDeclared(capability));
    if (undeclaredAccess) {
      const reason = `The extension does not declare that it needs ${undeclaredAccess.capability}.`;
      throw await this.#deny(asked, [undeclaredAccess], "not-declared", reason);
    }
    if (!session && !call.isEarly) throw new HostcallFault("internal", "The session has not begun yet.");
    const reason = access.length > 0 ? await this.#judgeCall(asked, access) : undefined;
    if (reason !== undefined) throw new HostcallFault("denied", this.#addAdvice(reason, access));
    const breaches: (Breach | undefined)[] = [];
    const run: HostcallRun = {
      ports,
      extension: this.#parts.extension,
      session: session as HostcallRun["session"],
      signal: context.signal,
      onProgress: context.onProgress,
      connection: asked.connection,
      files: () => this.#judge.createFiles(id),
      quota,
      spend: (breach) => {
        breaches.push(breach);
        if (breach) throw new HostcallFault("denied", breach.message);
      },
    };
    try {
      return await call.run?.(args, run);
    } catch (error) {
      for (const breach of breaches) await this.#spend(breach, method, access);
      if (error instanceof HostcallFault && error.code === "denied")
        throw await this.#deny(asked, access, "isolated", error.message);
      throw error;
    }
  }

  #isDeclared(capability: Capability): boolean {
    const declared = this.#parts.getDeclared();
    return declared === undefined || undeclared.has(capability) || declared.includes(capability);
  }

  async #judgeCall(asked: Asked, access: readonly AccessRequest[]): Promise<string | undefined> {
    const { extension } = this.#parts;
    const whole = access.find(({ target }) => target.kind === "name" && target.name === extension);
    if (!whole) return await this.#judgeAccess(asked, access);
    const others = access.filter((each) => each !== whole);
    const reason = await this.#judgeWhole(asked, whole);
    return reason !== undefined || others.length === 0 ? reason : await this.#judgeAccess(asked, others);
  }

  /** Asks for one call after the other: the answer to the first applies to those that wait. */
  async #judgeWhole(asked: JudgedCall, access: AccessRequest): Promise<string | undefined> {
    const { capability } = access;
    return await this.#getQuestions(capability).add(async () => {
      const known = this.#refused.get(capability);
      if (known !== undefined) return known;
      // While extensions load nobody can be asked, which says nothing about the session.
      const isLoading = this.#parts.ports.getSession() === undefined;
      const reason = await this.#judgeAccess(asked, [access]);
      if (reason !== undefined && !isLoading && !asked.context.signal.aborted) this.#refused.set(capability, reason);
      return reason;
    });
  }

  #getQuestions(capability: Capability): SerialQueue {
    const queue = this.#questions.get(capability) ?? new SerialQueue();
    this.#questions.set(capability, queue);
    return queue;
  }

  async #judgeAccess(
    { id, method, args, context }: JudgedCall,
    access: readonly AccessRequest[],
  ): Promise<string | undefined> {
    const { extension, rules, kill } = this.#parts;
    const summary = `The extension ${extension} calls ${method}.`;
    const reason = await this.#deciding.add(this.#judge.judge({ id, method, args, access, summary }, context.signal));
    if (access.some(({ capability }) => isDangerous(capability))) {
      const kills = rules.noteDangerous(reason === undefined ? "allowed" : "denied");
      if (kills) kill(kills);
    }
    return reason;
  }

  /** Adds what the user can do about a capability that the policy does not give. */
  #addAdvice(reason: string, access: readonly AccessRequest[]): string {
    const { extension, ports } = this.#parts;
    const checks = access.map(({ capability }) => evaluateFor(capability, extension, ports.getPolicy()));
    const denied = checks.find(({ decision }) => decision === "deny");
    if (!denied) return reason;
    return `${reason} To allow it, change the setting ${settings[denied.reason]}, or trust the extension: tau extensions trust ${extension}`;
  }

  /** Throws for a breach, after counting it. */
  async #spend(breach: Breach | undefined, method: string, access: readonly AccessRequest[]): Promise<void> {
    if (!breach) return;
    if (breach.isNew) {
      await this.#audit(method, access, "quota", breach.message);
      const kills = this.#parts.rules.noteBreach(breach.message);
      if (kills) this.#parts.kill(kills);
    }
    throw new HostcallFault("denied", breach.message);
  }

  /** The failure, once it is written down. */
  async #deny(
    { method }: Asked,
    access: readonly AccessRequest[],
    rule: string,
    reason: string,
  ): Promise<HostcallFault> {
    await this.#audit(method, access, rule, reason);
    return new HostcallFault("denied", reason);
  }

  async #audit(method: string, access: readonly AccessRequest[], rule: string, reason: string): Promise<void> {
    const { ports, extension } = this.#parts;
    const { capability, target } = access[0] ?? { capability: "events", target: { kind: "name", name: method } };
    const subject = { kind: "extension", name: extension } as const;
    const request = { subject, capability, target };
    const toolName = `${extension}: ${method}`;
    const fact = { toolCallId: ports.ids(), toolName, request, rule, outcome: "denied", reason } as const;
    await this.#deciding.add(Promise.resolve(ports.audit(fact)));
  }
}

interface JudgedCall {
  id: string;
  method: string;
  args: readonly unknown[];
  context: Pick<HostcallContext, "signal">;
}

interface Asked extends JudgedCall {
  context: HostcallContext;
  connection: HostConnection;
}

const toFailure = (error: unknown): HostcallFailure =>
  error instanceof HostcallFault
    ? { code: error.code, message: error.message }
    : { code: isAbort(error) ? "timeout" : "internal", message: getErrorMessage(error) };

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";
