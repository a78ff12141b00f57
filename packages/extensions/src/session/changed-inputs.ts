/**
 * Which isolated extensions changed the arguments of a call. Such a call is judged for them too: they could otherwise do
 * through a tool of the session what they may not do themselves.
 */
import type { BeforeToolCallContext, BeforeToolCallResult } from "@tau/agent";
import { Grants, createJudge } from "@tau/policy/internal";
import type { Decide } from "@tau/policy";
import type { Judging } from "../load/open-isolated.ts";

export class ChangedInputs {
  readonly #judging: Pick<Judging, "getJudgeParts">;
  readonly #names = new Map<string, Set<string>>();

  constructor(judging: Pick<Judging, "getJudgeParts">) {
    this.#judging = judging;
  }

  add(toolCallId: string, extension: string): void {
    this.#names.set(toolCallId, (this.#names.get(toolCallId) ?? new Set()).add(extension));
  }

  /** Before a call is offered to extensions: one with the same id may have been blocked, and was never judged. */
  forget(toolCallId: string): void {
    this.#names.delete(toolCallId);
  }

  /** Undefined lets the call continue. */
  async judge(call: BeforeToolCallContext, signal?: AbortSignal): Promise<BeforeToolCallResult | undefined> {
    const names = this.#names.get(call.toolCall.id) ?? [];
    this.#names.delete(call.toolCall.id);
    for (const name of names) {
      const parts = this.#judging.getJudgeParts();
      // What is granted to the extension must not be granted to the call of the model.
      const judge = createJudge({
        ...parts,
        decide: nameExtension(parts.decide, name),
        grants: new Grants(),
        subject: { kind: "extension", name },
      });
      const verdict = await judge(call, signal);
      if (verdict) return verdict;
    }
    return undefined;
  }
}

/** The call looks like one of the model, which may make it. */
const nameExtension =
  (decide: Decide, name: string): Decide =>
  async (request, call) => {
    const verdict = await decide(request, call);
    if (verdict.kind === "allow") return verdict;
    return {
      ...verdict,
      reason: `The extension ${name} changed this call and needs the permission too. ${verdict.reason}`,
    };
  };
