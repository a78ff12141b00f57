/** Links of a page as absolute addresses. */

const isAbsolute = /^https?:\/\//i;
const scheme = /^[a-z][a-z0-9+.-]*:/i;
/** Characters that would end the address in Markdown. */
const unsafe = /[\s()<>]/g;
const maxLength = 2_000;

export class LinkBase {
  readonly #page: string;
  #base: string;
  #origin: string;

  constructor(url: string) {
    this.#page = url;
    this.#base = url;
    this.#origin = new URL(url).origin;
  }

  /** Takes the address of an element `base`, which is relative to the page itself. */
  setBase(href: string): void {
    if (!URL.canParse(href, this.#page)) return;
    this.#base = new URL(href, this.#page).href;
    this.#origin = new URL(this.#base).origin;
  }

  /** Undefined for places in the same page, scripts, and what is no address. */
  resolve(href: string): string | undefined {
    const link = href.trim();
    if (link === "" || link.startsWith("#") || link.length > maxLength) return undefined;
    if (isAbsolute.test(link)) return link.includes("[") && !URL.canParse(link) ? undefined : toSafe(link);
    // Most links are of this form, and parsing takes longer than all else.
    if (link.startsWith("/") && !link.startsWith("//") && !link.includes("/.")) return toSafe(this.#origin + link);
    if (scheme.test(link)) return /^mailto:/i.test(link) ? toSafe(link) : undefined;
    if (!URL.canParse(link, this.#base)) return undefined;
    return toSafe(new URL(link, this.#base).href);
  }
}

const toSafe = (url: string): string =>
  unsafe.test(url)
    ? url.replaceAll(unsafe, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`)
    : url;
