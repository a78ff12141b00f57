/** What calls were allowed, by a person or by the policy: the guard of opened files lets it through. */
import { resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import type { Capability, Target } from "./policy.ts";

/** Until when something is granted: the end of a call, by its id, or of the session. */
export type GrantTerm = { toolCallId: string } | "session";

/**
 * Grants by capability and target. A path is a real one. A path that is granted for reading covers what is below it, and
 * one that is granted for writing may also be read, since a change begins with what is there.
 */
export class Grants {
  readonly #session = new Map<string, Grant>();
  readonly #calls = new Map<string, Map<string, Grant>>();

  grant(capability: Capability, target: Target, term: GrantTerm): void {
    const grants = term === "session" ? this.#session : this.#ofCall(term.toolCallId);
    grants.set(getKey(capability, target), { capability, target });
  }

  /**
   * Whether a file may be opened that lies outside. Who opens it is not known: what was granted to a call counts
   * for all that run beside it, until it ends.
   */
  allows(access: "read" | "write", realPath: string): boolean {
    const target: Target = { kind: "path", path: realPath };
    if (covers(this.#session, access, target)) return true;
    for (const grants of this.#calls.values()) if (covers(grants, access, target)) return true;
    return false;
  }

  /** Whether nobody has to be asked again: only what was granted for the session counts. */
  isRemembered(capability: Capability, target: Target): boolean {
    return covers(this.#session, capability, target);
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

interface Grant {
  capability: Capability;
  target: Target;
}

const getKey = (capability: Capability, target: Target) => JSON.stringify([capability, target]);

function covers(grants: ReadonlyMap<string, Grant>, capability: Capability, target: Target): boolean {
  if (grants.size === 0) return false;
  if (grants.has(getKey(capability, target))) return true;
  // What is below something can only be told of a path that is written out.
  if (target.kind !== "path" || capability !== "read" || resolve(target.path) !== target.path) return false;
  for (const grant of grants.values()) if (readsThrough(grant, target.path)) return true;
  return false;
}

function readsThrough({ capability, target }: Grant, path: string): boolean {
  if (target.kind !== "path") return false;
  return capability === "read" ? isWithin(target.path, path) : capability === "write" && target.path === path;
}
