/** The choices that an editor offers for a session: its mode, model and thinking level. Pure. */
import { type ModelData, type PermissionData, permissionModeTexts, type ThinkingLevelName } from "@tau/protocol";
import type { SessionConfigOption, SessionConfigSelectOption, SessionModeState } from "./schema.generated.ts";

interface SessionChoices {
  permissions: PermissionData;
  models: readonly Pick<ModelData, "provider" | "id" | "name">[];
  model: Pick<ModelData, "provider" | "id" | "name"> | undefined;
  thinkingLevels: readonly ThinkingLevelName[];
  thinkingLevel: ThinkingLevelName;
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const toModes = ({ mode, choices }: PermissionData): SessionModeState => ({
  currentModeId: mode,
  availableModes: choices.map((id) => ({ id, name: capitalise(id), description: capitalise(permissionModeTexts[id]) })),
});

const getModelValue = ({ provider, id }: Pick<ModelData, "provider" | "id">): string => `${provider}/${id}`;

/** The mode is here too: clients that know these options show no others. */
export function toConfigOptions(choices: SessionChoices): SessionConfigOption[] {
  const { permissions, model, thinkingLevels, thinkingLevel } = choices;
  const { currentModeId, availableModes } = toModes(permissions);
  const modes = availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    ...(description && { description }),
  }));
  return [
    {
      id: "mode",
      name: "Permissions",
      description: "How much is done without asking",
      category: "mode",
      type: "select",
      currentValue: currentModeId,
      options: modes,
    },
    ...(model ? [toModelOption(choices, model)] : []),
    ...(thinkingLevels.length > 1 ? [toThinkingOption(thinkingLevels, thinkingLevel)] : []),
  ];
}

/** Grouped by provider where there are several. The current model is there even if it is not among the others. */
function toModelOption(
  { models: available }: SessionChoices,
  current: NonNullable<SessionChoices["model"]>,
): SessionConfigOption {
  const currentValue = getModelValue(current);
  const models = available.some((model) => getModelValue(model) === currentValue) ? available : [current, ...available];
  const toOption = (model: (typeof models)[number]): SessionConfigSelectOption => ({
    value: getModelValue(model),
    name: model.name,
  });
  const providers = [...new Set(models.map(({ provider }) => provider))];
  const options =
    providers.length === 1
      ? models.map(toOption)
      : providers.map((provider) => ({
          group: provider,
          name: provider,
          options: models.filter((model) => model.provider === provider).map(toOption),
        }));
  return { id: "model", name: "Model", category: "model", type: "select", currentValue, options };
}

const toThinkingOption = (
  levels: SessionChoices["thinkingLevels"],
  current: ThinkingLevelName,
): SessionConfigOption => ({
  id: "thinking",
  name: "Thinking",
  description: "How much the model thinks",
  category: "thought_level",
  type: "select",
  currentValue: current,
  options: levels.map((level) => ({ value: level, name: capitalise(level) })),
});
