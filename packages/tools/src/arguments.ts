/** Reading single arguments of a call that may not have been validated. Pure. */
import { isRecord } from "@tau/ai/internal";
import { ToolsError } from "./errors.ts";

/** An argument that is a text; undefined otherwise. */
export function getText(args: unknown, name: string): string | undefined {
  const value = isRecord(args) && Object.hasOwn(args, name) ? args[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The path that a call names. Other agents, whose logs are read too, call the argument `file_path`. */
export const getPath = (args: unknown): string | undefined => getText(args, "path") ?? getText(args, "file_path");

/**
 * Models that know other agents name the path `file_path` and count lines from 0, so that 0 can only mean the first line.
 * Any other offset is taken as 1-based. Throws if both names are given with different values.
 */
export function prepareFileArguments<T>(args: unknown): T {
  if (!isRecord(args)) return args as T;
  const { file_path: alias, ...rest } = args;
  if (alias !== undefined && alias !== null) {
    const path = rest["path"] ?? alias;
    if (path !== alias) throw new ToolsError("invalid_input", conflict(path, alias));
    rest["path"] = path;
  }
  return { ...rest, ...((rest["offset"] === 0 || rest["offset"] === "0") && { offset: 1 }) } as T;
}

const conflict = (path: unknown, alias: unknown): string =>
  `\`path\` is ${JSON.stringify(path)} and \`file_path\` is ${JSON.stringify(alias)}. They mean the same; give only \`path\`.`;
