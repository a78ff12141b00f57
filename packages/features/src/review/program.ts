/** `tau review`. */
import { HarnessError } from "@tau/protocol";
import type { ProgramContext } from "@tau/extensions";
import { toVisible } from "../kit/visible-text.ts";
import { formatReview, isAtLeast, isSeverity, type Review } from "./findings.ts";
import type { ReviewTarget } from "./review-target.ts";
import { runReview } from "./run-review.ts";

/** `failed` if there is a finding that `--fail-on` is about. */
export async function runReviewProgram(context: ProgramContext): Promise<"failed" | void> {
  const { out, err, has, value, signal } = context;
  const target = chooseTarget(context);
  const limit = value("fail-on");
  const model = value("model");
  const outcome = await context.withSession(async (tau) => await runReview(tau, { target, instructions: "", signal }), {
    model: model ?? true,
  });
  if (outcome.kind === "failed")
    throw new HarnessError(signal.aborted ? "aborted" : "unavailable", `The review did not work: ${outcome.reason}`);
  const review: Review =
    outcome.kind === "reviewed" ? outcome.review : { findings: [], summary: "There are no changes to review." };
  if (has("json")) out(`${JSON.stringify({ target, ...review })}\n`);
  else if (outcome.kind === "nothing") err("There are no changes to review.\n");
  else out(`${toVisible(formatReview(review, outcome.description))}\n`);
  const fails =
    limit !== undefined && isSeverity(limit) && review.findings.some((finding) => isAtLeast(finding, limit));
  return fails ? "failed" : undefined;
}

function chooseTarget({ has, value }: ProgramContext): ReviewTarget {
  const [base, commit] = [value("base"), value("commit")];
  const chosen: ReviewTarget[] = [
    ...(has("uncommitted") ? [{ kind: "uncommitted" } as const] : []),
    ...(base === undefined ? [] : [{ kind: "base", name: base } as const]),
    ...(commit === undefined ? [] : [{ kind: "commit", name: commit } as const]),
  ];
  if (chosen.length > 1)
    throw new HarnessError("invalid_input", "Only one of --uncommitted, --base and --commit can be given.");
  return chosen[0] ?? { kind: "uncommitted" };
}
