/** A question of the policy as a permission request of the protocol. Pure. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import { listCommandLines, toAllowAnswer, toDenyAnswer, toFields } from "@tau/protocol/surface";
import type { PermissionOption, RequestPermissionRequest } from "./schema.generated.ts";
import { type Call, getPreview } from "./tool-call.ts";
import { describeCall } from "./updates.ts";

const denyId = "deny";

/** Every answer that the policy offers, each with its scope in its name, and no. */
export function toPermissionRequest(
  sessionId: string,
  approval: Approval,
  call: Call | undefined,
): RequestPermissionRequest {
  const options = approval.choices.map(({ choice, label }, index): PermissionOption => ({
    optionId: `allow-${index}`,
    name: label,
    kind: choice === "once" ? "allow_once" : "allow_always",
  }));
  const commands = approval.commands ? ["```", ...listCommandLines(approval.commands), "```"] : [];
  const text = [approval.reason, ...commands].join("\n");
  const shown = call ? describeCall(call) : { name: approval.toolName, title: approval.summary };
  return {
    sessionId,
    toolCall: {
      toolCallId: approval.toolCallId,
      ...shown,
      status: "pending",
      content: [{ type: "content", content: { type: "text", text } }, ...(call ? getPreview(call) : [])],
    },
    options: [...options, { optionId: denyId, name: "No", kind: "reject_once" }],
  };
}

/** Everything but an option that was offered is a no. */
export function toApprovalAnswer({ choices }: Pick<Approval, "choices">, response: unknown): ApprovalAnswer {
  const { outcome, optionId } = toFields(toFields(response)["outcome"]);
  const index = choices.findIndex((_choice, position) => optionId === `allow-${position}`);
  const chosen = outcome === "selected" ? choices[index] : undefined;
  return chosen ? toAllowAnswer(chosen) : toDenyAnswer("");
}
