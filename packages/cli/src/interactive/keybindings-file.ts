/** `keybindings.json`, in pi's format: `{ "action": "key" }`, several keys in a list, and an empty list for none. Pure. */
import { getErrorMessage, nearestNames } from "@tau/ai/internal";
import { isKeyId, type KeybindingDefinitions, type KeybindingsConfig, KeybindingsManager, type KeyId } from "@tau/tui";
import { editorActions } from "./keybindings.ts";

interface ParsedKeybindings {
  config: KeybindingsConfig;
  /** Sentences. What they are about is ignored; the rest applies. */
  problems: string[];
}

export function parseKeybindings(text: string, source: string, definitions: KeybindingDefinitions): ParsedKeybindings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { config: {}, problems: [`${source} is not JSON: ${getErrorMessage(error)}.`] };
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return { config: {}, problems: [`${source} is not an object with keys by action.`] };
  }
  const config: KeybindingsConfig = {};
  const problems: string[] = [];
  for (const [id, value] of Object.entries(json)) {
    if (id === "$schema") continue;
    const keys = typeof value === "string" ? [value] : value;
    if (!Object.hasOwn(definitions, id)) {
      const [nearest] = nearestNames(id, Object.keys(definitions));
      const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
      problems.push(`${source}: there is no action ${JSON.stringify(id)}.${hint}`);
    } else if (!isTextList(keys)) {
      problems.push(`${source}: ${id} is not a key, and no list of keys.`);
    } else {
      const wrong = keys.filter((key) => !isKeyId(key));
      problems.push(...wrong.map((key) => `${source}: ${id}: there is no key ${JSON.stringify(key)}.`));
      const right = keys.filter(isKeyId);
      // With wrong keys only, the defaults stay: nobody means to be without the action.
      if (right.length > 0 || wrong.length === 0) config[id] = right;
    }
  }
  return { config, problems: [...problems, ...findConflicts(config, source, definitions)] };
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** Keys that the user gave to an action while another one that is active in the same place has them. */
function findConflicts(config: KeybindingsConfig, source: string, definitions: KeybindingDefinitions): string[] {
  const keys = new KeybindingsManager(definitions, config).getResolvedBindings();
  const toList = (value: KeyId | KeyId[] | undefined) => (typeof value === "string" ? [value] : (value ?? []));
  const isChosen = (id: string, key: KeyId) =>
    config[id] !== undefined && !toList(definitions[id]?.defaultKeys).includes(key);
  const users = new Map<string, { key: KeyId; ids: string[] }>();
  for (const id of Object.keys(definitions)) {
    for (const key of toList(keys[id])) {
      const place = `${getPlace(id)} ${key}`;
      const ids = users.get(place)?.ids ?? [];
      users.set(place, { key, ids: [...ids, id] });
    }
  }
  return [...users.values()]
    .filter(({ key, ids }) => ids.length > 1 && ids.some((id) => isChosen(id, key)))
    .map(({ key, ids }) => `${source}: ${key} is bound to ${ids.join(" and to ")}. The first that fits is used.`);
}

/** Where an action applies. Actions of different places share keys on purpose. */
function getPlace(id: string): string {
  if ((editorActions as readonly string[]).includes(id) || /^tui\.(?:editor|input)\./.test(id)) return "editor";
  return id.split(".").slice(0, 2).join(".");
}
