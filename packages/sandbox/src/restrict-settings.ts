/** The sandbox of a session: the user's settings, as far as a trusted project does not make them stricter. Pure. */
import { isWithin } from "@tau/tools/platform";
import type { SandboxMode, SandboxNetwork, SandboxSettings } from "./settings.ts";

const modes: readonly SandboxMode[] = ["off", "auto", "required"];

/** `settings`, with what `other` makes stricter. What would loosen them does not apply. */
export function restrictSandbox(settings: SandboxSettings, other: Partial<SandboxSettings>): SandboxSettings {
  const { mode, allowedPaths, timeoutMs, ports, network, seatbelt } = settings;
  const minTimeoutMs = getSmaller(timeoutMs, other.timeoutMs);
  const maxMemoryMb = getSmaller(settings.maxMemoryMb, other.maxMemoryMb);
  const isStricter = other.mode !== undefined && modes.indexOf(other.mode) > modes.indexOf(mode);
  return {
    mode: isStricter ? other.mode! : mode,
    allowedPaths: other.allowedPaths
      ? other.allowedPaths.filter((path) => allowedPaths.some((allowed) => isWithin(allowed, path)))
      : allowedPaths,
    ports: other.ports ? ports.filter((port) => other.ports!.includes(port)) : ports,
    network: restrictNetwork(network, other.network),
    maxMemoryFilesMb: getSmaller(settings.maxMemoryFilesMb, other.maxMemoryFilesMb)!,
    ...(seatbelt !== undefined && { seatbelt }),
    ...(minTimeoutMs !== undefined && { timeoutMs: minTimeoutMs }),
    ...(maxMemoryMb !== undefined && { maxMemoryMb }),
  };
}

const getSmaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

function restrictNetwork(network: SandboxNetwork, other: SandboxNetwork | undefined): SandboxNetwork {
  if (other === undefined || other === "all" || network === "none") return network;
  if (other === "none" || network === "all") return other;
  return { allow: network.allow.filter((host) => other.allow.includes(host)) };
}
