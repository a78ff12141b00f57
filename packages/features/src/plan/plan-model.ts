/** Uses the model of the role `plan` while plan mode is on, and the one before it afterwards. */
import { isRecord } from "@tau/ai/internal";
import type { ExtensionAPI, ExtensionContext } from "@tau/extensions";
import type { ThinkingLevel } from "@tau/agent";

type Api = Pick<ExtensionAPI, "setModel" | "setThinkingLevel" | "appendEntry">;

/** The type of the entry that has the model from before, for a session that is opened again. */
const modelEntryType = "plan_model";

interface ModelBefore {
  provider: string;
  id: string;
  thinkingLevel: ThinkingLevel;
}

/** Does nothing if the role has no model of its own, or the session uses it already. */
export async function usePlanModel(tau: Api, { model, modelRegistry, thinkingLevel }: ExtensionContext): Promise<void> {
  const role = modelRegistry.findRole("plan");
  if (!role || !model || isSame(role.model, model)) return;
  if (!(await tau.setModel(role.model))) return;
  if (role.thinkingLevel !== undefined) tau.setThinkingLevel(role.thinkingLevel);
  tau.appendEntry(modelEntryType, { provider: model.provider, id: model.id, thinkingLevel } satisfies ModelBefore);
}

/** A person who has chosen another model meanwhile keeps it. */
export async function useModelBefore(tau: Api, context: ExtensionContext): Promise<void> {
  const { model, modelRegistry, sessionManager } = context;
  const role = modelRegistry.findRole("plan");
  const entry = sessionManager
    .getEntries()
    .findLast((each) => each.type === "custom" && each.customType === modelEntryType);
  const data: unknown = entry?.type === "custom" ? entry.data : undefined;
  if (!role || !model || !isSame(role.model, model) || !isRecord(data)) return;
  const { provider, id, thinkingLevel } = data as unknown as ModelBefore;
  const before = modelRegistry.find(provider, id);
  if (before && (await tau.setModel(before))) tau.setThinkingLevel(thinkingLevel);
}

const isSame = (a: { provider: string; id: string }, b: { provider: string; id: string }): boolean =>
  a.provider === b.provider && a.id === b.id;
