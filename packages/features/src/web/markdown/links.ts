/** Links of a page as absolute addresses. */

const isAbsolute = /^https?:\/\//i;
const scheme = /^[a-z][a-z0-9+.-]*:/i;
/** Characters that would end the address in Markdown. */
const unsafe = /[\s()<>]/g;
const maxLength = 2_000;
/** How much longer than in the page all addresses together may become: a long base would be repeated with every link. */
const maxAdded = 8 * 1024 * 1024;

export class LinkBase {
  readonly #page: string;
  #base: string;
  #origin: string;
  #added = 0;

  constructor(url: string) {
    this.#page = url;
    this.#base = url;
    this.#origin = new URL(url).origin;
  }

  /** Takes the address of an element `base`, which is relative to the page itself. */
  setBase(href: string): void {
    if (href.length > maxLength || !URL.canParse(href, this.#page)) return;
    this.#base = new URL(href, this.#page).href;
    this.#origin = new URL(this.#base).origin;
  }

  /** Undefined for places in the same page, scripts, and what is no address. */
  resolve(href: string): string | undefined {
    const link = href.trim();
    if (link === "" || link.startsWith("#") || link.length > maxLength) return undefined;
    if (isAbsolute.test(link)) return link.includes("[") && !URL.canParse(link) ? undefined : toSafe(link);
    // Most links are of this form, and parsing takes longer than all else.
    if (link.startsWith("/") && !link.startsWith("//") && !link.includes("/."))
      return this.#limit(this.#origin + link, link);
    if (scheme.test(link)) return /^mailto:/i.test(link) ? toSafe(link) : undefined;
    if (this.#added > maxAdded || !URL.canParse(link, this.#base)) return undefined;
    return this.#limit(new URL(link, this.#base).href, link);
  }

  #limit(url: string, link: string): string | undefined {
    this.#added += url.length - link.length;
    return this.#added > maxAdded ? undefined : toSafe(url);
  }
}

const toSafe = (url: string): string =>
  unsafe.test(url)
    ? url.replaceAll(unsafe, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`)
    : url;
