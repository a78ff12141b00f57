/** Judges what an extension wants to do for a model, like a call of the model. */
import type { AccessOptions, AccessVerdict } from "@tau/extensions";
import { createJudge, type JudgeParts } from "@tau/policy/internal";
import type { AccessRequest } from "@tau/tools";

export async function requestAccess(
  parts: JudgeParts,
  access: readonly AccessRequest[],
  { name, summary, isContained = false, signal }: AccessOptions,
): Promise<AccessVerdict> {
  const id = parts.ids();
  const tool = { name, isContained, access: () => access, summarise: () => summary };
  const call = { toolCall: { id, name }, args: {}, context: { tools: [tool] } };
  const judge = createJudge(parts);
  try {
    const result = await judge(call as unknown as Parameters<typeof judge>[0], signal);
    return result?.block ? { kind: "denied", reason: result.reason ?? "It is not allowed." } : { kind: "allowed" };
  } finally {
    parts.grants.endCall(id);
  }
}
