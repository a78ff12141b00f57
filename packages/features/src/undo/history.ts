/** The effects of the prompts of a session on its files, and which of them are taken back. Pure. */

/** The work of a run on the files. */
export interface Effect {
  readonly id: string;
  /** The entry that the session was at when the run first changed something; null before the first. */
  readonly entryId: string | null;
  /** The beginning of the prompt, for people. */
  readonly prompt: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The snapshot from before the run. Missing if it could not be kept. */
  readonly before?: string;
  /** The snapshot from after it. Missing while it is in progress, and after the program was killed. */
  readonly after?: string;
  /** The program ended during the run, so that later changes of others are a part of it. */
  readonly isCut?: boolean;
  /** Why it cannot be taken back. */
  readonly failure?: string;
  /** When it was taken back, as a number that grows. */
  readonly undone?: number;
}

export type UndoTarget =
  | { kind: "last" }
  /** Does again what was taken back last, unless there were other changes since. */
  | { kind: "redo" }
  /** The files as they were at the end of this branch, whose entries these are. */
  | { kind: "branch"; entryIds: ReadonlySet<string> };

export interface ChosenEffect {
  readonly effect: Effect;
  readonly direction: "back" | "forward";
}

/** Chooses what has to be taken back, the last first, and then done again, the first first. */
export function chooseEffects(effects: readonly Effect[], target: UndoTarget): ChosenEffect[] {
  switch (target.kind) {
    case "last": {
      const effect = effects.findLast(({ undone }) => undone === undefined);
      return effect ? [{ effect, direction: "back" }] : [];
    }
    case "redo": {
      const last = Math.max(0, ...effects.map(({ undone = 0 }) => undone));
      const again = effects.filter(({ undone }) => last > 0 && undone === last);
      const first = effects.findIndex((effect) => effect === again[0]);
      const hasLater = effects.slice(first).some(({ undone }) => undone === undefined);
      return hasLater ? [] : again.map((effect) => ({ effect, direction: "forward" }));
    }
    case "branch": {
      const isWanted = ({ entryId }: Effect) => entryId !== null && target.entryIds.has(entryId);
      const back = effects.filter((effect) => effect.undone === undefined && !isWanted(effect));
      const forward = effects.filter((effect) => effect.undone !== undefined && isWanted(effect));
      return [
        ...back.toReversed().map((effect) => ({ effect, direction: "back" as const })),
        ...forward.map((effect) => ({ effect, direction: "forward" as const })),
      ];
    }
  }
}

/** Notes that they were taken back or done again. */
export function markEffects(effects: readonly Effect[], chosen: readonly ChosenEffect[]): Effect[] {
  const next = Math.max(0, ...effects.map(({ undone = 0 }) => undone)) + 1;
  const directions = new Map(chosen.map(({ effect, direction }) => [effect.id, direction]));
  return effects.map((effect) => {
    const direction = directions.get(effect.id);
    if (direction === undefined) return effect;
    const { undone: _undone, ...rest } = effect;
    return direction === "back" ? { ...rest, undone: next } : rest;
  });
}

export const listSnapshots = (effects: readonly Effect[]): string[] =>
  effects.flatMap(({ before, after }) => [before, after].filter((id) => id !== undefined));
