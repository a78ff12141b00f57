/** The code of the feature `review` in a session: `/review`. */
import type { ExtensionAPI, ExtensionCommandContext, ExtensionFactory } from "@tau/extensions";
import { reviewCommand } from "./feature.ts";
import { formatReview } from "./findings.ts";
import { findTarget } from "./read-changes.ts";
import { describeTarget, parseTarget, type ReviewTarget } from "./review-target.ts";
import { runReview } from "./run-review.ts";

/** The type of the messages in the log. */
const reviewMessageType = "review";

export const createReviewExtension = (): ExtensionFactory => (tau) =>
  tau.registerCommand(reviewCommand.name, {
    description: reviewCommand.description,
    handler: async (args, context) => await reviewAndTell(tau, args, context),
  });

async function reviewAndTell(tau: ExtensionAPI, args: string, context: ExtensionCommandContext): Promise<void> {
  const { ui } = context;
  const signal = tau.getChildrenSignal();
  const chosen = await choose(tau, args, signal);
  if ("problem" in chosen) return ui.notify(chosen.problem, "error");
  ui.setStatus(reviewMessageType, `Reviewing ${describeTarget(chosen.target)}…`);
  try {
    const outcome = await runReview(tau, { ...chosen, signal });
    if (outcome.kind === "nothing") return ui.notify(describeNothing(chosen.target));
    if (outcome.kind === "failed") return ui.notify(`The review did not work: ${outcome.reason}`, "error");
    const content = formatReview(outcome.review, outcome.description);
    // Where messages of the log are not shown, nobody would see it.
    if (context.mode === "print" || context.mode === "json") ui.notify(content);
    await context.waitForIdle();
    // The next prompt may be about it.
    tau.sendMessage({ customType: reviewMessageType, content, display: true, details: outcome.review });
  } finally {
    ui.setStatus(reviewMessageType, undefined);
  }
}

type Chosen = { readonly target: ReviewTarget; readonly instructions: string } | { readonly problem: string };

async function choose(tau: ExtensionAPI, args: string, signal: AbortSignal): Promise<Chosen> {
  const parsed = parseTarget(args);
  if (parsed.kind === "invalid") return { problem: parsed.problem };
  if (parsed.kind === "parsed") return parsed;
  const target = await findTarget(tau, parsed.word, { cwd: tau.getCwd(), signal });
  return target ? { target, instructions: "" } : { target: { kind: "uncommitted" }, instructions: parsed.word };
}

const describeNothing = (target: ReviewTarget): string =>
  target.kind === "uncommitted"
    ? "There are no uncommitted changes to review. /review BRANCH reviews what is new since a branch."
    : `There is nothing to review: ${describeTarget(target)} changes no file below this directory.`;
