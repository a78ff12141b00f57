/** Handles changes of the log, the settings and the resources of a session. */
import { getErrorMessage, withoutUndefined } from "@tau/ai/internal";
import type { ExtensionHooks } from "@tau/extensions";
import { formatFileProblem, type SettingsChange } from "@tau/config/settings";
import type { RunHost } from "../run/run-host.ts";
import type { SessionEntry } from "../session/entry.ts";
import type { Activity } from "./activity.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { Notices } from "./notices.ts";
import { describeResourceProblems, type Services } from "./services.ts";
import type { ShownTools } from "./shown-tools.ts";

interface ChangeHandlersParts {
  services: Services;
  host: RunHost;
  model: ModelChoice;
  tools: ShownTools;
  activity: Activity;
  notices: Notices;
  getExtensions: () => ExtensionHooks | undefined;
}

export interface ChangeHandlers {
  onAppend: (entry: SessionEntry) => void;
  onSettings: (change: SettingsChange) => void;
  onResources: () => void;
}

export function createChangeHandlers(parts: ChangeHandlersParts): ChangeHandlers {
  const { host, model: choice, tools, activity, notices, getExtensions } = parts;
  const { settings, resources } = parts.services;
  let lastPublished = "";
  return {
    onAppend(entry) {
      host.publisher.fact({ type: "entry_appended", entry });
      if (entry.type === "session_info") void getExtensions()?.emit({ type: "session_info_changed", name: entry.name });
      const { model, thinkingLevel, role } = choice;
      if (!model || (entry.type !== "model_change" && entry.type !== "thinking_level_change")) return;
      // A model and its level are two entries, and one change.
      const told = JSON.stringify([model.provider, model.id, thinkingLevel, role]);
      if (told === lastPublished) return;
      lastPublished = told;
      const reason = entry.type === "model_change" ? entry.reason : undefined;
      host.publisher.fact({
        type: "model_changed",
        provider: model.provider,
        modelId: model.id,
        thinkingLevel,
        ...withoutUndefined({ role, reason }),
      });
    },
    onSettings({ changed, trustChanged, problems }) {
      for (const problem of problems) {
        // That trust was lost is one notice, not one for each setting that needs it.
        if (problem.kind !== "untrusted") notices.addNew("settings", formatFileProblem(problem));
      }
      if (changed.includes("tools")) tools.rebuild();
      if (trustChanged && settings.hasLostTrust) notices.add("trust", lostTrust);
      if (!trustChanged && !changed.includes("skills") && !changed.includes("prompts")) return;
      resources
        .reload()
        .catch((error: unknown) => notices.add("resources", `Reloading failed: ${getErrorMessage(error)}`));
    },
    onResources() {
      const { problems: all } = resources;
      const problems = settings.hasLostTrust ? all.filter(({ kind }) => kind !== "untrusted") : all;
      for (const { code, message } of describeResourceProblems({ problems })) notices.addNew(code, message);
      // A run keeps the prompt and the tools that it began with.
      if (!activity.isBusy) host.sent.addChangedFiles(tools.takeResources());
    },
  };
}

const lostTrust =
  "Files of this project changed after you trusted it, so from the next prompt on only its context files and the settings that need no trust count. Look at the changes, then: tau trust";
