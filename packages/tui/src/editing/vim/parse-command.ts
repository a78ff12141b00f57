/** Reads the keys of a command of vim, as far as they are typed. Pure. */
import { isFindKey, type Motion } from "./motions.ts";
import { isObjectKey } from "./text-objects.ts";

export type Operator = "d" | "c" | "y";

export type Command =
  | { readonly kind: "motion"; readonly motion: Motion; readonly count: number | undefined }
  | {
      readonly kind: "operate";
      readonly operator: Operator;
      readonly motion: Motion;
      readonly count: number | undefined;
    }
  | {
      readonly kind: "object";
      readonly operator: Operator | undefined;
      readonly key: string;
      readonly isAround: boolean;
    }
  /** `dd`, `cc` or `yy`. */
  | { readonly kind: "lines"; readonly operator: Operator; readonly count: number }
  /** A key that does something by itself; `r` with the character to put. */
  | { readonly kind: "action"; readonly key: string; readonly count: number | undefined; readonly character?: string };

type Parsed =
  | { readonly kind: "incomplete" }
  | { readonly kind: "invalid" }
  | { readonly kind: "command"; readonly command: Command };

/** More would only make a person wait. */
const maxCount = 999;

const incomplete: Parsed = { kind: "incomplete" };
const invalid: Parsed = { kind: "invalid" };
const toCommand = (command: Command): Parsed => ({ kind: "command", command });

const motionKeys: readonly string[] = [..."hjklwWbBeE0^$G;,"];
const actionKeys: readonly string[] = [..."xXsSDCYpPu.iIaAoOvV", "ctrl+r"];
const visualKeys: readonly string[] = [..."dxcsypPuvVo", "ctrl+r"];
const operators: readonly string[] = ["d", "c", "y"];

/** `isVisual`: a text is selected, which operators then take. */
export function parseCommand(keys: readonly string[], isVisual: boolean): Parsed {
  const first = readCount(keys, 0);
  const key = keys[first.index];
  if (key === undefined) return incomplete;
  const rest = first.index + 1;
  if (isVisual && (key === "i" || key === "a")) return parseObject(keys, rest, undefined);
  if ((isVisual ? visualKeys : actionKeys).includes(key)) return toCommand({ kind: "action", key, count: first.count });
  if (key === "r" && !isVisual) {
    const character = keys[rest];
    return character === undefined ? incomplete : toCommand({ kind: "action", key, count: first.count, character });
  }
  if (!isVisual && operators.includes(key))
    return parseOperator(keys, rest, { operator: key as Operator, count: first.count });
  const motion = parseMotion(keys, first.index);
  return typeof motion === "string"
    ? motion === "incomplete"
      ? incomplete
      : invalid
    : toCommand({ kind: "motion", motion, count: first.count });
}

function parseOperator(
  keys: readonly string[],
  index: number,
  { operator, count }: { operator: Operator; count: number | undefined },
): Parsed {
  const second = readCount(keys, index);
  const key = keys[second.index];
  if (key === undefined) return incomplete;
  const isCounted = count !== undefined || second.count !== undefined;
  const both = isCounted ? Math.min((count ?? 1) * (second.count ?? 1), maxCount) : undefined;
  if (key === operator) return toCommand({ kind: "lines", operator, count: both ?? 1 });
  if (key === "i" || key === "a") return parseObject(keys, second.index + 1, operator);
  const motion = parseMotion(keys, second.index);
  if (motion === "incomplete") return incomplete;
  return motion === "invalid" ? invalid : toCommand({ kind: "operate", operator, motion, count: both });
}

function parseObject(keys: readonly string[], index: number, operator: Operator | undefined): Parsed {
  const key = keys[index];
  if (key === undefined) return incomplete;
  return isObjectKey(key) ? toCommand({ kind: "object", operator, key, isAround: keys[index - 1] === "a" }) : invalid;
}

function parseMotion(keys: readonly string[], index: number): Motion | "incomplete" | "invalid" {
  const key = keys[index]!;
  if (motionKeys.includes(key)) return { key };
  const next = keys[index + 1];
  if (key === "g") return next === undefined ? "incomplete" : next === "g" ? { key: "gg" } : "invalid";
  if (isFindKey(key)) return next === undefined ? "incomplete" : { key, character: next };
  return "invalid";
}

/** A zero begins no number: it is a motion. */
function readCount(keys: readonly string[], start: number): { count: number | undefined; index: number } {
  let index = start;
  let count: number | undefined;
  while (/^\d$/.test(keys[index] ?? "") && (keys[index] !== "0" || count !== undefined)) {
    count = Math.min((count ?? 0) * 10 + Number(keys[index]), maxCount);
    index++;
  }
  return { count, index };
}
