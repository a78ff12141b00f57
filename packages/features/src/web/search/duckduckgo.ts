/** The page of results of DuckDuckGo, which has no interface for programs. Pure. */
import { readElements } from "../markdown/open-elements.ts";
import type { FoundPage } from "./query.ts";

interface Result {
  title: string;
  url: string;
  excerpt: string;
}

/** Throws if the page is another one, such as one that asks whether a person is there. */
export function parseDuckDuckGo(html: string): FoundPage[] {
  const results: Result[] = [];
  let part: "title" | "excerpt" | undefined;
  let isList = false;
  readElements<boolean>(html, {
    open(_tag, { class: className = "", href = "", id = "" }) {
      const classes = className.split(/\s+/);
      isList ||= id === "links" || classes.includes("results") || classes.includes("no-results");
      if (classes.includes("result__a")) {
        results.push({ title: "", url: unwrap(href), excerpt: "" });
        part = "title";
        return true;
      }
      if (!classes.includes("result__snippet") || results.length === 0) return false;
      part = "excerpt";
      return true;
    },
    close(_tag, isPart) {
      if (isPart) part = undefined;
    },
    text(text) {
      if (part) results.at(-1)![part] += text;
    },
  });
  if (!isList) throw new TypeError("The page has no list of results; it may want to know whether a person asks.");
  // Advertisements lead to the search engine itself.
  return results.filter(({ url }) => url !== "");
}

/** Links lead through a page that counts them: `//duckduckgo.com/l/?uddg=ADDRESS`. */
function unwrap(href: string): string {
  if (!URL.canParse(href, "https://duckduckgo.com")) return "";
  const url = new URL(href, "https://duckduckgo.com");
  if (!/(?:^|\.)duckduckgo\.com$/.test(url.hostname)) return url.href;
  return url.searchParams.get("uddg") ?? "";
}
