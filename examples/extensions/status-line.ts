/** Below the editor: how full the context is, how many turns the last run took, and how long. `/status-line` turns it off. */
import type { ExtensionAPI, ExtensionContext } from "@tau/extensions";

const key = "status-line";

export default function statusLine(tau: ExtensionAPI): void {
  let isShown = true;
  let turns = 0;
  let startedAt: number | undefined;
  let seconds = 0;

  const show = (context: ExtensionContext): void => {
    const usage = context.getContextUsage();
    const filled = typeof usage?.percent === "number" ? `context ${Math.round(usage.percent)} %` : "context ?";
    const run = turns === 0 ? [] : [`${turns} ${turns === 1 ? "turn" : "turns"}`, `${seconds} s`];
    context.ui.setStatus(key, isShown ? [filled, ...run].join(" · ") : undefined);
  };

  tau.on("session_start", (_event, context) => show(context));
  tau.on("model_select", (_event, context) => show(context));
  tau.on("session_compact", (_event, context) => show(context));
  tau.on("agent_start", () => {
    turns = 0;
    startedAt = Date.now();
  });
  tau.on("turn_end", (_event, context) => {
    turns++;
    if (startedAt !== undefined) seconds = Math.round((Date.now() - startedAt) / 1_000);
    show(context);
  });

  tau.registerCommand("status-line", {
    description: "Show or hide the status line",
    handler(_args, context) {
      isShown = !isShown;
      show(context);
    },
  });
}
