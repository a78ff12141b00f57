/** Grants beyond the path rules, by a person or by the policy: the guard of opened files lets them through. */
import { resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { isCoveredByPrefix } from "./command-prefix.ts";
import type { Capability, Target } from "./policy.ts";

/** Until when something is granted: the end of a call, by its id, or of the session. */
type GrantTerm = { toolCallId: string } | "session";

/** The grants that apply to one holder: the whole session, or a single call. */
export interface FileGrants {
  /** Whether a file may be opened although the path rules alone do not allow it. The path is a real one. */
  allows(access: "read" | "write", realPath: string): boolean;
}

/**
 * Grants by capability and target. A path is a real one. A path that is granted for reading covers what is below it, and
 * one that is granted for writing may also be read, since a change begins with reading. `allows` knows the grants of the
 * session alone: those of a call apply through `forCall`.
 */
export class Grants implements FileGrants {
  readonly #session = new Map<string, Grant>();
  readonly #calls = new Map<string, Map<string, Grant>>();

  grant(grant: Grant, term: GrantTerm): void {
    const grants = term === "session" ? this.#session : this.#ofCall(term.toolCallId);
    grants.set(getKey(grant), grant);
  }

  allows(access: "read" | "write", realPath: string): boolean {
    return covers(this.#session, access, { kind: "path", path: realPath });
  }

  /** The grants of the session and of one call, as long as that has not ended. */
  forCall(toolCallId: string): FileGrants {
    return {
      allows: (access, realPath) => {
        const own = this.#calls.get(toolCallId);
        const isOwn = own !== undefined && covers(own, access, { kind: "path", path: realPath });
        return isOwn || this.allows(access, realPath);
      },
    };
  }

  /** Whether a question need not be asked again: only what was granted for the session applies. */
  isRemembered(capability: Capability, target: Target, options?: CoverOptions): boolean {
    return covers(this.#session, capability, target, options);
  }

  /** The names that were granted to one call, such as those of variables. */
  listNames(capability: Capability, toolCallId: string): string[] {
    const grants = [...(this.#calls.get(toolCallId)?.values() ?? [])];
    return grants.flatMap((grant) =>
      grant.capability === capability && grant.target.kind === "name" ? [grant.target.name] : [],
    );
  }

  /** Takes back what was granted to one call. */
  endCall(toolCallId: string): void {
    this.#calls.delete(toolCallId);
  }

  #ofCall(toolCallId: string): Map<string, Grant> {
    const grants = this.#calls.get(toolCallId) ?? new Map<string, Grant>();
    this.#calls.set(toolCallId, grants);
    return grants;
  }
}

export interface Grant {
  capability: Capability;
  target: Target;
  /**
   * Whether the target is the beginning of commands, such as `npm run *`, or a directory with all that is in it.
   * Default false.
   */
  isPrefix?: boolean;
}

export interface CoverOptions {
  /**
   * Whether a directory that may be changed covers what is in it. Not for files with a meaning of their own, such as those
   * that other programs run: an answer about a directory was not about them. Default false.
   */
  coversDirectories?: boolean;
}

const getKey = ({ capability, target, isPrefix = false }: Grant) => JSON.stringify([capability, target, isPrefix]);

/** Whether a list of grants covers a target. */
export const isCovered = (
  grants: readonly Grant[],
  capability: Capability,
  target: Target,
  options?: CoverOptions,
): boolean => covers(new Map(grants.map((grant) => [getKey(grant), grant])), capability, target, options);

function covers(
  grants: ReadonlyMap<string, Grant>,
  capability: Capability,
  target: Target,
  { coversDirectories = false }: CoverOptions = {},
): boolean {
  if (grants.size === 0) return false;
  if (grants.has(getKey({ capability, target }))) return true;
  if (target.kind === "command") return [...grants.values()].some((grant) => allowsCommand(grant, target.command));
  // Only a normalised path tells what it is below.
  if (target.kind !== "path" || resolve(target.path) !== target.path) return false;
  const { path } = target;
  return [...grants.values()].some(
    (grant) =>
      (capability === "read" && allowsReading(grant, path)) ||
      (capability === "write" && coversDirectories && isChangeable(grant, path)),
  );
}

const isChangeable = ({ capability, target, isPrefix = false }: Grant, path: string): boolean =>
  isPrefix && capability === "write" && target.kind === "path" && isWithin(target.path, path);

const allowsCommand = ({ target, isPrefix = false }: Grant, command: string): boolean =>
  isPrefix && target.kind === "command" && isCoveredByPrefix(command, target.command);

function allowsReading({ capability, target }: Grant, path: string): boolean {
  if (target.kind !== "path") return false;
  return capability === "read" ? isWithin(target.path, path) : capability === "write" && target.path === path;
}
