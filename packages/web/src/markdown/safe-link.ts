/** Where a link may lead. Pure. */

const protocols = new Set(["http:", "https:", "mailto:"]);

/** The address as it is opened; undefined if it may not be. A name in it cannot be confused with another: it is in ASCII. */
export function toSafeLink(href: string): string | undefined {
  // No relative address: it would be one of the gateway.
  if (!/^(?:https?:\/\/|mailto:)[^\s<>"]+$/i.test(href)) return undefined;
  try {
    const url = new URL(href);
    return protocols.has(url.protocol) ? url.href : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
