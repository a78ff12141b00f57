/** How Google's model families differ, according to its documentation. The family is derived from the model id. */
import type { Model } from "../../model.ts";

export interface GoogleFamily {
  /** Whether thinking is controlled by a level or by a number of tokens. */
  thinksBy: "level" | "budget";
  /** The limits of the thinking budget, if documented. `canBeOff`: a budget of 0 turns thinking off. */
  budget?: { min: number; max: number; canBeOff: boolean };
  /** Calls and results have ids. */
  callIds: boolean;
  /** The first call of each turn must have a signature. */
  callSignatures: boolean;
  /** Results may contain images. */
  imagesInResults: boolean;
  /** Supports the calling mode `VALIDATED`, which enforces the schemas of the tools. */
  validatedCalls: boolean;
  /** Accepts JSON Schema for tools, not only OpenAPI schemas. */
  jsonSchema: boolean;
}

const budgets: readonly [RegExp, NonNullable<GoogleFamily["budget"]>][] = [
  [/2\.5-pro/, { min: 128, max: 32_768, canBeOff: false }],
  [/2\.5-flash-lite/, { min: 512, max: 24_576, canBeOff: true }],
  [/2\.5-flash/, { min: 1, max: 24_576, canBeOff: true }],
];

export function getFamily(model: Model): GoogleFamily {
  const generation = getGeneration(model.id);
  const isThird = generation >= 3;
  const hasLevels = Object.values(model.thinkingLevelMap ?? {}).some((value) => typeof value === "string");
  const budget = budgets.find(([pattern]) => pattern.test(model.id))?.[1];
  return {
    thinksBy: hasLevels || isThird ? "level" : "budget",
    ...(budget && { budget }),
    callIds: isThird,
    callSignatures: isThird,
    imagesInResults: isThird,
    validatedCalls: isThird,
    jsonSchema: generation >= 2.5 || generation === 0,
  };
}

/** 2.5 for `gemini-2.5-pro`, infinity for `gemini-flash-latest`, and 0 if the model is not a Gemini. */
function getGeneration(id: string): number {
  const [, name, version] = /(gemini)-(?:live-)?(\d+(?:\.\d+)?)?/i.exec(id) ?? [];
  if (!name) return 0;
  return version === undefined ? Number.POSITIVE_INFINITY : Number(version);
}
