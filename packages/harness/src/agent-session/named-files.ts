/** Files that prompts and commands name: opened with the person's authority, or with that of the model's own tools. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Ids } from "@tau/ai";
import type { AccessRequest, Files } from "@tau/tools";
import { expandHome } from "@tau/config/internal";
import { createJudge, type JudgeParts, judgeTarget } from "@tau/policy/internal";

/**
 * Whose rights apply to files that prompts and commands name. `person`: everything of the user but credentials. `model`: what
 * the model's tools may open, with the same policy, questions and audit. For everybody who is not at this terminal.
 */
export type FileAuthority = "person" | "model";

export interface NamedAccess {
  capability: "read" | "write";
  /** The path as it was typed: relative to the working directory, or with `~`. */
  path: string;
  /** The tool or command that wants it, for the question and the audit. */
  by: string;
  /** Default: that of the session. It can only make it stricter. */
  authority?: FileAuthority | undefined;
  /** Ends an open question; then the access is denied. */
  signal?: AbortSignal | undefined;
}

type NamedOutcome<T> = { kind: "done"; value: T } | { kind: "denied"; reason: string };

interface NamedFilesParts {
  authority: FileAuthority;
  cwd: string;
  /** Everything but credentials. */
  personFiles: Files;
  /** The files of one call. */
  createCallFiles: (callId: string) => Files;
  getJudgeParts: () => JudgeParts;
  endCall: (callId: string) => void;
  /** Whether the model has a tool. */
  hasTool: (name: string) => boolean;
  ids: Ids;
}

interface JudgedCall extends Pick<NamedAccess, "by" | "path" | "signal"> {
  access: AccessRequest;
}

export class NamedFiles {
  readonly #parts: NamedFilesParts;

  constructor(parts: NamedFilesParts) {
    this.#parts = parts;
  }

  /** Whether a file or directory may be read without a question. */
  async mayRead(path: string): Promise<boolean> {
    if (this.#parts.authority === "person") return true;
    const parts = this.#parts.getJudgeParts();
    const target = { kind: "path", path: this.#resolve(path) } as const;
    const { request, verdict } = await judgeTarget(parts, { subject: parts.subject, capability: "read", target });
    if (verdict.kind !== "ask") return verdict.kind === "allow";
    return parts.grants.isRemembered("read", request.target);
  }

  /** Runs `work` with files that open what is named, and refuse what is not allowed when they open it. */
  async use<T>(access: NamedAccess, work: (files: Files) => Promise<T>): Promise<NamedOutcome<T>> {
    const { personFiles, createCallFiles, endCall, ids } = this.#parts;
    if ((access.authority ?? "person") === "person" && this.#parts.authority === "person") {
      return { kind: "done", value: await work(personFiles) };
    }
    const id = `${access.by}-${ids()}`;
    try {
      const reason = await this.#judge(id, access);
      return reason === undefined
        ? { kind: "done", value: await work(createCallFiles(id)) }
        : { kind: "denied", reason };
    } finally {
      endCall(id);
    }
  }

  /** Why a mention that an extension reads (`@NAME:REST`) is denied; undefined if it is allowed. Judged like a call of its tools. */
  async judgeMention(text: string, reading: Pick<NamedAccess, "authority" | "signal">): Promise<string | undefined> {
    const { authority, endCall, ids } = this.#parts;
    if ((reading.authority ?? "person") === "person" && authority === "person") return undefined;
    const id = `mention-${ids()}`;
    const target = { kind: "name", name: `mention @${text.slice(0, text.indexOf(":"))}` } as const;
    try {
      const access = { capability: "tool", target, risk: "unknown" } as const;
      return await this.#judgeCall(id, { by: "mention", path: `@${text}`, access, signal: reading.signal });
    } finally {
      endCall(id);
    }
  }

  /** Why it is denied; undefined if it is allowed. */
  async #judge(id: string, { capability, path, by, signal }: NamedAccess): Promise<string | undefined> {
    const { hasTool } = this.#parts;
    if (capability === "read" && !hasTool("read")) return `${path} was not read: this session has no tool read.`;
    const target = { kind: "path", path: this.#resolve(path) } as const;
    return await this.#judgeCall(id, { by, path, access: { capability, target }, signal });
  }

  async #judgeCall(id: string, { by, path, access, signal }: JudgedCall): Promise<string | undefined> {
    const tool = { name: by, access: () => [access], summarise: () => `${by} ${path}` };
    const call = { toolCall: { id, name: by }, args: { path }, context: { tools: [tool] } };
    const judge = createJudge(this.#parts.getJudgeParts());
    const result = await judge(call as unknown as Parameters<typeof judge>[0], signal);
    return result?.block ? (result.reason ?? `${path} may not be opened.`) : undefined;
  }

  #resolve(path: string): string {
    return resolve(this.#parts.cwd, expandHome(path, homedir()));
  }
}
