/** Which of several keys of a provider a session uses. */
import type { Clock, Failure } from "@tau/ai";
import type { KeyList } from "@tau/config/auth";
import { type Availability, formatKeyName, getCooldownMs, isAboutKey, pickKey } from "@tau/config/internal";

interface SessionKeysParts {
  sessionId: string;
  availability: Availability;
  clock: Pick<Clock, "monotonic">;
  /** The keys that the settings have for a provider, as written. */
  listWritten: (provider: string) => readonly string[];
  /** The base URL that the user's files have for a provider. */
  getHost: (provider: string) => string | undefined;
}

interface ProviderKeys {
  /** All that could be resolved, as of the last request. */
  keys: readonly string[];
  used: string;
}

export class SessionKeys {
  readonly #parts: SessionKeysParts;
  readonly #providers = new Map<string, ProviderKeys>();
  /** The keys that failed since the last answer that succeeded, by provider: none of them is used a second time. */
  readonly #failed = new Map<string, Set<string>>();

  constructor(parts: SessionKeysParts) {
    this.#parts = parts;
  }

  /** The keys of a provider as `AuthStorage.getApiKey` takes them; undefined if the settings have none. */
  getList(provider: string): KeyList | undefined {
    const written = this.#parts.listWritten(provider);
    if (written.length === 0) return undefined;
    const host = this.#parts.getHost(provider);
    return { written, ...(host !== undefined && { host }), pick: (keys) => this.#pick(provider, keys) };
  }

  /** The name of the key that the last request used. Undefined if the provider has only one. */
  getName(provider: string): string | undefined {
    const known = this.#providers.get(provider);
    return known && known.keys.length > 1 ? formatKeyName(known.used) : undefined;
  }

  /** Whether there is a key that has not failed and is not set aside. */
  hasNext(provider: string): boolean {
    return this.#findNext(provider) !== undefined;
  }

  /** Uses the next key. Returns its name; undefined if there is none. */
  useNext(provider: string): string | undefined {
    const known = this.#providers.get(provider);
    const used = this.#findNext(provider);
    if (!known || used === undefined) return undefined;
    this.#providers.set(provider, { ...known, used });
    return formatKeyName(used);
  }

  /** Leaves a key that was set aside, by this session or another one, if there is a better one. Returns its name. */
  leaveSetAside(provider: string): string | undefined {
    const known = this.#providers.get(provider);
    return known && this.#isSetAside(provider, known.used) ? this.useNext(provider) : undefined;
  }

  /** Sets the key of a failed request aside, if the failure is about the key. */
  takeFailure(provider: string, failure: Failure): void {
    const known = this.#providers.get(provider);
    if (!known || !isAboutKey(failure.kind)) return;
    const { availability, clock } = this.#parts;
    availability.setKeyAside(provider, known.used, clock.monotonic() + getCooldownMs(failure));
    this.#failed.set(provider, (this.#failed.get(provider) ?? new Set()).add(known.used));
  }

  /** Called when a request has succeeded, and when a run begins. */
  forgetFailures(): void {
    this.#failed.clear();
  }

  #pick(provider: string, keys: readonly string[]): string {
    const known = this.#providers.get(provider)?.used;
    const used = known !== undefined && keys.includes(known) ? known : this.#pickFrom(provider, keys, undefined);
    this.#providers.set(provider, { keys, used: used ?? keys[0]! });
    return used ?? keys[0]!;
  }

  #findNext(provider: string): string | undefined {
    const known = this.#providers.get(provider);
    if (!known) return undefined;
    const hasFailed = (key: string) => this.#failed.get(provider)?.has(key) ?? false;
    const isFree = (key: string) => key !== known.used && !hasFailed(key) && !this.#isSetAside(provider, key);
    // Those before and after the one that is used keep their order.
    const left = known.keys.filter((key) => key === known.used || isFree(key));
    return left.length < 2 ? undefined : this.#pickFrom(provider, left, known.used);
  }

  #pickFrom(provider: string, keys: readonly string[], after: string | undefined): string | undefined {
    const { sessionId, availability, clock } = this.#parts;
    const getUntilMs = (key: string) => availability.getKeyUntilMs(provider, key);
    return pickKey({ keys, sessionId, after, getUntilMs, nowMs: clock.monotonic() });
  }

  #isSetAside(provider: string, key: string): boolean {
    return this.#parts.availability.getKeyUntilMs(provider, key) > this.#parts.clock.monotonic();
  }
}
