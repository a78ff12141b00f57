import { toShortHash } from "../hash.ts";
import type { Draft } from "./draft.ts";

/** The id of the server for a call, or a generated one if it is empty or not unique: results refer to calls by id. */
export function toUniqueCallId({ message }: Draft, id: string, name: string): string {
  const { content, timestamp, responseId = timestamp } = message;
  const isUsed = content.some((block) => block.type === "toolCall" && block.id === id);
  return id && !isUsed ? id : `call_${toShortHash(`${responseId}/${name}/${content.length}`)}`;
}
