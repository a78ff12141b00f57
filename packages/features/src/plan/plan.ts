/** The code of the feature `plan`. */
import { systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionCommandContext, ExtensionFactory, FeaturePlace } from "@tau/extensions";
import { proposePlanTool } from "./feature.ts";
import {
  findLastPlan,
  formatPlan,
  parsePlan,
  type Plan,
  planEntryType,
  type PlanState,
  writePlan,
} from "./plan-file.ts";
import { useModelBefore, usePlanModel } from "./plan-model.ts";
import { type PlanDecision, reviewPlan } from "./review-plan.ts";

const carryOut = (plan: Plan): string => `Carry out this plan, which I have accepted:\n\n${formatPlan(plan)}`;

/** The command that continues in a new session. */
const continueCommand = "continue";

export const createPlanExtension =
  ({ agentDir, cwd }: FeaturePlace): ExtensionFactory =>
  (tau) => {
    const isPlanning = () => tau.getPermissionMode() === "plan";
    const place = { agentDir, cwd, clock: systemClock, ids: systemIds };
    const note = (plan: Plan, state: PlanState, more: object = {}) =>
      tau.appendEntry(planEntryType, { ...plan, state, ...more });
    const save = async (plan: Plan, state: PlanState): Promise<string> => {
      const path = await writePlan(plan, place);
      note(plan, state, { path });
      return path;
    };

    tau.registerTool({
      ...proposePlanTool,
      async execute(_id, args: unknown, signal, _onUpdate, { hasUI, ui }) {
        if (!isPlanning()) throw new Error("Plan mode is off: do what you were asked for, without a plan to accept.");
        const proposed = parsePlan(args);
        const path = await save(proposed, "proposed");
        if (!hasUI) return toResult(formatUnattended(path), { path });
        const decision = await reviewPlan(ui, proposed, {
          ...(signal && { signal }),
          onChange: async (changed) => void (await save(changed, "changed")),
        });
        signal?.throwIfAborted();
        if (decision.kind === "here" || decision.kind === "elsewhere") {
          note(decision.plan, "accepted");
          await tau.setPlanMode(false);
        }
        if (decision.kind === "refused") note(proposed, "refused", { reason: decision.reason });
        if (decision.kind === "elsewhere")
          tau.sendUserMessage(`/plan ${continueCommand}`, { deliverAs: "followUp", expandPromptTemplates: true });
        const ends = decision.kind === "elsewhere" || decision.kind === "undecided";
        return {
          ...toResult(formatDecision(decision, proposed), { path, ...decision }),
          ...(ends && { terminate: true }),
        };
      },
    });

    tau.registerCommand("plan", {
      description: "Turn plan mode on or off; with a text, plan that; `continue` in a new session",
      async handler(args, context) {
        const text = args.trim();
        if (text === continueCommand) return await continueElsewhere(context);
        const turnsOn = text === "on" || (text !== "off" && (text !== "" || !isPlanning()));
        await tau.setPlanMode(turnsOn);
        context.ui.notify(
          turnsOn
            ? "Plan mode is on: nothing can be written until you leave it with /plan off."
            : `Plan mode is off. The permission mode is ${tau.getPermissionMode()}.`,
        );
        if (turnsOn && text !== "" && text !== "on") tau.sendUserMessage(text);
      },
    });

    /** Begins a session with the last plan alone; where that cannot be shown, the plan is carried out here. */
    async function continueElsewhere(context: ExtensionCommandContext): Promise<void> {
      const { ui, sessionManager } = context;
      const plan = findLastPlan(sessionManager.getBranch());
      if (!plan) return ui.notify("There is no plan in this session. /plan turns plan mode on.", "warning");
      await context.waitForIdle();
      await tau.setPlanMode(false);
      try {
        await context.newSession({ withSession: (next) => next.sendUserMessage(carryOut(plan)) });
      } catch (error) {
        ui.notify(`No new session could be begun: ${getErrorMessage(error)} The plan is carried out here.`, "warning");
        tau.sendUserMessage(carryOut(plan));
      }
    }

    tau.on("session_start", async (_event, context) => {
      if (isPlanning()) await usePlanModel(tau, context);
    });
    tau.on("permission_mode_select", async ({ mode, previousMode }, context) => {
      if (mode === "plan") await usePlanModel(tau, context);
      else if (previousMode === "plan") await useModelBefore(tau, context);
    });
  };

const toResult = (text: string, details: object) => ({ content: [{ type: "text" as const, text }], details });

const formatUnattended = (path: string): string =>
  `The plan is in ${path}. No person is there to accept it, and plan mode stays on: end with the plan as your answer.`;

/** For the model. */
function formatDecision(decision: PlanDecision, proposed: Plan): string {
  switch (decision.kind) {
    case "here": {
      const changed = decision.plan === proposed ? "" : ` They changed it:\n\n${formatPlan(decision.plan)}`;
      return `The user accepted the plan. Plan mode is off: carry it out now.${changed}`;
    }
    case "elsewhere":
      return "The user accepted the plan, and continues with it in another session.";
    case "refused":
      return `The user does not accept the plan: ${decision.reason}\nPlan mode stays on. Propose another one.`;
    case "undecided":
      return "The user has not decided about the plan yet. Plan mode stays on: wait for them.";
  }
}
