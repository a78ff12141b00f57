/** Which models and keys are not used for a while. Shared by all sessions of a process that use the same directory. */

export class Availability {
  /** When a model is used again, by `provider/id`. Times are those of the monotonic clock. */
  readonly #models = new Map<string, number>();
  /** When a key is used again, by provider and key. */
  readonly #keys = new Map<string, Map<string, number>>();

  /** A time that has passed, if the model can be used. */
  getModelUntilMs(reference: string): number {
    return this.#models.get(reference) ?? Number.NEGATIVE_INFINITY;
  }

  coolModel(reference: string, untilMs: number): void {
    this.#models.set(reference, untilMs);
  }

  /** The model can be used again, for example because the user selected it. */
  restoreModel(reference: string): void {
    this.#models.delete(reference);
  }

  getKeyUntilMs(provider: string, key: string): number {
    return this.#keys.get(provider)?.get(key) ?? Number.NEGATIVE_INFINITY;
  }

  setKeyAside(provider: string, key: string, untilMs: number): void {
    const keys = this.#keys.get(provider) ?? new Map<string, number>();
    this.#keys.set(provider, keys.set(key, untilMs));
  }
}

const byDirectory = new Map<string, Availability>();

/** The one of a directory: what one session finds out about a provider, the others need not. */
export function getAvailability(agentDir: string): Availability {
  const availability = byDirectory.get(agentDir) ?? new Availability();
  byDirectory.set(agentDir, availability);
  return availability;
}
