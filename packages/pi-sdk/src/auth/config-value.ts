/** Values in files of settings that stand for others: `!command`, the name of a variable, or the value itself. */
import { spawnSync } from "node:child_process";

/** A command is run once in a process, also if it failed. */
const outputs = new Map<string, string | undefined>();

/** Undefined for a command that failed or printed nothing. */
export function resolveConfigValue(value: string): string | undefined {
  if (value.startsWith("!")) return runOnce(value.slice(1));
  const name = /^\$\{?(\w+)\}?$/.exec(value)?.[1];
  if (name !== undefined) return process.env[name] || undefined;
  return process.env[value] || value;
}

export function resolveHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const resolved = Object.entries(headers).map(([name, value]) => [name, resolveConfigValue(value)] as const);
  return Object.fromEntries(resolved.filter((header): header is [string, string] => header[1] !== undefined));
}

export const clearConfigValueCache = (): void => outputs.clear();

const maxCommandMs = 10_000;

function runOnce(command: string): string | undefined {
  if (!outputs.has(command)) {
    const { status, stdout } = spawnSync(command, { shell: true, encoding: "utf8", timeout: maxCommandMs });
    outputs.set(command, status === 0 ? stdout.trim() || undefined : undefined);
  }
  return outputs.get(command);
}
