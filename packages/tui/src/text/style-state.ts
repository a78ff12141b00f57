/**
 * The styles that are active at a place in a text, as one object for each combination of them. Texts have few combinations and
 * change between them often, so that each change is computed once.
 */

/** The parameters that end each attribute that can be set independently. Bold and faint end together. */
const ends = ["22", "22", "23", "24", "25", "27", "28", "29", "39", "49", "55", "59"] as const;
const [
  bold,
  faint,
  italic,
  underline,
  blink,
  inverse,
  hidden,
  strikethrough,
  foreground,
  background,
  overline,
  underlineColor,
] = ends.keys() as unknown as readonly [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

const attributes: Readonly<Record<number, number>> = {
  1: bold,
  2: faint,
  3: italic,
  4: underline,
  5: blink,
  6: blink,
  7: inverse,
  8: hidden,
  9: strikethrough,
  21: underline,
  53: overline,
};

/** Attributes that are visible on blanks. */
const visibleOnBlanks = [background, underline, inverse, strikethrough, overline] as const;

type Change = readonly [slot: number, parameter: string];
const all = -1;

/** How many changes are remembered, in all: the output of a program may have any number of colors. */
const maxKnownChanges = 10_000;
let knownChanges = 0;
const known = new Map<string, StyleState>();

export class StyleState {
  /** Switches all of it on; empty if nothing is on. */
  readonly open: string;
  readonly isUnderlined: boolean;
  /** Whether a blank looks different from one without any style. */
  readonly showsOnBlanks: boolean;
  /** The parameter of each that is on, else empty. */
  readonly #parameters: readonly string[];
  readonly #after = new Map<string, StyleState>();
  readonly #transitions = new Map<StyleState, string>();

  constructor(parameters: readonly string[]) {
    this.#parameters = parameters;
    this.open = toEscape(parameters.filter((parameter) => parameter !== ""));
    this.isUnderlined = parameters[underline] !== "";
    this.showsOnBlanks = visibleOnBlanks.some((slot) => parameters[slot] !== "");
  }

  /** Returns the state after an escape sequence that is a style. */
  after(escape: string): StyleState {
    let state = this.#after.get(escape);
    if (state === undefined) {
      state = this.#apply(escape);
      countChange();
      this.#after.set(escape, state);
    }
    return state;
  }

  /** The shortest sequence that switches from `other` to this. */
  transitionFrom(other: StyleState): string {
    let bytes = this.#transitions.get(other);
    if (bytes === undefined) {
      bytes = this.#computeTransition(other);
      countChange();
      this.#transitions.set(other, bytes);
    }
    return bytes;
  }

  forgetChanges(): void {
    this.#after.clear();
    this.#transitions.clear();
  }

  /** Without what blanks show, and what switches that off. */
  withoutBlanks(): { bytes: string; style: StyleState } {
    const parameters = [...this.#parameters];
    const ended = visibleOnBlanks.filter((slot) => parameters[slot] !== "");
    for (const slot of ended) parameters[slot] = "";
    return { bytes: toEscape(ended.map((slot) => ends[slot])), style: getState(parameters) };
  }

  #apply(escape: string): StyleState {
    const parameters = [...this.#parameters];
    for (const [slot, parameter] of parseStyle(escape.slice(2, -1))) {
      if (slot === all) parameters.fill("");
      else parameters[slot] = parameter;
    }
    return getState(parameters);
  }

  #computeTransition(other: StyleState): string {
    const wanted = this.#parameters;
    const current = [...other.#parameters];
    const parameters: string[] = [];
    for (let slot = 0; slot < ends.length; slot++) {
      if (wanted[slot] !== "" || current[slot] === "") continue;
      parameters.push(ends[slot] as string);
      current[slot] = "";
      if (slot === bold) current[faint] = "";
      if (slot === faint) current[bold] = "";
    }
    for (let slot = 0; slot < ends.length; slot++) {
      if (wanted[slot] !== current[slot]) parameters.push(wanted[slot] as string);
    }
    return toEscape(parameters);
  }
}

const toKey = (parameters: readonly string[]): string => parameters.join(",");

const toEscape = (parameters: readonly string[]): string =>
  parameters.length === 0 ? "" : `\x1b[${parameters.join(";")}m`;

function getState(parameters: readonly string[]): StyleState {
  const key = toKey(parameters);
  let state = known.get(key);
  if (state === undefined) known.set(key, (state = new StyleState(parameters)));
  return state;
}

const plainParameters = ends.map(() => "");
export const plainStyle = getState(plainParameters);

/** All changes are forgotten when there are too many, and with them all combinations that are not in use. */
function countChange(): void {
  if (++knownChanges <= maxKnownChanges) return;
  knownChanges = 1;
  for (const state of known.values()) state.forgetChanges();
  known.clear();
  known.set(toKey(plainParameters), plainStyle);
}

function parseStyle(parameters: string): Change[] {
  const changes: Change[] = [];
  const parts = parameters.split(";");
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string;
    const code = Number.parseInt(part || "0", 10);
    const isColor = code === 38 || code === 48 || code === 58;
    // `38;5;N` and `38;2;R;G;B` go over several parts, `38:2::R:G:B` is one.
    const kind = parts[index + 1];
    const extra = isColor && !part.includes(":") ? (kind === "5" ? 2 : kind === "2" ? 4 : 0) : 0;
    changes.push(...getChanges(code, parts.slice(index, index + 1 + extra).join(";")));
    index += extra;
  }
  return changes;
}

function getChanges(code: number, parameter: string): Change[] {
  if (code === 0) return [[all, ""]];
  if (parameter === "4:0") return [[underline, ""]];
  const attribute = attributes[code];
  if (attribute !== undefined) return [[attribute, parameter]];
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return [[foreground, parameter]];
  if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) return [[background, parameter]];
  if (code === 58) return [[underlineColor, parameter]];
  return ends.flatMap((end, slot): Change[] => (end === String(code) ? [[slot, ""]] : []));
}
