/** Describes the sandbox to the model. It is known before the sandbox is tried. */
import { findProgram } from "./programs.ts";
import type { SandboxSettings } from "./settings.ts";

/**
 * Undefined where nobody has to know: the sandbox is off, and commands can do what the user can. `isMissing` is the answer
 * of `isSandboxMissing`. Pure.
 */
export function describeSandbox({ mode, network }: SandboxSettings, isMissing: boolean): string | undefined {
  if (mode === "off") return undefined;
  if (isMissing)
    return mode === "required" ? "Commands cannot be run: the sandbox is missing." : "Commands run without a sandbox.";
  return `Commands run in a sandbox${describeNetwork(network)}.`;
}

/** Whether it is certain, without trying, that there is none. */
export function isSandboxMissing(cwd: string, { seatbelt = false }: Pick<SandboxSettings, "seatbelt"> = {}): boolean {
  if (process.platform === "darwin") return !seatbelt;
  return process.platform !== "linux" || findProgram("bwrap", cwd) === undefined;
}

function describeNetwork(network: SandboxSettings["network"]): string {
  if (network === "all") return "";
  if (network === "none" || network.allow.length === 0) return " without network";
  return ` that reaches only ${network.allow.join(", ")}`;
}
