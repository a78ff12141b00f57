/** Whether an extension runs, and where. Pure. */
import type { ExtensionTrustState, StoredTrust } from "@tau/config/trust";
import { getTrustState } from "@tau/config/internal";
import type { ExtensionSource } from "../api/extension.ts";

/**
 * The state of an extension by its origin and by what the user said about it before. What the user named or put there is
 * trusted, except a package that was fetched for this run, which is what the user said of it (`named`). An extension of an
 * installed package is what the user answered for this content. One of a project waits until the project is trusted, and is
 * then acknowledged; what the user said about another content of it makes it pending. What was killed stays killed.
 */
export function resolveExtensionState(
  source: Pick<ExtensionSource, "origin" | "digest">,
  stored: StoredTrust | undefined,
  { isProjectTrusted, named }: { isProjectTrusted: boolean; named?: ExtensionTrustState | undefined },
): ExtensionTrustState {
  if (stored?.state === "killed") return "killed";
  switch (source.origin) {
    case "flag":
      return named ?? "trusted";
    case "user":
    case "inline":
    case "feature":
      return "trusted";
    case "package":
      return getTrustState(stored, source.digest);
    case "project":
      if (!isProjectTrusted) return "pending";
      return stored ? getTrustState(stored, source.digest) : "acknowledged";
  }
}
