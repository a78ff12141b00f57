/** Texts that were cut, the latest last. Cuts in a row become one text. */
import type { Pastes } from "./paste-markers.ts";

interface KillRing {
  readonly kills: readonly Kill[];
}

export interface Kill {
  readonly text: string;
  /** The pastes that the markers in it stand for: the document may forget them, and use their numbers again. */
  readonly pastes: Pastes;
}

const maxKills = 60;

export const emptyKillRing: KillRing = { kills: [] };

/** With `join`, the text is added to the latest one: before it or after it. */
export function addKill(ring: KillRing, { text, pastes }: Kill, join?: "before" | "after"): KillRing {
  if (text === "") return ring;
  const last = ring.kills.at(-1);
  if (join === undefined || last === undefined) return { kills: [...ring.kills, { text, pastes }].slice(-maxKills) };
  const joined = join === "before" ? text + last.text : last.text + text;
  return { kills: [...ring.kills.slice(0, -1), { text: joined, pastes }] };
}

/** The latest text becomes the oldest. */
export const rotateKills = ({ kills }: KillRing): KillRing => ({ kills: [...kills.slice(-1), ...kills.slice(0, -1)] });
