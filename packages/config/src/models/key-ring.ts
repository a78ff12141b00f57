/** Spreads sessions over the keys of a provider. Pure. */
import { toProviderId, toShortHash } from "@tau/ai/internal";
import { pickAvailable } from "./fallbacks.ts";

/** Names a key by its last four characters. A short key has no name, since they would be half of it. */
export const formatKeyName = (key: string): string => (key.length < 8 ? "…" : `…${key.slice(-4)}`);

interface KeyPick {
  keys: readonly string[];
  sessionId: string;
  /** The key that the session used so far. */
  after: string | undefined;
  /** When a key can be used again. */
  getUntilMs: (key: string) => number;
  nowMs: number;
}

/**
 * The key that a session uses: the one that its id stands for, or the one after the key that it used so far. Keys that are
 * set aside are skipped as long as there is another one.
 */
export function pickKey({ keys, sessionId, after, getUntilMs, nowMs }: KeyPick): string | undefined {
  const used = after === undefined ? -1 : keys.indexOf(after);
  const start = used >= 0 ? used + 1 : getPlace(sessionId, keys.length);
  return pickAvailable([...keys.slice(start), ...keys.slice(0, start)], getUntilMs, nowMs);
}

/** An index below `count` that is always the same for an id. */
const getPlace = (id: string, count: number): number =>
  count === 0 ? 0 : Number.parseInt(toShortHash(id).slice(-8), 36) % count;

/** The keys of a provider as written: those of the settings, else those of `models.yml`. */
export function listKeys(provider: string, { settings, yml }: WrittenKeys): readonly string[] {
  const isMeant = ([name]: readonly [string, readonly string[]]) => toProviderId(name) === toProviderId(provider);
  return (Object.entries(settings).find(isMeant) ?? [...yml].find(isMeant))?.[1] ?? [];
}

interface WrittenKeys {
  /** The setting `apiKeys`. */
  settings: Readonly<Record<string, readonly string[]>>;
  /** `apiKeys` of `models.yml`. */
  yml: ReadonlyMap<string, readonly string[]>;
}
