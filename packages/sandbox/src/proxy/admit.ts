/** Decides whether a command may connect to a host, and to which of its addresses. */
import { isPublicAddress } from "./addresses.ts";
import type { ProxyTarget } from "./host.ts";
import type { HostRules } from "./rules.ts";

export interface Address {
  address: string;
  family: 4 | 6;
}

/** All addresses of a name. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

export interface Refusal {
  /** The target as `host:port`, or as it was asked for where that is no host. */
  target: string;
  kind: "not_allowed" | "not_a_host" | "private_address" | "unknown_host";
}

export type Refused = { kind: "refused"; why: Refusal["kind"] };
/** `way`: the addresses to dial, in turn until one answers, or the user's own proxy, which gets the name. */
export type Admitted = { kind: "admitted"; target: ProxyTarget; way: readonly Address[] | URL };

/**
 * The name is resolved once, and every address that it has must be one on the internet. Behind a proxy of the user
 * (`upstream`), names of the internet often cannot be resolved here: a name without any address is left to that proxy.
 */
export async function admitTarget(
  target: ProxyTarget | undefined,
  rules: HostRules,
  { lookup, upstream }: { lookup: Lookup; upstream?: URL | undefined },
): Promise<Admitted | Refused> {
  if (!target) return { kind: "refused", why: "not_a_host" };
  const standing = rules.check(target);
  if (standing === "refused") return { kind: "refused", why: "not_allowed" };
  const { host } = target;
  if (host.kind === "address") return { kind: "admitted", target, way: upstream ?? [host] };
  const addresses = await lookup(host.name).catch(() => []);
  if (standing === "allowed" && !addresses.every(isPublicAddress)) return { kind: "refused", why: "private_address" };
  if (!upstream && addresses.length === 0) return { kind: "refused", why: "unknown_host" };
  return { kind: "admitted", target, way: upstream ?? addresses };
}
