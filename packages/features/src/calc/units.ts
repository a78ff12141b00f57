/** Units of bytes and of time. Pure. */
import { parseNumber, type Rational, toRational } from "./rational.ts";

export type Dimension = "bytes" | "time";

export interface Unit {
  readonly name: string;
  readonly dimension: Dimension;
  /** In bytes, or in seconds. */
  readonly size: Rational;
}

const bytes = (names: readonly string[], size: bigint) =>
  names.map((name): Unit => ({ name, dimension: "bytes", size: toRational(size) }));
const time = (names: readonly string[], size: string) =>
  names.map((name): Unit => ({ name, dimension: "time", size: parseNumber(size) }));

/** Decimal prefixes are powers of 1,000, binary ones of 1,024. */
const prefixes = ["k", "M", "G", "T", "P", "E"];

const units: readonly Unit[] = [
  ...bytes(["B", "byte", "bytes"], 1n),
  ...prefixes.flatMap((prefix, index) => [
    ...bytes([`${prefix}B`], 1_000n ** BigInt(index + 1)),
    ...bytes([`${prefix.toUpperCase()}iB`], 1_024n ** BigInt(index + 1)),
  ]),
  ...bytes(["KB"], 1_000n),
  ...time(["ns"], "1e-9"),
  ...time(["us", "µs", "μs"], "1e-6"),
  ...time(["ms"], "1e-3"),
  ...time(["s", "sec", "second", "seconds"], "1"),
  ...time(["min", "minute", "minutes"], "60"),
  ...time(["h", "hour", "hours"], "3600"),
  ...time(["d", "day", "days"], "86400"),
  ...time(["w", "week", "weeks"], "604800"),
];

const byName = new Map(units.map((unit) => [unit.name, unit]));

export const findUnit = (name: string): Unit | undefined => byName.get(name);

/** The unit in which results are shown that nobody converted. */
export const baseUnit: Readonly<Record<Dimension, string>> = { bytes: "B", time: "s" };
