/**
 * Which session is shown, and at which entry it was opened, in the part of the address that never leaves the browser. Nothing else is
 * read from the address.
 */

const pattern = /^#\/session\/([\w-]{1,128})(?:\/([\w-]{1,128}))?$/;

export const getShownSession = (): string | undefined => pattern.exec(location.hash)?.[1];

/** The entry that a link to a message names. */
export const getShownEntry = (): string | undefined => pattern.exec(location.hash)?.[2];

/** The address of a session, or of an entry in it. Entries that another program has named in its own way have none. */
export function getAddress(sessionId: string | undefined, entryId?: string): string {
  if (sessionId === undefined) return "#/";
  const session = `#/session/${sessionId}`;
  const entry = `${session}/${entryId}`;
  return entryId !== undefined && pattern.test(entry) ? entry : session;
}

export function showSession(sessionId: string | undefined): void {
  const hash = getAddress(sessionId);
  if (location.hash !== hash) location.hash = hash;
}

/** Listens to changes of the address, and to clicks on links to the address that is there already. */
export function onRoute(listener: () => void): () => void {
  const onClick = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest("a")?.href === location.href) listener();
  };
  window.addEventListener("hashchange", listener);
  window.addEventListener("click", onClick);
  return () => {
    window.removeEventListener("hashchange", listener);
    window.removeEventListener("click", onClick);
  };
}
