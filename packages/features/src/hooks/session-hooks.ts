/** The hooks of one session: runs those that an event is for, and remembers what each did last. */
import type { ExtensionAPI, ExtensionContext, FeaturePlace } from "@tau/extensions";
import { toVisible } from "../kit/visible-text.ts";
import type { HookEventName } from "./events.ts";
import type { Hook } from "./hook.ts";
import { combineAnswers, type HookAnswer, parseAnswer } from "./hook-answer.ts";
import { describeSession } from "./hook-input.ts";
import { type HookSubject, isHookFor } from "./match-hook.ts";
import type { ParsedHooks } from "./parse-hooks.ts";
import { runHook } from "./run-hook.ts";

/** The last run of a hook. */
export interface HookRun {
  readonly answer: HookAnswer;
  readonly tookMs: number;
  readonly runs: number;
}

interface SessionHooksParts extends ParsedHooks {
  readonly tau: ExtensionAPI;
  readonly place: FeaturePlace;
}

interface HookOccasion {
  readonly subject?: HookSubject;
  /** The fields of the event beside those of the session. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
}

export class SessionHooks {
  readonly #parts: SessionHooksParts;
  readonly #runs = new Map<Hook, HookRun>();

  constructor(parts: SessionHooksParts) {
    this.#parts = parts;
  }

  list(): readonly { hook: Hook; last: HookRun | undefined }[] {
    return this.#parts.hooks.map((hook) => ({ hook, last: this.#runs.get(hook) }));
  }

  get unused(): ParsedHooks["unused"] {
    return this.#parts.unused;
  }

  has(event: HookEventName): boolean {
    return this.#parts.hooks.some((hook) => hook.event === event);
  }

  /** Undefined if no hook is for it. Equal commands run once; all run side by side, and all are waited for. */
  async run(
    event: HookEventName,
    context: ExtensionContext,
    { subject = {}, input, signal }: HookOccasion,
  ): Promise<Omit<HookAnswer, "failure"> | undefined> {
    const { hooks, tau, place } = this.#parts;
    const fitting = hooks.filter((hook) => hook.event === event && isHookFor(hook, subject, place.cwd));
    const unique = fitting.filter((hook, index) => fitting.findIndex((other) => isSame(other, hook)) === index);
    if (unique.length === 0) return undefined;
    const whole = { ...describeSession(event, context, tau.getPermissionMode()), ...input };
    const answers = await Promise.all(unique.map((hook) => this.#runOne(hook, whole, context, signal)));
    const combined = combineAnswers(answers);
    if (combined.message !== undefined) context.ui.notify(toVisible(combined.message), "warning");
    return combined;
  }

  async #runOne(
    hook: Hook,
    input: Readonly<Record<string, unknown>>,
    { ui }: ExtensionContext,
    signal: AbortSignal | undefined,
  ): Promise<HookAnswer> {
    const { tau, place } = this.#parts;
    const began = performance.now();
    const answer = parseAnswer(hook.event, await runHook(hook, input, { tau, place, signal }), hook.onFailure);
    const before = this.#runs.get(hook);
    this.#runs.set(hook, { answer, tookMs: performance.now() - began, runs: (before?.runs ?? 0) + 1 });
    // Once for the same failure: a hook of every call would fill the screen.
    if (answer.failure !== undefined && answer.failure !== before?.answer.failure && !signal?.aborted)
      ui.notify(toVisible(`The ${hook.event} hook \`${hook.command}\` ${answer.failure}`), "warning");
    return answer;
  }
}

const isSame = (a: Hook, b: Hook): boolean =>
  a.command === b.command && a.isSandboxed === b.isSandboxed && a.onFailure === b.onFailure;
