/** Lets the person decide about a plan, with the dialogs that every surface has. */
import type { DialogOptions, ExtensionUi } from "@tau/extensions";
import type { Plan } from "./plan-file.ts";

export type PlanDecision =
  | { readonly kind: "here" | "elsewhere"; readonly plan: Plan }
  | { readonly kind: "refused"; readonly reason: string }
  /** The person closed the question. */
  | { readonly kind: "undecided" };

const choices = {
  here: "Accept it, and continue here",
  elsewhere: "Accept it, and continue in a new session that has only the plan",
  change: "Change it in the editor",
  refuse: "Say what is wrong",
} as const;

/** `onChange` is called with each plan that the person has edited. */
export async function reviewPlan(
  ui: Pick<ExtensionUi, "select" | "input" | "editor">,
  proposed: Plan,
  { onChange, ...dialog }: DialogOptions & { onChange: (plan: Plan) => Promise<void> },
): Promise<PlanDecision> {
  let plan = proposed;
  for (;;) {
    const question = `The plan “${plan.name}”${plan === proposed ? "" : ", as you changed it"}: what next?`;
    switch (await ui.select(question, Object.values(choices), dialog)) {
      case choices.here:
        return { kind: "here", plan };
      case choices.elsewhere:
        return { kind: "elsewhere", plan };
      case choices.change: {
        const content = (await ui.editor(plan.name, plan.content, dialog))?.trim();
        if (content === undefined || content === "" || content === plan.content) break;
        plan = { ...plan, content };
        await onChange(plan);
        break;
      }
      case choices.refuse: {
        const reason = (await ui.input("What is wrong with the plan?", undefined, dialog))?.trim();
        if (reason === undefined || reason === "") break;
        return { kind: "refused", reason };
      }
      default:
        return { kind: "undecided" };
    }
    if (dialog.signal?.aborted) return { kind: "undecided" };
  }
}
