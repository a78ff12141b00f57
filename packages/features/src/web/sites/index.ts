/** All sites that are read in a form for programs. */
import { readGitHub } from "./github.ts";
import { readNpm, readPyPi } from "./packages.ts";
import { readArxiv, readStackOverflow } from "./papers-and-answers.ts";
import type { SiteReader, SiteRequest } from "./site.ts";

const siteReaders: readonly SiteReader[] = [readGitHub, readNpm, readPyPi, readArxiv, readStackOverflow];

/** Returns what to ask instead of an address; undefined if it is read as a page. Pure. */
export function findSite(url: URL): SiteRequest | undefined {
  for (const reader of siteReaders) {
    const request = reader(url);
    if (request) return request;
  }
  return undefined;
}
