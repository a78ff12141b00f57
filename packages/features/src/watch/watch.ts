/** The code of the feature `watch`. */
import type { ExtensionContext, ExtensionFactory, FeaturePlace } from "@tau/extensions";
import { findMatch } from "./find-match.ts";
import { findRules } from "./find-rules.ts";
import type { WatchRule } from "./rule.ts";

/** Answers of one run that may be stopped. After that the rules rest, so that a run comes to an end. */
const maxStops = 3;

export const createWatchExtension =
  (place: FeaturePlace): ExtensionFactory =>
  (tau) => {
    let rules: readonly WatchRule[] = [];
    let stops = 0;
    const used = new Set<string>();
    /** The rule that stopped the answer of this turn. */
    let broken: WatchRule | undefined;
    const reported = new Set<string>();

    // Read again for each run: rules change, and so does trust.
    tau.on("agent_start", async (_event, context) => {
      stops = 0;
      used.clear();
      broken = undefined;
      const found = await findRules(place);
      rules = found.rules;
      for (const { path, reason } of found.refused) report(`The rule ${path} is not used. ${reason}`, context);
    });
    tau.on("message_end", ({ message }) => {
      if (message.role !== "assistant" || stops >= maxStops) return;
      if (message.stopReason === "error" || message.stopReason === "aborted") return;
      broken = findMatch(
        rules.filter(({ path, repeats }) => repeats || !used.has(path)),
        message.content,
      );
      if (!broken) return;
      stops++;
      used.add(broken.path);
    });
    tau.on("tool_call", () => {
      if (broken) return { block: true, reason: `Not executed: the rule "${broken.name}" stopped this answer.` };
      return undefined;
    });
    tau.on("turn_end", ({ entries, outcome }) => {
      const rule = broken;
      broken = undefined;
      if (!rule || outcome === "aborted") return undefined;
      const content = `A rule of the user, "${rule.name}", stopped your last answer. None of its calls was executed. The rule says:\n\n${rule.text}`;
      const details = { rule: rule.name, path: rule.path };
      const entry = { type: "custom_message" as const, customType: "watch", content, display: true, details };
      return { entries: [...entries, entry], continue: true };
    });

    /** Once, until it says something else. */
    function report(message: string, { ui }: ExtensionContext): void {
      if (reported.has(message)) return;
      reported.add(message);
      ui.notify(message, "warning");
    }
  };
