/** Which session is shown, in the part of the address that never leaves the browser. Nothing else is read from the address. */

const pattern = /^#\/session\/([\w-]{1,128})$/;

export const getShownSession = (): string | undefined => pattern.exec(location.hash)?.[1];

export function showSession(sessionId: string | undefined): void {
  const hash = sessionId === undefined ? "#/" : `#/session/${sessionId}`;
  if (location.hash !== hash) location.hash = hash;
}

export function onRoute(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}
