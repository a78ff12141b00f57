/** The tool `web_fetch`. */
import { type ImageContent, systemClock, type TextContent } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type ExtensionAPI, type ExtensionToolContext, getFeatureSettings } from "@tau/extensions";
import { prepareImage } from "@tau/tools";
import type { FetchArguments } from "../feature.ts";
import { WebFailure } from "../../kit/http/failure.ts";
import { isChildSession } from "../../kit/is-child-session.ts";
import { webSettings } from "../settings.ts";
import { findSite } from "../sites/index.ts";
import type { SiteRequest } from "../sites/site.ts";
import { answerQuestion } from "./answer-question.ts";
import { toContent } from "./content.ts";
import { describePage, formatPage, type PageImage, type PageView } from "./describe-page.ts";
import { isListed, parseAddress } from "../../kit/http/hosts.ts";
import { isKnownAddress } from "./known-address.ts";
import type { Page, PageOptions, Pages } from "./pages.ts";

const defaultChars = 20_000;
const maxMaxChars = 200_000;

interface FetchDetails {
  readonly url: string;
  readonly title: string;
  readonly redirects: readonly string[];
}

interface FetchCall {
  readonly tau: Pick<ExtensionAPI, "requestAccess" | "getSettings" | "keepText">;
  readonly pages: Pages;
  readonly context: Pick<ExtensionToolContext, "sessionManager" | "model" | "modelRegistry">;
  readonly signal: AbortSignal | undefined;
}

/** Throws a `WebFailure`. */
export async function fetchPage(
  { url: text, question, maxChars = defaultChars }: FetchArguments,
  call: FetchCall,
): Promise<{ content: (TextContent | ImageContent)[]; details: FetchDetails }> {
  const { tau, pages, context, signal } = call;
  const address = parseAddress(text);
  await requestHost(address, call, true);
  const { allowedPrivateHosts } = getFeatureSettings(tau, webSettings).web;
  const options: PageOptions = {
    allowedPrivateHosts,
    signal,
    mayRead: async (next) => await requestHost(next, call, false),
  };
  const { page, view } = await readPage(address, pages, options);
  const details = { url: page.url, title: view.title, redirects: page.redirects };
  const image = view.image && (await toImage(view.image, page.url, signal));
  const { url, redirects } = page;
  const format = { redirects, url, image, keepText: (whole: string) => tau.keepText(whole) };
  if (question === undefined || view.text === "")
    return { content: await formatPage(view, { ...format, maxChars: Math.min(maxChars, maxMaxChars) }), details };
  const { answer, model } = await answerQuestion(question, { url: page.url, text: view.text }, { context, signal });
  const answered = { ...view, text: answer, notes: [...view.notes, `${model} read the page to answer: ${question}`] };
  return { content: await formatPage(answered, { ...format, maxChars: maxMaxChars }), details };
}

/** Makes an image fit for a model. Throws a `WebFailure` for one that is damaged, or too large to be decoded. */
async function toImage(
  { bytes, type }: PageImage,
  url: string,
  signal: AbortSignal | undefined,
): Promise<ImageContent> {
  try {
    return (await prepareImage(bytes, type, { clock: systemClock, signal, path: url })).image;
  } catch (error) {
    signal?.throwIfAborted();
    throw new WebFailure("unreadable", getErrorMessage(error), { cause: error });
  }
}

/** Asks the policy about a host. Only the address of the call itself can be one that the person wrote. */
async function requestHost(url: URL, { tau, context, signal }: FetchCall, isFirst: boolean): Promise<void> {
  const { sessionManager } = context;
  const { allowedHosts } = getFeatureSettings(tau, webSettings).web;
  const chosen = isListed(url, allowedHosts)
    ? "host"
    : isFirst && isKnownAddress(url, { branch: sessionManager.getBranch(), isChild: isChildSession(context) })
      ? "address"
      : undefined;
  const verdict = await tau.requestAccess(
    [
      {
        capability: "http",
        target: { kind: "host", host: url.hostname },
        sends: url.href,
        ...(chosen !== undefined && { chosen }),
      },
    ],
    { name: "web_fetch", summary: `Read ${url.href}`, isContained: true, signal },
  );
  if (verdict.kind === "denied") throw new WebFailure("denied", `${url.href} was not read. ${verdict.reason}`);
}

/** Reads a page in the form that is best to read: a text for models, Markdown, or the page itself. */
async function readPage(address: URL, pages: Pages, options: PageOptions): Promise<{ page: Page; view: PageView }> {
  const site = findSite(address);
  const known = site && (await trySite(address, site, { pages, options }));
  if (known) return known;
  if (address.pathname === "/" && address.search === "") {
    const overview = await tryRead(new URL("/llms.txt", address), pages, options);
    if (overview) return overview;
  }
  const page = await pages.get(address, options);
  const view = await describePage(page);
  const { markdownUrl } = view;
  if (markdownUrl === undefined || new URL(markdownUrl).host !== new URL(page.url).host) return { page, view };
  const markdown = await tryRead(new URL(markdownUrl), pages, options);
  return markdown ? { ...markdown, view: { ...markdown.view, title: view.title } } : { page, view };
}

/**
 * Reads a page in the form that its site has for programs; undefined if that fails. The permission for the page includes it, and rules
 * for programs that read pages do not apply.
 */
async function trySite(
  address: URL,
  { urls, read }: SiteRequest,
  { pages, options }: { pages: Pages; options: PageOptions },
): Promise<{ page: Page; view: PageView } | undefined> {
  try {
    const parts: Page[] = [];
    for (const url of urls) {
      const part = await pages.get(new URL(url), { ...options, mayRead: refuseHost, obeysRobots: false });
      const { kind } = toContent(part.response);
      if (part.response.status !== 200 || kind === "image" || kind === "pdf" || kind === "other") return undefined;
      parts.push(part);
    }
    const { title, text } = read(parts.map(({ response }) => response.body.toString("utf8")));
    const notes = parts.some(({ response }) => response.isCut)
      ? ["It is longer than 5 MB; the rest was not read."]
      : [];
    return { page: { ...parts[0]!, url: address.href, redirects: [] }, view: { title, text, notes } };
  } catch {
    // The page itself says more about why it cannot be read.
    options.signal?.throwIfAborted();
    return undefined;
  }
}

/** Undefined if it is not there, or not a text. Not followed to another host: nobody asked for it. */
async function tryRead(
  url: URL,
  pages: Pages,
  options: PageOptions,
): Promise<{ page: Page; view: PageView } | undefined> {
  try {
    const page = await pages.get(url, { ...options, mayRead: refuseHost });
    const type = page.response.headers["content-type"] ?? "";
    if (!/^text\/(?:plain|markdown)\b/i.test(type)) return undefined;
    // Some servers answer with a page for every address.
    const { kind } = toContent(page.response);
    return kind === "text" && page.response.body.length > 0 ? { page, view: await describePage(page) } : undefined;
  } catch (error) {
    if (error instanceof WebFailure) return undefined;
    throw error;
  }
}

async function refuseHost(): Promise<never> {
  throw new WebFailure("redirects", "It is at another host.");
}
