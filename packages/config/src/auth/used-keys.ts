/** The keys that tau itself uses: no command gets them, and they are removed from what is stored and reported. */
import { findEnvKeys } from "@tau/ai";
import { isSameList } from "@tau/ai/internal";
import { withoutChecksum } from "@tau/protocol";
import { getSecretForms, mark } from "@tau/policy/internal";
import type { AuthStorage } from "./auth-storage.ts";
import { parseKey } from "./key-value.ts";

interface UsedKeysParts {
  auth: Pick<AuthStorage, "usedKeys" | "storedKeys">;
  /** Like the other lists: the same array as long as nothing was added or removed. */
  registry: { writtenValues(): readonly string[] };
  /** The provider that the session begins with: its key in the environment applies before the first request. */
  provider: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** Other secrets that commands were given. */
  listGiven?: () => readonly string[];
}

export interface UsedKeys {
  /** Returns whether a variable holds one of the current keys, or is named in `models.json`. */
  createIsSecret(): (name: string, value: string) => boolean;
  /** The text without keys. */
  redact(text: string): string;
  /** Everything that `redact` removes: the keys in all forms. */
  listForms(): readonly string[];
  /** The content of a line of a log without keys; undefined if there are none in it. */
  redactLine(line: Buffer): object | undefined;
}

/** Always the current keys: a key may be added, renewed or used for the first time at any moment. */
export function createUsedKeys(parts: UsedKeysParts): UsedKeys {
  const { auth, registry, provider, env = process.env } = parts;
  const formsByKey = new Map<string, readonly string[]>();
  const getForms = (key: string) => {
    const forms = formsByKey.get(key) ?? (isTelling(key) ? getSecretForms(key) : []);
    formsByKey.set(key, forms);
    return forms;
  };
  const parse = forSameItems((written: readonly string[]) => {
    const all = written.map(parseKey).flatMap((template) => (template.kind === "parts" ? template.parts : []));
    return {
      literals: all.flatMap((part) => (part.kind === "text" ? part.text.split(/\s+/) : [])),
      variables: all.flatMap((part) => (part.kind === "variable" ? part.name : [])),
    };
  });
  const getWritten = () => parse(registry.writtenValues());
  const getNamed = () => getWritten().variables.map((name) => env[name]);
  const getKeys = () => {
    const ofProvider = provider === undefined ? [] : (findEnvKeys(provider, (name) => env[name]) ?? []);
    const values = [...getNamed(), ...ofProvider.map((name) => env[name])].filter((key) => key !== undefined);
    return [...auth.usedKeys(), ...getWritten().literals, ...values];
  };
  const listForms = (keys: readonly string[]) => [...new Set(keys.flatMap(getForms))];
  /**
   * Lists what must not be stored: also secrets that commands got, and keys that a command of the user may have printed.
   * Another key of the provider is included when it is used.
   */
  const listStored = forSameItems(() =>
    listForms([...getKeys(), ...auth.storedKeys(), ...(parts.listGiven?.() ?? [])]),
  );
  const getStoredForms = () =>
    listStored([auth.usedKeys(), auth.storedKeys(), registry.writtenValues(), parts.listGiven?.(), ...getNamed()]);
  return {
    createIsSecret() {
      const [{ variables }, forms] = [getWritten(), listForms(getKeys())];
      return (name, value) => variables.includes(name) || forms.some((form) => value.includes(form));
    },
    redact: (text) => removeForms(text, getStoredForms()),
    listForms: getStoredForms,
    redactLine(line) {
      const forms = getStoredForms().filter((form) => line.includes(form));
      if (forms.length === 0) return undefined;
      // A key of digits may be a part of a number, which stays one.
      const text = line.toString("utf8").replaceAll(jsonStrings, (string) => removeForms(string, forms));
      return withoutChecksum(JSON.parse(text) as object);
    },
  };
}

const jsonStrings = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;

/** The text without these forms of keys. Pure. */
export const removeForms = (text: string, forms: readonly string[]): string =>
  // Most texts have none, and looking for one costs less than replacing it.
  forms.reduce((cleaned, form) => (cleaned.includes(form) ? cleaned.replaceAll(form, mark) : cleaned), text);

/** Creates again only what is asked for with other items: each event and each line asks, and keys seldom change. */
function forSameItems<Item, T>(create: (items: readonly Item[]) => T): (items: readonly Item[]) => T {
  let last: { items: readonly Item[]; created: T } | undefined;
  return (items) => {
    if (!last || !isSameList(last.items, items)) last = { items, created: create(items) };
    return last.created;
  };
}

/** Servers of one's own take any key: a plain word, such as `anything`, would be removed from every text. */
const isTelling = (key: string): boolean => key.length >= 16 || /\d/.test(key);
