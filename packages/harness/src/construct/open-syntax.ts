/** The syntax of source files, from the feature of a session that has it. */
import type { Feature, FeaturePlace, FeatureSyntax } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import type { Syntax } from "@tau/tools";

type Spawn = Parameters<FeatureSyntax["open"]>[1]["spawn"];

interface SyntaxParts {
  features: readonly Feature[];
  place: FeaturePlace;
  spawn: Spawn;
}

/** Undefined if no feature has it. Loads its code with the first question; if that fails, the next one tries again. */
export function openSyntax({ features, place, spawn }: SyntaxParts): (Syntax & { close(): Promise<void> }) | undefined {
  const source = features.find(({ syntax }) => syntax)?.syntax;
  if (!source) return undefined;
  let opening: ReturnType<FeatureSyntax["open"]> | undefined;
  return {
    knows: (path) => source.knows(path, place),
    isShownByRead: () => source.isShownByRead(place),
    async getOutline(path, text) {
      try {
        opening ??= source.open(place, { spawn });
        return await (await opening).getOutline(path, text);
      } catch (error) {
        opening = undefined;
        return { kind: "unavailable", message: `${path} could not be parsed: ${getErrorMessage(error)}.` };
      }
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
