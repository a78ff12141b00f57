import { toShortHash } from "../hash.ts";

/** Mistral's models require tool call ids of exactly nine letters and digits; other ids are hashed. */
export const toMistralId = (id: string): string => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : toShortHash(id).slice(0, 9));
