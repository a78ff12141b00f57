/** Reading single arguments of a call that may not have been validated. Pure. */
import { isRecord } from "@tau/ai/internal";

/** An argument that is a text; undefined otherwise. */
export function getText(args: unknown, name: string): string | undefined {
  const value = isRecord(args) && Object.hasOwn(args, name) ? args[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The path that a call names. Other agents, whose logs are read too, call the argument `file_path`. */
export const getPath = (args: unknown): string | undefined => getText(args, "path") ?? getText(args, "file_path");
