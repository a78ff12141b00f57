/** Exact numbers: fractions of whole numbers, always reduced, with a positive denominator. */

export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Says in a sentence why something cannot be computed. */
export class CalcError extends Error {}

/** Larger numbers would take long, and nobody reads them. */
const maxDigits = 10_000;
const maxBits = maxDigits * 4;
const maxExponent = 10_000n;
/** Digits after the point of a number that has no end. */
const shownDigits = 30;
/** How much the fractions of one expression may take to reduce, in products of bits: about a quarter of a second. */
const maxWork = 1e9;

/** The work of the expression that is being calculated. Calculating is synchronous, so there is only one. */
let work = 0;

/** Calculates an expression. Throws if its fractions are so large that reducing them would take long. */
export function limitWork<T>(calculate: () => T): T {
  work = 0;
  return calculate();
}

export const toRational = (numerator: bigint, denominator = 1n): Rational => {
  if (denominator === 0n) throw new CalcError("Division by zero.");
  const sign = denominator < 0n ? -1n : 1n;
  const divisor = greatestCommonDivisor(abs(numerator), abs(denominator)) * sign;
  const result = { numerator: numerator / divisor, denominator: denominator / divisor };
  for (const part of [result.numerator, result.denominator])
    if (countBits(part) > maxBits) throw new CalcError(`The result has more than ${maxDigits} digits.`);
  return result;
};

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** Up to three too many. */
const countBits = (value: bigint): number => abs(value).toString(16).length * 4;

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  work += countBits(a) * countBits(b);
  if (work > maxWork) throw new CalcError("The fractions of the expression are too large to be calculated exactly.");
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}

export const add = (a: Rational, b: Rational): Rational =>
  toRational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

export const negate = ({ numerator, denominator }: Rational): Rational => ({ numerator: -numerator, denominator });

export const multiply = (a: Rational, b: Rational): Rational =>
  toRational(a.numerator * b.numerator, a.denominator * b.denominator);

export const divide = (a: Rational, b: Rational): Rational =>
  toRational(a.numerator * b.denominator, a.denominator * b.numerator);

export const floor = ({ numerator, denominator }: Rational): Rational => {
  const quotient = numerator / denominator;
  return toRational(numerator < 0n && numerator % denominator !== 0n ? quotient - 1n : quotient);
};

/** Halves are rounded away from zero. */
export function round(value: Rational): Rational {
  const half = toRational(1n, 2n);
  return value.numerator < 0n ? negate(floor(add(negate(value), half))) : floor(add(value, half));
}

/** The remainder has the sign of the divisor. */
export const remainder = (a: Rational, b: Rational): Rational => add(a, negate(multiply(b, floor(divide(a, b)))));

export const compare = (a: Rational, b: Rational): number => {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

export function power(base: Rational, exponent: Rational): Rational {
  if (exponent.denominator !== 1n) throw new CalcError("An exponent must be a whole number.");
  const count = exponent.numerator;
  if (abs(count) > maxExponent) throw new CalcError(`An exponent may be ${maxExponent} at most.`);
  const bits = (value: bigint): number => abs(value).toString(2).length;
  if (Math.max(bits(base.numerator), bits(base.denominator)) * Number(abs(count)) > maxBits && !isUnit(base))
    throw new CalcError(`The result has more than ${maxDigits} digits.`);
  // Powers of a reduced fraction are reduced.
  const result = { numerator: base.numerator ** abs(count), denominator: base.denominator ** abs(count) };
  return count < 0n ? divide(toRational(1n), result) : result;
}

const isUnit = ({ numerator, denominator }: Rational): boolean => denominator === 1n && abs(numerator) <= 1n;

/** Reads `12`, `1.5`, `1e-3`, `1_000`, `0xff`, `0o17` and `0b101`. */
export function parseNumber(text: string): Rational {
  const plain = text.replaceAll("_", "");
  if (/^0[xob]/i.test(plain)) return toRational(BigInt(plain));
  const [, whole = "", fraction = "", exponent = "0"] = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(plain) ?? [];
  if (Math.abs(Number(exponent)) > Number(maxExponent))
    throw new CalcError(`The number ${text.slice(0, 40)} is too large.`);
  const scale = Number(exponent) - fraction.length;
  const digits = BigInt(`${whole}${fraction}` || "0");
  return scale >= 0 ? toRational(digits * 10n ** BigInt(scale)) : toRational(digits, 10n ** BigInt(-scale));
}

interface FormattedNumber {
  readonly text: string;
  readonly isExact: boolean;
}

/** Writes a number as a decimal. If that has no end, it is cut after 30 digits and is not exact. */
export function formatDecimal(value: Rational): FormattedNumber {
  const sign = value.numerator < 0n ? "-" : "";
  const numerator = abs(value.numerator);
  const places = countPlaces(value.denominator);
  const isExact = places !== undefined;
  const shown = places ?? shownDigits;
  const scaled = (numerator * 10n ** BigInt(shown)) / value.denominator;
  const digits = scaled.toString().padStart(shown + 1, "0");
  const whole = digits.slice(0, digits.length - shown);
  const fraction = digits.slice(digits.length - shown);
  return { text: `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`, isExact };
}

/** How many places a fraction has as a decimal; undefined if it has no end. */
function countPlaces(denominator: bigint): number | undefined {
  let rest = denominator;
  let [twos, fives] = [0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos++;
  for (; rest % 5n === 0n; rest /= 5n) fives++;
  return rest === 1n ? Math.max(twos, fives) : undefined;
}
