/** Texts that were cut, the latest last. Cuts in a row become one text. */
export interface KillRing {
  readonly texts: readonly string[];
}

const maxKills = 60;

export const emptyKillRing: KillRing = { texts: [] };

/** With `join`, the text is added to the latest one: before it or after it. */
export function addKill(ring: KillRing, text: string, join?: "before" | "after"): KillRing {
  if (text === "") return ring;
  const last = ring.texts.at(-1);
  if (join === undefined || last === undefined) return { texts: [...ring.texts, text].slice(-maxKills) };
  return { texts: [...ring.texts.slice(0, -1), join === "before" ? text + last : last + text] };
}

/** The latest text becomes the oldest. */
export const rotateKills = ({ texts }: KillRing): KillRing => ({ texts: [...texts.slice(-1), ...texts.slice(0, -1)] });
