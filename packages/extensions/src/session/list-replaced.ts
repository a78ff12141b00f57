/** Lists what extensions use instead of something that tau has itself. Pure. */
import { slashCommandNames, slashCommands } from "@tau/protocol/surface";
import { toolNames } from "@tau/tools";
import type { Extension } from "../api/extension.ts";
import type { Owned, ResolvedRegistrations } from "../load/conflicts.ts";

/** Names that the features of a session bring. */
export interface FeatureNames {
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  /** Whether a prompt template has this name. It is used instead of a command of a feature. */
  isTemplate(name: string): boolean;
}

export interface Replaced {
  readonly kind: "tool" | "command" | "flag";
  /** Without the slash of a command and the dashes of a flag. */
  readonly name: string;
  /** The name of the extension. */
  readonly by: string;
}

interface ReplacedParts {
  /** Without those of features. */
  registrations: Pick<ResolvedRegistrations, "tools" | "commands" | "flags">;
  features: FeatureNames;
  /** The features whose code is loaded: only that registers flags. */
  loadedFeatures: readonly Extension[];
}

export function listReplaced({ registrations, features, loadedFeatures }: ReplacedParts): Replaced[] {
  const { tools, commands, flags } = registrations;
  const find = (kind: Replaced["kind"], all: ReadonlyMap<string, Owned<unknown>>, names: readonly string[]) =>
    [...new Set(names)].flatMap((name): Replaced[] => {
      const owner = all.get(name)?.extension;
      return owner ? [{ kind, name, by: owner.source.name }] : [];
    });
  return [
    ...find("tool", tools, [...toolNames, ...features.tools]),
    ...find("command", commands, [...yieldingCommands, ...features.commands]),
    ...find(
      "flag",
      flags,
      loadedFeatures.flatMap((feature) => [...feature.flags.keys()]),
    ),
  ];
}

const yieldingCommands = slashCommandNames.filter((name) => slashCommands[name].yields);
