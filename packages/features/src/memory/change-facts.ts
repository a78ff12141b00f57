/** Changes of a file of facts. Lines that are not facts stay as they are. Pure. */
import { type Comparison, createComparison } from "./compare-facts.ts";
import { type Fact, formatLine, getFactId, parseLine, toFactText } from "./fact.ts";

export type FactChange =
  /** `replaces` is the id of a fact that is no longer true. */
  | { readonly kind: "retain"; readonly fact: Fact; readonly replaces?: string }
  | { readonly kind: "forget"; readonly ids: readonly string[] }
  | { readonly kind: "edit"; readonly id: string; readonly text: string; readonly date: string };

export type Change =
  | { readonly kind: "added"; readonly fact: Fact }
  /** It was known, and its date is the new one. */
  | { readonly kind: "merged"; readonly fact: Fact }
  | { readonly kind: "replaced"; readonly fact: Fact; readonly old: Fact }
  | { readonly kind: "forgotten"; readonly facts: readonly Fact[] }
  | { readonly kind: "edited"; readonly fact: Fact; readonly old: Fact }
  /** There is no such fact. */
  | { readonly kind: "missing" }
  /** It contradicts a fact of the user, and comes from a session that had read text of others. */
  | { readonly kind: "refused"; readonly old: Fact };

const title = "# Facts of this project";
const explanation =
  "Remembered in sessions of tau. Each line that begins with `- ` is a fact: change or remove lines as you like, `tau memory` does the same.";

interface Changed {
  /** The whole new text; undefined if nothing changes. */
  readonly lines: string | undefined;
  readonly result: Change;
}

export function changeLines(text: string, change: FactChange): Changed {
  const lines = text === "" ? [title, "", explanation, ""] : text.replace(/\n$/, "").split("\n");
  const rows = lines.map((line) => ({ line, fact: parseLine(line.replace(/\r$/, "")) }));
  switch (change.kind) {
    case "retain":
      return retain(rows, change);
    case "forget": {
      const isMeant = ({ fact }: Row) => fact !== undefined && change.ids.includes(getFactId(fact));
      const facts = rows.filter(isMeant).flatMap(({ fact }) => fact ?? []);
      if (facts.length === 0) return { lines: undefined, result: { kind: "missing" } };
      return { lines: join(rows.filter((row) => !isMeant(row))), result: { kind: "forgotten", facts } };
    }
    case "edit": {
      const row = rows.find(({ fact }) => fact && getFactId(fact) === change.id);
      if (!row?.fact) return { lines: undefined, result: { kind: "missing" } };
      // The words are those of the user now, and nothing of others.
      const fact: Fact = { text: toFactText(change.text), kind: row.fact.kind, date: change.date };
      const others = rows.map((each) => (each === row ? { line: formatLine(fact), fact } : each));
      return { lines: join(others), result: { kind: "edited", fact, old: row.fact } };
    }
  }
}

interface Row {
  readonly line: string;
  readonly fact: Fact | undefined;
}

const join = (rows: readonly Row[]): string => `${rows.map(({ line }) => line).join("\n")}\n`;

function retain(rows: readonly Row[], { fact: draft, replaces }: Extract<FactChange, { kind: "retain" }>): Changed {
  const fact = { ...draft, text: toFactText(draft.text) };
  const compareWith = createComparison(fact.text);
  const comparisons = rows.map((row) => (row.fact ? compareWith(row.fact.text) : "different"));
  const find = (comparison: Comparison) => rows[comparisons.indexOf(comparison)];
  const known = find("same");
  if (known?.fact) return merge(rows, known, fact);
  const old =
    (replaces === undefined ? undefined : rows.find((row) => row.fact && getFactId(row.fact) === replaces)) ??
    find("contradicts");
  if (old?.fact) {
    // Text of strangers must not remove what the user said.
    if (fact.origin !== undefined && old.fact.origin === undefined)
      return { lines: undefined, result: { kind: "refused", old: old.fact } };
    const next = { ...fact, replaces: old.fact.text };
    return {
      lines: join(moveToEnd(rows, old, next)),
      result: { kind: "replaced", fact: next, old: old.fact },
    };
  }
  return { lines: join([...rows, toRow(fact)]), result: { kind: "added", fact } };
}

/** A fact that is said again is newer. One without text of others behind it replaces one with it, never the other way round. */
function merge(rows: readonly Row[], known: Row, fact: Fact): Changed {
  const old = known.fact!;
  if (fact.origin !== undefined && old.origin === undefined)
    return { lines: undefined, result: { kind: "merged", fact: old } };
  const next: Fact = { ...fact, ...(old.replaces !== undefined && { replaces: old.replaces }) };
  return { lines: join(moveToEnd(rows, known, next)), result: { kind: "merged", fact: next } };
}

const moveToEnd = (rows: readonly Row[], old: Row, fact: Fact): Row[] => [
  ...rows.filter((row) => row !== old),
  toRow(fact),
];

const toRow = (fact: Fact): Row => ({ line: formatLine(fact), fact });
