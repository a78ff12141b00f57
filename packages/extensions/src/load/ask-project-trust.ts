/**
 * Asks the extensions of the user whether a project is trusted, before anything of the project applies. They are loaded for
 * this question alone: the session that may follow loads its own.
 */
import { type Clock, type Ids, systemClock } from "@tau/ai";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { readTrust, writeTrust } from "@tau/config/trust";
import { type CombinedResult, combineResult } from "../runner/combine-results.ts";
import type { ExtensionContext, ExtensionMode } from "../api/context.ts";
import type { ExtensionEvent, ExtensionResult } from "../api/events.ts";
import type { ExtensionProblem } from "../api/extension.ts";
import { type ExtensionPlace, type ExtensionsParams, hasExtensions } from "./has-extensions.ts";
import { loadWithoutSession } from "./load-without-session.ts";
import { parseResult } from "../runner/parse-results.ts";
import { maxHandlerMs } from "../runner/handler-limits.ts";
import { type ExtensionUi, noUi } from "../api/ui.ts";
import { ExtensionError } from "../errors.ts";

export interface AskProjectTrustParts extends ExtensionPlace {
  ids: Ids;
  clock?: Clock;
  mode: ExtensionMode;
  /** Default: nobody can be asked. */
  ui?: Pick<ExtensionUi, "select" | "confirm" | "input" | "notify">;
  report: (problem: ExtensionProblem) => void;
}

/** Undefined if no extension decides. A yes that is to be remembered is bound to the files of the project as they are. */
export async function askProjectTrust(
  params: ExtensionsParams,
  { cwd, agentDir, settings, ids, clock = systemClock, mode, ui = noUi, report }: AskProjectTrustParts,
): Promise<boolean | undefined> {
  const place = { cwd, agentDir, settings };
  if (!hasExtensions(params, place)) return undefined;
  const { extensions } = await loadWithoutSession(params, { ...place, clock, report });
  const hasUI = mode === "tui" || mode === "rpc";
  const context = { cwd, mode, hasUI, ui } as unknown as ExtensionContext;
  // Where a person can be asked, an answer takes as long as it takes.
  const limit = async (answer: unknown): Promise<unknown> => {
    if (ui !== noUi) return await answer;
    const outcome = await untilTimeout(Promise.resolve(answer), maxHandlerMs, clock);
    if (outcome.kind === "done") return outcome.value;
    throw new ExtensionError("timeout", `it took more than ${maxHandlerMs / 1_000} seconds`);
  };
  let event: ExtensionEvent<"project_trust"> = { type: "project_trust", cwd };
  let result: CombinedResult<"project_trust"> | undefined;
  for (const { handlers, source } of extensions) {
    for (const handler of result ? [] : (handlers.get("project_trust") ?? [])) {
      try {
        ({ event, result } = combineResult(
          event,
          result,
          parseResult(event.type, await limit(handler(event, context))),
        ));
      } catch (error) {
        report({ extension: source.name, message: `Its handler of project_trust failed: ${getErrorMessage(error)}` });
      }
    }
  }
  for (const extension of extensions) await extension.close();
  return result && (await take(result, { cwd, agentDir, ids }));
}

async function take(
  { trusted, remember = false }: ExtensionResult<"project_trust">,
  options: { cwd: string; agentDir: string; ids: Ids },
): Promise<boolean> {
  if (trusted !== "yes" || !remember) return trusted === "yes";
  const { digest } = await readTrust(options);
  return (await writeTrust(options, true, digest)).trusted;
}
