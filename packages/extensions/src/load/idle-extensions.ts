/** The extensions that were found and do not run, with the reason and what to do about it. Pure. */
import type { ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import type { FoundExtension } from "./find-extensions.ts";

export interface IdleExtension {
  readonly source: ExtensionSource;
  readonly state: "pending" | "killed" | "failed";
  /** Whole sentences for the user. */
  readonly message: string;
}

/** `problems` are those of loading: one that should run and was not loaded has failed. */
export function listIdle(
  found: readonly FoundExtension[],
  loaded: readonly ExtensionSource[],
  problems: readonly ExtensionProblem[],
): IdleExtension[] {
  return found.flatMap(({ source, state }): IdleExtension[] => {
    if (state === "pending") return [{ source, state, message: describePending(source) }];
    if (state === "killed") return [{ source, state, message: describeKilled(source) }];
    if (loaded.includes(source)) return [];
    const messages = problems.filter(({ extension }) => extension === source.name).map(({ message }) => message);
    return [{ source, state: "failed", message: messages.join(" ") }];
  });
}

const describePending = ({ name }: ExtensionSource): string =>
  `It is new or has changed, so it does not run. Look at it, then: tau extensions trust ${name}`;

export const describeKilled = ({ name }: Pick<ExtensionSource, "name">): string =>
  `It was turned off. To turn it on again: tau extensions revive ${name}`;
