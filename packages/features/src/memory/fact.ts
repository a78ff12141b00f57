/** A fact as a line of Markdown: `- TEXT _(KIND, DATE, session ID, from ORIGIN, replaces "OLD")_`. Pure. */
import { createHash } from "node:crypto";
import { toVisibleLine } from "../kit/visible-text.ts";

export const factKinds = ["preference", "correction", "decision", "fact"] as const;
export type FactKind = (typeof factKinds)[number];

export interface Fact {
  /** A single line. */
  readonly text: string;
  readonly kind: FactKind;
  /** `2026-01-31`. Empty for a line that a person wrote without one. */
  readonly date: string;
  /** The id of the session that it comes from; undefined for one that a person wrote. */
  readonly session?: string;
  /** Where text came from that the session had read, if that was neither the user nor the project. Such a fact is only found. */
  readonly origin?: string;
  /** The text of a fact that it contradicted, and that it replaces. */
  readonly replaces?: string;
}

export const maxFactLength = 500;
const maxOriginLength = 100;

/** Makes one line of a text, in which nothing looks like the beginning or the end of a line of the file. */
export const toFactText = (text: string): string =>
  toVisibleLine(text.replace(/^(?:\s*[-*]\s+)+/, ""), maxFactLength).replaceAll(/_+\(/g, "(");

/** Texts of others become part of a line only with characters that cannot end it. */
const toOrigin = (origin: string): string =>
  toVisibleLine(origin, maxOriginLength)
    .replaceAll(/[\s,()"_]+/g, " ")
    .trim() || "outside";

const line = new RegExp(
  `^- (.*) _\\((${factKinds.join("|")}), (\\d{4}-\\d{2}-\\d{2}), (?:session ([\\w-]+)|you)(?:, from ([^,()"]+))?(?:, replaces "(.*)")?\\)_$`,
);

/** Undefined for a line that is not a fact. A list item that a person wrote by hand is one. */
export function parseLine(text: string): Fact | undefined {
  const [, own, kind, date, session, origin, replaces] = line.exec(text) ?? [];
  if (own !== undefined)
    return {
      text: own,
      kind: kind as FactKind,
      date: date!,
      ...(session !== undefined && { session }),
      ...(origin !== undefined && { origin }),
      ...(replaces !== undefined && { replaces }),
    };
  const written = /^[-*] +(\S.*)$/.exec(text)?.[1];
  return written === undefined ? undefined : { text: written.trimEnd(), kind: "fact", date: "" };
}

export function formatLine({ text, kind, date, session, origin, replaces }: Fact): string {
  if (date === "") return `- ${toFactText(text)}`;
  const parts = [
    kind,
    date,
    session === undefined ? "you" : `session ${session.replaceAll(/[^\w-]/g, "") || "unknown"}`,
    ...(origin === undefined ? [] : [`from ${toOrigin(origin)}`]),
    ...(replaces === undefined ? [] : [`replaces "${toFactText(replaces)}"`]),
  ];
  return `- ${toFactText(text)} _(${parts.join(", ")})_`;
}

/** Names a fact by its text. */
export const getFactId = ({ text }: Pick<Fact, "text">): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);

/** Says where it comes from. The fact that it replaces is left out: its text may be that of others, and models read this. */
export function describeSource({ kind, date, session, origin }: Fact): string {
  const parts = [
    kind,
    ...(date === "" ? [] : [date]),
    session === undefined ? "written by the user" : `session ${session}`,
    ...(origin === undefined ? [] : [`after text from ${origin} was read`]),
  ];
  return parts.join(", ");
}

/** For people: where it comes from, and what it replaces. */
export const describeFact = (fact: Fact): string =>
  fact.replaces === undefined ? describeSource(fact) : `${describeSource(fact)}, replaces: ${fact.replaces}`;
