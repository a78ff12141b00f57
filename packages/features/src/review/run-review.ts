/** Reviews changes with a child that can only read. */
import { systemIds } from "@tau/ai";
import { parseOutput, withoutUndefined } from "@tau/ai/internal";
import type { ChildOutcome, ExtensionAPI } from "@tau/extensions";
import { askUntilFits, type AnswerCheck, maxCorrections } from "../kit/ask-until-fits.ts";
import { getMessage } from "../kit/thrown-values.ts";
import { type Review, reviewSchema, toReview } from "./findings.ts";
import { readChanges } from "./read-changes.ts";
import { formatReviewPrompt, reviewRules } from "./review-prompt.ts";
import { describeTarget, type ReviewTarget } from "./review-target.ts";

interface ReviewRequest {
  readonly target: ReviewTarget;
  readonly instructions: string;
  /** Default: that of the session. */
  readonly model?: string | undefined;
  readonly signal: AbortSignal;
}

type ReviewOutcome =
  | { readonly kind: "reviewed"; readonly review: Review; readonly description: string }
  | { readonly kind: "nothing" }
  /** It was not possible, or no answer came that fits. */
  | { readonly kind: "failed"; readonly reason: string };

/** The tools of the child: none of them writes or executes. */
const readingTools: readonly string[] = ["read", "grep", "find", "ls"];

type ReviewPort = Pick<ExtensionAPI, "openChild" | "spawn" | "getCwd">;

export async function runReview(tau: ReviewPort, request: ReviewRequest): Promise<ReviewOutcome> {
  const { target, instructions, signal } = request;
  const cwd = tau.getCwd();
  const changes = await readChanges(tau, target, { cwd, signal });
  if (changes.kind === "none") return { kind: "nothing" };
  if (changes.kind === "refused") return { kind: "failed", reason: changes.reason };
  const description = describeTarget(target);
  const prompt = formatReviewPrompt({ description, changes, instructions, tag: systemIds() });
  const child = await tau.openChild({
    name: "review",
    tools: readingTools,
    systemPrompt: reviewRules,
    ...withoutUndefined({ model: request.model }),
  });
  try {
    const { answer, check } = await askUntilFits<ChildOutcome, Review>(prompt, {
      ask: async (text) => await child.prompt(text, { signal }),
      check: async (outcome) => await checkOutcome(outcome, cwd),
      maxCorrections,
    });
    if (check.kind === "fits") return { kind: "reviewed", review: check.value, description };
    if (check.kind === "unfit")
      return { kind: "failed", reason: `No answer had the form of a review: ${getMessage(check.error)}` };
    return { kind: "failed", reason: answer.reason ?? "There was no answer." };
  } finally {
    await child.close();
  }
}

async function checkOutcome({ kind, text }: ChildOutcome, cwd: string): Promise<AnswerCheck<Review>> {
  if (kind !== "done") return { kind: "unchecked" };
  try {
    return { kind: "fits", value: toReview((await parseOutput(text, reviewSchema)) as Review, cwd) };
  } catch (error) {
    return { kind: "unfit", error };
  }
}
