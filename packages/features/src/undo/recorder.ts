/** Keeps the workspace before the first call of a run that may change it, and after the run. */
import { type Clock, type Ids, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { acquireLease, type Lease } from "@tau/tools/platform";
import type { Effect } from "./history.ts";
import type { Project } from "./project.ts";

interface RecorderParts {
  sessionId: string;
  open: () => Promise<Project>;
  clock: Clock;
  ids?: Ids;
  /** Says that the run cannot be taken back. */
  warn: (reason: string) => void;
  log: (message: string) => void;
}

interface OpenEffect {
  readonly effect: Effect;
  readonly lease: Lease | undefined;
}

/** A snapshot that takes longer is given up: the call waits for it. */
const maxKeepMs = 30_000;

export class Recorder {
  readonly #parts: RecorderParts;
  #effect: OpenEffect | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#effect !== undefined;
  }

  /** Never rejects: a run that cannot be taken back is one all the same. */
  begin(facts: Pick<Effect, "entryId" | "prompt">): Promise<void> {
    return this.#inOrder(async () => {
      if (!this.#effect) this.#effect = await this.#begin(facts);
    });
  }

  /** Called when the run is over, and when the session ends. */
  end(): Promise<void> {
    return this.#inOrder(async () => {
      const open = this.#effect;
      this.#effect = undefined;
      if (open) await this.#end(open);
    });
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((error: unknown) => this.#parts.log(getErrorMessage(error)));
    return this.#last;
  }

  async #begin(facts: Pick<Effect, "entryId" | "prompt">): Promise<OpenEffect> {
    const { sessionId, open, clock, ids = systemIds, warn } = this.#parts;
    const effect: Effect = { ...facts, id: ids(), at: clock.now() };
    try {
      const project = await open();
      return await project.alone(async () => {
        const kept = await project.store.keep(AbortSignal.timeout(maxKeepMs));
        const history = await project.readHistory(sessionId);
        const begun = { ...effect, before: kept.id };
        await project.writeHistory({ ...history, effects: [...closeCut(history.effects, kept.id), begun] });
        await project.sweep(kept.newBytes, [kept.id]);
        const outcome = await acquireLease(project.getRunPath(sessionId));
        return { effect: begun, lease: outcome.kind === "held" ? outcome.lease : undefined };
      });
    } catch (error) {
      warn(getErrorMessage(error));
      const failed = { ...effect, failure: getErrorMessage(error) };
      await this.#note(failed).catch((second: unknown) => this.#parts.log(getErrorMessage(second)));
      return { effect: failed, lease: undefined };
    }
  }

  async #end({ effect, lease }: OpenEffect): Promise<void> {
    const { open, warn } = this.#parts;
    try {
      if (effect.before === undefined) return;
      const project = await open();
      const ended = await project.alone(async () => {
        try {
          const kept = await project.store.keep(AbortSignal.timeout(maxKeepMs));
          await project.sweep(kept.newBytes, [kept.id]);
          return { ...effect, after: kept.id };
        } catch (error) {
          warn(getErrorMessage(error));
          return { ...effect, failure: getErrorMessage(error) };
        }
      });
      await this.#note(ended);
    } finally {
      await lease?.release();
    }
  }

  /** Replaces the effect in the history; one without an effect is forgotten. */
  async #note(effect: Effect): Promise<void> {
    const { sessionId, open } = this.#parts;
    const project = await open();
    await project.alone(async () => {
      const history = await project.readHistory(sessionId);
      const others = history.effects.filter(({ id }) => id !== effect.id);
      const isNothing = effect.before !== undefined && effect.before === effect.after;
      await project.writeHistory({ ...history, effects: isNothing ? others : [...others, effect] });
    });
  }
}

/** Effects of runs in which the program was killed end with what is there when the next begins. Pure. */
export const closeCut = (effects: readonly Effect[], after: string): Effect[] =>
  effects.map((effect) =>
    effect.before !== undefined && effect.after === undefined && effect.failure === undefined
      ? { ...effect, after, isCut: true }
      : effect,
  );
