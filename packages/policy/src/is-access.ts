/** Checks what code without types, or a file, says that it wants. */
import { isRecord } from "@tau/ai/internal";
import { capabilities } from "@tau/tools/platform";
import type { Capability, Target } from "./policy.ts";

/** Whether the value has a known capability and a target that names something. */
export function isAccess(value: unknown): value is { capability: Capability; target: Target } {
  if (!isRecord(value) || !isRecord(value["target"])) return false;
  const { kind, path, command, host, name } = value["target"];
  const subject = new Map(Object.entries({ path, command, host, name })).get(String(kind));
  return capabilities.includes(value["capability"] as Capability) && typeof subject === "string";
}
