/** The code of the feature `goal`. */
import type { ExtensionContext, ExtensionFactory } from "@tau/extensions";
import { checkGoal } from "./check-goal.ts";
import { goalCommand } from "./feature.ts";
import { decideNextRun, formatStatus, type Goal, parseGoalCommand, readGoal } from "./goal-state.ts";
import { getSessionCost } from "./session-cost.ts";

/** Names the entries, the messages and the status. */
const type = "goal";

export const goalExtension: ExtensionFactory = (tau) => {
  let goal: Goal | undefined;

  const getCost = ({ sessionManager }: ExtensionContext) => getSessionCost(sessionManager.getEntries());
  const show = (context: ExtensionContext) => context.ui.setStatus(type, goal && formatStatus(goal, getCost(context)));
  const set = (next: Goal | undefined, context: ExtensionContext) => {
    goal = next;
    tau.appendEntry(type, next ? { goal: next } : {});
    show(context);
  };
  const end = (message: string, context: ExtensionContext) => {
    set(undefined, context);
    context.ui.notify(message);
  };
  const restore = (context: ExtensionContext) => {
    const entry = context.sessionManager
      .getBranch()
      .findLast((each) => each.type === "custom" && each.customType === type);
    goal = entry?.type === "custom" ? readGoal(entry.data, getCost(context)) : undefined;
    show(context);
  };

  tau.on("session_start", (_event, context) => restore(context));
  tau.on("session_tree", (_event, context) => restore(context));
  tau.registerCommand(goalCommand.name, {
    description: goalCommand.description,
    handler: (args, context) => {
      const command = parseGoalCommand(args);
      switch (command.kind) {
        case "show":
          return context.ui.notify(goal ? describe(goal, getCost(context)) : "There is no goal. /goal TEXT sets one.");
        case "off":
          return goal ? end("The goal is off.", context) : context.ui.notify("There is no goal.");
        case "invalid":
          return context.ui.notify(command.message, "error");
        case "set": {
          set({ ...command.goal, runs: 0, startCost: getCost(context) }, context);
          const content = `The user set a goal. Work until it is reached; it is checked whenever you stop.\n\nGoal: ${command.goal.text}`;
          return tau.sendMessage(
            { customType: type, content, display: true },
            { triggerTurn: true, deliverAs: "followUp" },
          );
        }
      }
    },
  });
  tau.on("agent_before_settle", async (event, context) => {
    // Others want the run to continue, so this is not its end.
    if (!goal || event.outcome !== "completed" || event.continue) return undefined;
    const checked = goal;
    context.ui.setStatus(type, "goal: checking");
    const verdict = await checkGoal(checked, { tau, context });
    // The person may have ended it, or stopped the run.
    if (goal !== checked || context.signal?.aborted) return undefined;
    const next = decideNextRun(checked, verdict, getCost(context));
    if (next.kind === "end") {
      end(next.message, context);
      return undefined;
    }
    set(next.goal, context);
    const entry = { type: "custom_message" as const, customType: type, content: next.message, display: true };
    return { entries: [...event.entries, entry], continue: true };
  });
  tau.on("agent_settled", ({ aborted }, context) => {
    if (goal && aborted) end("The goal ends, because you stopped the run.", context);
  });
};

const describe = (goal: Goal, cost: number): string =>
  `${formatStatus(goal, cost)}: ${goal.text}${goal.check === undefined ? "" : ` (check: ${goal.check})`}`;
