/** What Google documents about its model families. It is keyed by model id, because no response says it. */
import type { Model } from "../../model.ts";

export interface GoogleFamily {
  /** Whether thinking is set by a level or by a number of tokens. */
  thinksBy: "level" | "budget";
  /** What a budget may be, where it is documented. `canBeOff`: zero turns thinking off. */
  budget?: { least: number; most: number; canBeOff: boolean };
  /** Calls and results carry ids. */
  callIds: boolean;
  /** The first call of each turn must carry a signature. */
  callSignatures: boolean;
  /** Results may hold images. */
  imagesInResults: boolean;
  /** Can be held to the schemas of its tools. */
  validatedCalls: boolean;
  /** Tools may be described in JSON Schema, not only in OpenAPI's. */
  jsonSchema: boolean;
}

const budgets: readonly [RegExp, NonNullable<GoogleFamily["budget"]>][] = [
  [/2\.5-pro/, { least: 128, most: 32_768, canBeOff: false }],
  [/2\.5-flash-lite/, { least: 512, most: 24_576, canBeOff: true }],
  [/2\.5-flash/, { least: 1, most: 24_576, canBeOff: true }],
];

export function getFamily(model: Model): GoogleFamily {
  const generation = getGeneration(model.id);
  const third = generation >= 3;
  const hasLevels = Object.values(model.thinkingLevelMap ?? {}).some((word) => typeof word === "string");
  const budget = budgets.find(([pattern]) => pattern.test(model.id))?.[1];
  return {
    thinksBy: hasLevels || third ? "level" : "budget",
    ...(budget && { budget }),
    callIds: third,
    callSignatures: third,
    imagesInResults: third,
    validatedCalls: third,
    jsonSchema: generation >= 2.5 || generation === 0,
  };
}

/** 2.5 for `gemini-2.5-pro`; the newest for `gemini-flash-latest`; 0 for what is no Gemini. */
function getGeneration(id: string): number {
  const [, name, version] = /(gemini)-(?:live-)?(\d+(?:\.\d+)?)?/i.exec(id) ?? [];
  if (!name) return 0;
  return version === undefined ? Number.POSITIVE_INFINITY : Number(version);
}
