/** Options that extensions have registered. They are known once the extensions are loaded. */
import type { LoadedExtension, ExtensionProblem, ListedRegistrations } from "@tau/extensions";
import { parseSessionArgs } from "./args.ts";
import type { SessionOptions } from "./session-options.ts";
import { UsageError } from "../process/errors.ts";
import { type Flag, flags } from "./flags.ts";

interface LoadedFlags {
  extensions: readonly LoadedExtension[];
  /** Why some extensions are not there: an option may be theirs. */
  problems: readonly ExtensionProblem[];
}

/** The options with those of extensions. Throws `UsageError` for one that nobody has. */
export async function resolveExtensionFlags(
  options: SessionOptions,
  { extensions, problems }: LoadedFlags,
): Promise<SessionOptions> {
  if (!options.unknownFlags) return options;
  const parsed = parseSessionArgs(options.unknownFlags.args, listExtensionFlags(extensions));
  if (parsed.kind === "session") return parsed.options;
  const { message = "", unknown } = parsed.kind === "invalid" ? parsed : {};
  const reasons = unknown === undefined ? [] : problems.map((problem) => ` ${problem.extension}: ${problem.message}`);
  throw new UsageError("arguments", `${message}.${await suggestFlag(unknown)}${reasons.join("")}`);
}

/** Lists flags. If several have one name, the first applies, and built-in ones apply before all. Pure. */
export function listExtensionFlags(extensions: readonly Pick<ListedRegistrations, "source" | "flags">[]): Flag[] {
  const found = new Map<string, Flag>();
  for (const extension of extensions) {
    for (const [name, { type, description }] of extension.flags) {
      if (found.has(name) || flags.some((flag) => flag.name === name)) continue;
      const summary = description ?? `Of ${extension.source.name}`;
      found.set(name, { name, summary, ...(type === "string" && { value: "TEXT", mayBeEmpty: true }) });
    }
  }
  return [...found.values()];
}

/** The error for the first option that there is none of, where no extension is loaded. */
export async function createUnknownFlagError({
  names: [name = ""],
}: {
  names: readonly string[];
}): Promise<UsageError> {
  return new UsageError("arguments", `there is no option ${name}.${await suggestFlag(name)}`);
}

export async function suggestFlag(unknown: string | undefined): Promise<string> {
  if (unknown === undefined) return "";
  const { didYouMean } = await import("@tau/ai/internal");
  return didYouMean(
    unknown,
    flags.map(({ name }) => `--${name}`),
  );
}
