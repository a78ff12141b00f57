/** The browser of one session: it is started by the first page, asks about hosts, and ends with the session. */
import type { Clock } from "@tau/ai";
import { type ExtensionAPI, getFeatureSettings } from "@tau/extensions";
import { isListed, isLoopback, parseAddress, parseHostName } from "./addresses.ts";
import { type Done, Driver, type Request } from "./driver.ts";
import { BrowserFailure } from "./failure.ts";
import type { Tab } from "./messages.ts";
import { browserSettings } from "./settings.ts";

const startMs = 60_000;
const idleMs = 30 * 60_000;
const maxRefused = 20;

/** Hosts that Chromium contacts on its own, whatever page is open. */
const ownHosts =
  /^(?:accounts\.google\.com|(?:android\.)?clients\d?\.google\.com|mtalk\.google\.com|www\.google\.com|update\.googleapis\.com|(?:optimizationguide-pa|content-autofill|safebrowsing|safebrowsingohttpgateway)\.googleapis\.com|(?:redirector|edgedl\.me)\.gvt1\.com):\d+$/;

interface SessionBrowserParts {
  tau: Pick<ExtensionAPI, "spawn" | "requestAccess" | "getSettings">;
  clock: Clock;
  findProgram(): string | undefined;
}

interface Running {
  readonly driver: Driver;
  /** Whether loopback is that of the session, and hosts are reached through the proxy of its sandbox only. */
  readonly isIsolated: boolean;
}

export class SessionBrowser {
  readonly #parts: SessionBrowserParts;
  /** Hosts that were allowed in this session, as in the setting `sandbox.network`. */
  readonly #allowed = new Set<string>();
  /** Hosts that were refused since the last answer. */
  readonly #refused = new Set<string>();
  #starting: Promise<Running> | undefined;
  #running: Running | undefined;
  #isAttachAllowed = false;
  #cancelIdle: (() => void) | undefined;
  /** The pages that are open, as of the last answer. */
  tabs: readonly Tab[] = [];

  constructor(parts: SessionBrowserParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#running !== undefined && !this.#running.driver.hasEnded;
  }

  get #settings() {
    return getFeatureSettings(this.#parts.tau, browserSettings).browser;
  }

  /** Asks whether the browser may be sent to an address and to other hosts. Starts it. Throws a `BrowserFailure` if not. */
  async allow(
    address: string,
    { hosts, signal }: { hosts: readonly string[]; signal: AbortSignal | undefined },
  ): Promise<string> {
    const { allowedHosts } = this.#settings;
    const parsed = parseAddress(address, allowedHosts);
    const others = hosts.map((host) => parseHostName(host, allowedHosts));
    const { isIsolated } = await this.#start(signal);
    const targets = [...(parsed.kind === "blank" ? [] : [{ ...parsed, sends: parsed.url }]), ...others].filter(
      ({ kind }) => kind === "host" || !isIsolated,
    );
    if (targets.length > 0) {
      const verdict = await this.#parts.tau.requestAccess(
        targets.map(({ hostname, entry, ...rest }) => ({
          capability: "http",
          target: { kind: "host", host: hostname },
          ...("sends" in rest && { sends: rest.sends }),
          ...((this.#allowed.has(entry) || isListed(hostname, entry, allowedHosts)) && { chosen: "host" as const }),
        })),
        { name: "browser", summary: `Open ${parsed.url} in the browser`, isContained: true, signal },
      );
      if (verdict.kind === "denied")
        throw new BrowserFailure("denied", `${parsed.url} was not opened. ${verdict.reason}`);
      for (const { entry } of targets) this.#allowed.add(entry);
    }
    return parsed.url;
  }

  /** Refuses a text with a secret that would be given to a page of another machine. Throws a `BrowserFailure`. */
  async checkSent(text: string, tab: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const host = this.findHost(tab);
    if (text === "" || host === undefined || (isLoopback(host) && this.#running?.isIsolated)) return;
    const verdict = await this.#parts.tau.requestAccess(
      [{ capability: "http", target: { kind: "host", host }, sends: text, chosen: "host" }],
      { name: "browser", summary: `Give a text to the page of ${host}`, isContained: true, signal },
    );
    if (verdict.kind === "denied") throw new BrowserFailure("denied", verdict.reason);
  }

  /** The host of a page, as of the last answer. */
  findHost(tab: string | undefined): string | undefined {
    const found = this.tabs.find(({ id, isCurrent }) => (tab === undefined ? isCurrent : id === tab));
    return found && URL.canParse(found.url) ? new URL(found.url).hostname || undefined : undefined;
  }

  /** Throws a `BrowserFailure`. */
  async ask(request: Request, signal?: AbortSignal): Promise<Done> {
    const running = this.#running;
    if (!running || running.driver.hasEnded)
      throw new BrowserFailure("ended", "The browser is not open. Open a page first.");
    this.#cancelIdle?.();
    try {
      const done = await running.driver.ask(request, signal);
      this.tabs = done.tabs;
      return done;
    } finally {
      this.#cancelIdle = this.#parts.clock.setTimer(idleMs, () => void this.end());
    }
  }

  /** Takes the hosts that were refused since it was last called. */
  takeRefused(): string[] {
    const refused = [...this.#refused];
    this.#refused.clear();
    return refused;
  }

  async end(): Promise<void> {
    this.#cancelIdle?.();
    this.tabs = [];
    const running = await this.#starting?.catch(() => undefined);
    this.#starting = undefined;
    this.#running = undefined;
    await running?.driver.end();
  }

  async #start(signal: AbortSignal | undefined): Promise<Running> {
    if (this.#running?.driver.hasEnded) {
      this.#running = undefined;
      this.#starting = undefined;
      this.tabs = [];
    }
    this.#starting ??= this.#open(signal);
    try {
      return (this.#running = await this.#starting);
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  async #open(signal: AbortSignal | undefined): Promise<Running> {
    const { cdpUrl } = this.#settings;
    return cdpUrl === undefined ? await this.#launch(signal) : await this.#attach(cdpUrl, signal);
  }

  async #launch(signal: AbortSignal | undefined): Promise<Running> {
    const { tau, findProgram } = this.#parts;
    const path = findProgram();
    if (path === undefined)
      throw new BrowserFailure(
        "missing",
        "No Chromium or Chrome was found. The user can install one, or set browser.path.",
      );
    const verdict = await tau.requestAccess(
      [{ capability: "exec", target: { kind: "command", command: `'${path.replaceAll("'", `'\\''`)}' --headless` } }],
      { name: "browser", summary: `Start the browser ${path}`, isContained: true, signal },
    );
    if (verdict.kind === "denied") throw new BrowserFailure("denied", `The browser was not started. ${verdict.reason}`);
    const driver = await Driver.start(tau.spawn, {
      session: {
        getHosts: () => [...this.#allowed, ...this.#settings.allowedHosts],
        onRefused: (target) => {
          if (this.#refused.size < maxRefused && !ownHosts.test(target)) this.#refused.add(target);
        },
      },
    });
    return await this.#begin(driver, { kind: "start", path, isContained: driver.isSandboxed, timeoutMs: startMs });
  }

  /** The browser of the user has the network of the machine, and so has what attaches to it. Its files are those of commands. */
  async #attach(cdpUrl: string, signal: AbortSignal | undefined): Promise<Running> {
    const { tau } = this.#parts;
    if (!this.#isAttachAllowed) {
      const verdict = await tau.requestAccess(
        [
          {
            capability: "tool",
            target: { kind: "name", name: "browser attach" },
            eachTime: `It attaches to the browser at ${cdpUrl} for the rest of this session. The model sees and uses the pages that are open there, with your logins.`,
          },
        ],
        { name: "browser", summary: `Attach to the browser at ${cdpUrl}`, signal },
      );
      if (verdict.kind === "denied")
        throw new BrowserFailure("denied", `The browser was not attached to. ${verdict.reason}`);
      this.#isAttachAllowed = true;
    }
    const driver = await Driver.start(tau.spawn, { network: "all" });
    return await this.#begin(driver, { kind: "start", cdpUrl, isContained: true, timeoutMs: startMs });
  }

  async #begin(driver: Driver, request: Request): Promise<Running> {
    try {
      const { text, tabs } = await driver.ask(request);
      this.tabs = tabs;
      return { driver, isIsolated: text === "isolated" };
    } catch (error) {
      await driver.end();
      throw error;
    }
  }
}
