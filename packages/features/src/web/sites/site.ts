/** Sites whose pages have a form for programs, which is read instead of the page. */

export interface SiteRequest {
  /** All of them are needed. */
  readonly urls: readonly string[];
  /** Reads the bodies in the order of the addresses. Throws for bodies of another form. Pure. */
  read(bodies: readonly string[]): SiteText;
}

interface SiteText {
  readonly title: string;
  readonly text: string;
}

/** Returns what to ask instead of an address; undefined if that is none of the site. Pure. */
export type SiteReader = (url: URL) => SiteRequest | undefined;

/** Parts of a path that are in an address as they are. */
export const safePart = /^[\w.@+~-]+$/;

/** Joins lines of facts without those that are empty. */
export const listFacts = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .flatMap(([name, value]) =>
      (typeof value === "string" && value !== "") || typeof value === "number" ? [`- ${name}: ${value}`] : [],
    )
    .join("\n");

export const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");
