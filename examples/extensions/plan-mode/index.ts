/**
 * First a plan, then the work. In plan mode the model has only tools that change nothing, and has to end with numbered
 * steps. `/plan` or ctrl+alt+p turns the mode on and off, `--plan` begins with it, and `/plan go` carries the plan out.
 */
import type { ExtensionAPI, ExtensionContext } from "@tau/extensions";
import { findSteps } from "./find-steps.ts";

const readingTools = new Set(["read", "grep", "find", "ls"]);
const entryType = "plan-mode";
const instruction = `Plan mode is on: nothing may be changed now. Look at what you need, then end your answer with the steps
that you would take, numbered, one line each.`;

export default function planMode(tau: ExtensionAPI): void {
  let isOn = false;
  let toolsBefore: string[] = [];

  const set = (next: boolean, context: ExtensionContext): void => {
    if (next === isOn) return;
    isOn = next;
    if (isOn) {
      toolsBefore = tau.getActiveTools();
      tau.setActiveTools(toolsBefore.filter((name) => readingTools.has(name)));
    } else tau.setActiveTools(toolsBefore);
    context.ui.setStatus("plan-mode", isOn ? "plan" : undefined);
    tau.appendEntry(entryType, { isOn });
  };

  tau.registerFlag("plan", { type: "boolean", description: "Begin in plan mode" });
  tau.on("session_start", ({ reason }, context) => {
    const last = context.sessionManager
      .getBranch()
      .findLast((entry) => entry.type === "custom" && entry.customType === entryType);
    const wasOn = last?.type === "custom" && (last.data as { isOn: boolean }).isOn;
    const isWanted = reason === "startup" && tau.getFlag("plan") === true;
    if (wasOn || isWanted) set(true, context);
  });

  tau.on("before_agent_start", ({ systemPrompt }) =>
    isOn ? { systemPrompt: `${systemPrompt}\n\n${instruction}` } : undefined,
  );
  // Tools can also be named by other extensions, so the mode does not rely on the list alone.
  tau.on("tool_call", ({ toolName }) =>
    isOn && !readingTools.has(toolName)
      ? { block: true, reason: `Plan mode is on, so ${toolName} is not used. Describe the step instead.` }
      : undefined,
  );
  tau.on("agent_end", ({ messages }, { ui }) => {
    if (!isOn) return;
    const steps = findSteps(messages);
    ui.setWidget("plan-mode", steps.length > 0 ? ["/plan go carries this out:", ...steps] : undefined);
  });

  tau.registerCommand("plan", {
    description: "Plan mode on or off; with go, carry out the plan",
    getArgumentCompletions: (prefix) =>
      "go".startsWith(prefix) ? [{ value: "go", label: "go", description: "Carry out the plan" }] : null,
    handler(args, context) {
      if (args !== "go") return set(!isOn, context);
      set(false, context);
      context.ui.setWidget("plan-mode", undefined);
      tau.sendUserMessage("Carry out the plan, step by step.");
    },
  });
  tau.registerShortcut("ctrl+alt+p", {
    description: "Plan mode on or off",
    handler: (context) => set(!isOn, context),
  });
}
