/** The model and key that the requests of a session use, where those are not simply the selected ones. */
import { customTypes, type SessionEntry } from "./entry.ts";

export interface ModelUse {
  readonly provider: string;
  readonly modelId: string;
  readonly thinkingLevel: string;
  /** Names the key by its last four characters. Absent if the provider has one key only. */
  readonly key?: string;
  /**
   * `fallback`: a model of a chain, since the one before it cannot be used. `restored`: the selected model again. `key`:
   * another key. `route`: a model that the selected virtual model chose.
   */
  readonly cause: "fallback" | "restored" | "key" | "route";
  /** Explains it to the user, in whole sentences. */
  readonly reason: string;
}

/** Formats it, such as `openai/gpt-6 (key …abcd)`. */
export const formatModelUse = ({ provider, modelId, key }: ModelUse): string =>
  `${provider}/${modelId}${key === undefined ? "" : ` (key ${key})`}`;

/** Whether another model is used than the selected one. */
export const isOtherModel = ({ cause }: ModelUse): boolean => cause === "fallback" || cause === "route";

/** Reads it from an entry of the log; undefined for any other entry. Logs are not checked when they are read. */
export function getModelUse(entry: SessionEntry): ModelUse | undefined {
  if (entry.type !== "custom" || entry.customType !== customTypes.modelUsed) return undefined;
  const use = entry.data as Partial<ModelUse> | null | undefined;
  const texts = [use?.provider, use?.modelId, use?.cause, use?.reason];
  return texts.every((text) => typeof text === "string") ? (use as ModelUse) : undefined;
}
