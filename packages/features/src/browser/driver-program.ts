/**
 * The program that drives the browser. It is a process of its own, in the sandbox of the session: its library takes a second and
 * 100 MB to load, and pages that attack it must not reach tau. The process gets this function as text, so it must not use anything
 * from outside of it: neither sources nor a bundle have a file that it could run.
 */
import type * as Fs from "node:fs";
import type * as Os from "node:os";
import type * as Path from "node:path";
import type * as Readline from "node:readline";
import type * as Library from "playwright-core";
import type { Browser, BrowserContext, Dialog, Download, Locator, Page, Request } from "playwright-core";
import type { DialogRule, DriverAnswer, DriverRequest, FailureReason, PageRequest, Tab } from "./messages.ts";

/** The source of the program. Its argument is the path of the library. */
export const getDriverSource = (): string => `(${runDriver.toString()})(require)`;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function runDriver(load: (name: string) => unknown): void {
  const fs = load("node:fs") as typeof Fs;
  const os = load("node:os") as typeof Os;
  const path = load("node:path") as typeof Path;
  const readline = load("node:readline") as typeof Readline;

  const maxTabs = 20;
  const maxDownloads = 50;
  /** Limits all downloads together. */
  const maxDownloadBytes = 500 * 1024 * 1024;
  const downloadCheckMs = 200;
  const maxKept = 300;
  /** A page that prints more in this time is closed: each line passes through here, so that no other tab would react. */
  const maxPrinted = 2_000;
  const printedMs = 5_000;
  const maxNotes = 50;
  const maxLine = 1_000;
  /** How long a page may take to begin to load after an action, and how long it is then waited for. */
  const settleMs = 100;
  const maxSettleMs = 5_000;
  const maxDownloadWaitMs = 3_000;

  interface OpenTab {
    readonly id: string;
    readonly page: Page;
    readonly console: string[];
    readonly network: string[];
    /** How many lines the page has printed in the time that began at `since`. */
    readonly printed: { since: number; count: number };
    /** The request of the page itself that has no answer yet. */
    loading: Request | undefined;
  }
  class Failure extends Error {
    readonly reason: FailureReason;
    constructor(reason: FailureReason, message: string) {
      super(message);
      this.reason = reason;
    }
  }

  let browser: Browser | undefined;
  let context: BrowserContext | undefined;
  let isAttached = false;
  /** Tabs that were opened here; in a browser of the user the others stay. */
  const own = new Set<Page>();
  /** Pages that appear while a tab is opened here: one of them is that. */
  let arrivals: Page[] | undefined;
  /** How many popups pages may still open: the library's scripts look like clicks to the browser, so its own blocker is not enough. */
  let popupsLeft = 0;
  let home: string | undefined;
  let downloads = 0;
  const downloading = new Map<Download, Promise<void>>();
  const tabs = new Map<Page, OpenTab>();
  let lastTab = 0;
  let current: OpenTab | undefined;
  let dialogRule: DialogRule | undefined;
  const notes = new Map<string, number>();

  const cut = (text: string, max = maxLine): string => (text.length > max ? `${text.slice(0, max)}…` : text);
  const note = (text: string): void => {
    const count = notes.get(cut(text)) ?? 0;
    if (count > 0 || notes.size < maxNotes) notes.set(cut(text), count + 1);
  };
  const takeNotes = (): string[] => {
    const taken = [...notes].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
    notes.clear();
    return taken;
  };
  const keep = (list: string[], text: string): void => {
    list.push(cut(text));
    if (list.length > maxKept) list.shift();
  };
  const getMessage = (error: unknown): string =>
    // oxlint-disable-next-line no-control-regex -- the library colours its messages
    (error instanceof Error ? error.message : String(error)).replaceAll(/\u001b\[[0-9;]*m/g, "");
  const delay = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

  /** Pages can keep the library waiting for ever. */
  const within = async <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Failure("time", `${what} took longer than ${ms} ms.`)), ms);
    });
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  };

  const start = async (request: Extract<DriverRequest, { kind: "start" }>): Promise<void> => {
    const { chromium } = load(process.argv[1]!) as typeof Library;
    home = fs.mkdtempSync(path.join(os.tmpdir(), "tau-browser-"));
    fs.mkdirSync(path.join(home, "downloads"));
    try {
      if (request.cdpUrl !== undefined) {
        isAttached = true;
        // Otherwise downloads of the person would go into a directory of ours, and programs that refuse that could not be attached to.
        const options = { timeout: request.timeoutMs, noDefaults: true };
        browser = await chromium.connectOverCDP(request.cdpUrl, options);
        context = browser.contexts()[0] ?? (await browser.newContext());
      } else {
        const proxy = process.env["HTTP_PROXY"];
        browser = await chromium.launch({
          executablePath: request.path!,
          headless: true,
          // In another sandbox it cannot make its own; and root cannot use it.
          chromiumSandbox: !request.isContained && process.getuid?.() !== 0,
          timeout: request.timeoutMs,
          // A page then opens at most one tab for each click.
          ignoreDefaultArgs: ["--disable-popup-blocking"],
          downloadsPath: path.join(home, "downloads"),
          args: [
            "--disable-quic",
            "--disable-gpu",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            // Loopback does not go through it: that is the session's own.
            ...(proxy ? [`--proxy-server=${proxy}`] : []),
          ],
        });
        context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1280, height: 800 } });
      }
    } catch (error) {
      throw new Failure("start", getMessage(error).split("\n").slice(0, 12).join("\n"));
    }
    browser.on("disconnected", () => process.exit(0));
    for (const page of context.pages()) addTab(page);
    context.on("page", (page) => (arrivals ? arrivals.push(page) : admit(page)));
  };

  /** Closes a page that another one opened, unless it is the one that an action may open. Those of a person stay. */
  function admit(page: Page): void {
    if (isAttached || own.has(page)) return void addTab(page);
    if (popupsLeft > 0 && tabs.size < maxTabs) {
      popupsLeft--;
      return void addTab(page);
    }
    note("A page opened more than one tab for an action: the others were closed.");
    void page.close().catch(() => undefined);
  }

  async function openTab(): Promise<OpenTab> {
    if (tabs.size >= maxTabs) throw new Failure("tab", `There are ${maxTabs} tabs already: close one first.`);
    arrivals = [];
    try {
      const page = await context!.newPage().catch((error: unknown) => {
        if (isAttached && tabs.size > 0) throw new Failure("tab", describeNoTab(error));
        throw error;
      });
      own.add(page);
      return (current = addTab(page));
    } finally {
      const others = arrivals;
      arrivals = undefined;
      for (const page of others) admit(page);
    }
  }

  /** Programs made with Electron open no tabs for others. */
  const describeNoTab = (error: unknown): string =>
    `It opens no tabs (${getMessage(error).split("\n")[0]}). Use one that is open: ${[...tabs.values()].map(({ id }) => id).join(", ")}.`;

  function addTab(page: Page): OpenTab {
    const known = tabs.get(page);
    if (known) return known;
    const tab: OpenTab = {
      id: `t${++lastTab}`,
      page,
      console: [],
      network: [],
      printed: { since: 0, count: 0 },
      loading: undefined,
    };
    tabs.set(page, tab);
    page.on("close", () => {
      own.delete(page);
      tabs.delete(page);
      if (current === tab) current = [...tabs.values()].at(-1);
    });
    current ??= tab;
    page.on("dialog", (dialog) => void answerDialog(tab, dialog));
    page.on("download", (download) => void keepDownload(download));
    page.on("console", (message) => {
      keep(tab.console, `${message.type()}: ${message.text()}`);
      limitPrinting(tab);
    });
    page.on("pageerror", (error) => keep(tab.console, `uncaught: ${getMessage(error)}`));
    page.on("crash", () => note(`The page of ${tab.id} crashed.`));
    page.on("request", (request) => {
      if (isOfPage(tab, request)) tab.loading = request;
    });
    const finish = (request: Request, outcome: string): void => {
      if (tab.loading === request) tab.loading = undefined;
      keep(tab.network, `${request.method()} ${outcome} ${request.resourceType()} ${request.url()}`);
    };
    page.on("response", (response) => finish(response.request(), String(response.status())));
    page.on("requestfailed", (request) => finish(request, request.failure()?.errorText ?? "failed"));
    return tab;
  }

  function limitPrinting({ id, page, printed }: OpenTab): void {
    const now = Date.now();
    if (now - printed.since > printedMs) {
      printed.since = now;
      printed.count = 0;
    }
    if (++printed.count !== maxPrinted) return;
    note(`${id} was closed: its page printed ${maxPrinted} lines in ${printedMs / 1_000} seconds.`);
    void page.close().catch(() => undefined);
  }

  const isOfPage = ({ page }: OpenTab, request: Request): boolean => {
    try {
      return request.isNavigationRequest() && request.frame() === page.mainFrame();
    } catch {
      // A request of a service worker has no frame.
      return false;
    }
  };

  async function answerDialog(tab: OpenTab, dialog: Dialog): Promise<void> {
    const type = dialog.type();
    const accepts = dialogRule?.accepts ?? (type === "alert" || type === "beforeunload");
    note(
      `${tab.id} showed the dialog ${type} ${JSON.stringify(cut(dialog.message()))}, which was ${accepts ? "accepted" : "dismissed"}.`,
    );
    try {
      await (accepts ? dialog.accept(dialogRule?.text) : dialog.dismiss());
    } catch {
      // The page is gone.
    }
  }

  function keepDownload(download: Download): void {
    const name =
      download
        .suggestedFilename()
        .replaceAll(/[^\w.()+@ -]/g, "_")
        .replace(/^\.+/, "_")
        .slice(-100) || "download";
    if (++downloads > maxDownloads) {
      void download.cancel().catch(() => undefined);
      return note(`The download of ${name} was refused: there were ${maxDownloads} already.`);
    }
    const file = path.join(home!, "downloads", `${downloads}-${name}`);
    const work = download
      .saveAs(file)
      .then(
        () => note(`Downloaded ${file} (${fs.statSync(file).size} bytes).`),
        (error: unknown) => note(`The download of ${name} failed: ${getMessage(error).split("\n")[0]}`),
      )
      // The library has a copy of its own.
      .finally(() => download.delete().catch(() => undefined));
    downloading.set(download, work);
    void work.finally(() => downloading.delete(download));
    if (downloading.size === 1) void limitDownloads();
  }

  /** Ends downloads that would fill the disk, such as one without an end. */
  async function limitDownloads(): Promise<void> {
    const directory = path.join(home!, "downloads");
    for (; downloading.size > 0; await delay(downloadCheckMs)) {
      const sizes = fs
        .readdirSync(directory)
        .map((name) => fs.statSync(path.join(directory, name), { throwIfNoEntry: false })?.size ?? 0);
      if (sizes.reduce((sum, size) => sum + size, 0) <= maxDownloadBytes) continue;
      note("Downloads were ended: all of them together may have 500 MB.");
      await Promise.all([...downloading.keys()].map((download) => download.cancel().catch(() => undefined)));
    }
  }

  const findTab = (id: string | undefined): OpenTab => {
    const tab = id === undefined ? current : [...tabs.values()].find((each) => each.id === id);
    if (tab) return (current = tab);
    throw new Failure("tab", id === undefined ? "No tab is open." : `There is no tab ${id}.`);
  };

  const findElement = async ({ page }: OpenTab, ref: string): Promise<Locator> => {
    const stale = `${ref} is not an element of the page as it is now. Observe it again, and use a reference from there.`;
    if (!/^(?:f\d+)?e\d+$/.test(ref)) throw new Failure("ref", `${cut(ref, 50)} is not a reference such as e12.`);
    const locator = page.locator(`aria-ref=${ref}`);
    const count = await locator.count().catch(() => 0);
    if (count !== 1) throw new Failure("ref", stale);
    return locator;
  };

  /** The library sends the text of a function to the page: this one has another text, and is never called here. */
  const toFunction = (code: string): (() => unknown) => Object.assign(() => undefined, { toString: () => `(${code})` });

  /** Waits for what an action began: a page that loads, or a download. */
  const settle = async (tab: OpenTab): Promise<void> => {
    await delay(settleMs);
    const end = Date.now() + maxSettleMs;
    while (tab.loading && Date.now() < end && !tab.page.isClosed()) await delay(20);
    if (!tab.page.isClosed())
      await tab.page.waitForLoadState("domcontentloaded", { timeout: maxSettleMs }).catch(() => undefined);
    if (downloading.size > 0) await Promise.race([Promise.all(downloading.values()), delay(maxDownloadWaitMs)]);
  };

  const goTo = async (tab: OpenTab, url: string, timeout: number): Promise<string | undefined> => {
    const { page } = tab;
    const options = { timeout, waitUntil: "load" } as const;
    try {
      const response =
        url === "back"
          ? await page.goBack(options)
          : url === "forward"
            ? await page.goForward(options)
            : url === "reload"
              ? await page.reload(options)
              : await page.goto(url, options);
      return response ? `HTTP ${response.status()}` : undefined;
    } catch (error) {
      const message = getMessage(error).split("\n")[0]!;
      if (/Download is starting/.test(message)) {
        await settle(tab);
        return "It was downloaded.";
      }
      if (/Timeout/.test(message)) return "It is still loading.";
      throw new Failure("navigation", message);
    }
  };

  const onPage = async (tab: OpenTab, request: Exclude<PageRequest, { kind: "open" }>, timeout: number) => {
    const { page } = tab;
    switch (request.kind) {
      case "navigate":
        return { text: await goTo(tab, request.url, timeout) };
      case "observe": {
        const target = request.ref === undefined ? page : await findElement(tab, request.ref);
        const snapshot = await target.ariaSnapshot({ mode: "ai", timeout });
        return { text: snapshot.slice(0, request.maxChars), isCut: snapshot.length > request.maxChars };
      }
      case "click": {
        const { button, count } = request;
        await (await findElement(tab, request.ref)).click({ button, clickCount: count, timeout });
        return await settle(tab);
      }
      case "fill": {
        const element = await findElement(tab, request.ref);
        await element.fill(request.text, { timeout });
        if (request.submits) await element.press("Enter", { timeout });
        return await settle(tab);
      }
      case "select": {
        const chosen = await (await findElement(tab, request.ref)).selectOption([...request.values], { timeout });
        await settle(tab);
        return { text: `Chosen: ${chosen.join(", ")}` };
      }
      case "press":
        if (request.ref === undefined) await page.keyboard.press(request.key);
        else await (await findElement(tab, request.ref)).press(request.key, { timeout });
        return await settle(tab);
      case "scroll":
        if (request.ref !== undefined) {
          const element = await findElement(tab, request.ref);
          await element.scrollIntoViewIfNeeded({ timeout });
          if (request.dx !== 0 || request.dy !== 0) await element.hover({ timeout });
        }
        if (request.dx !== 0 || request.dy !== 0) await page.mouse.wheel(request.dx, request.dy);
        return await settle(tab);
      case "upload": {
        const files = request.files.map(({ data, ...file }) => ({ ...file, buffer: Buffer.from(data, "base64") }));
        await (await findElement(tab, request.ref)).setInputFiles(files, { timeout });
        return await settle(tab);
      }
      case "screenshot": {
        const bytes =
          request.ref === undefined
            ? await page.screenshot({ fullPage: request.isFullPage, timeout })
            : await (await findElement(tab, request.ref)).screenshot({ timeout });
        return { image: bytes.toString("base64") };
      }
      case "evaluate": {
        const value: unknown =
          request.ref === undefined
            ? await page.evaluate(request.code)
            : await (await findElement(tab, request.ref)).evaluate(toFunction(request.code));
        const json = JSON.stringify(value) ?? "undefined";
        return { text: json.slice(0, request.maxChars), isCut: json.length > request.maxChars };
      }
      case "console":
        return { text: tab.console.join("\n") };
      case "network":
        return { text: tab.network.join("\n") };
      case "wait": {
        const { text, gone, url, ms } = request;
        if (text !== undefined) await page.getByText(text).first().waitFor({ state: "visible", timeout });
        if (gone !== undefined) await page.getByText(gone).first().waitFor({ state: "hidden", timeout });
        if (url !== undefined) await page.waitForURL((current) => current.href.includes(url), { timeout });
        if (ms !== undefined) await delay(Math.min(ms, timeout));
        return undefined;
      }
    }
  };

  const getUrl = (page: Page): string => {
    try {
      return page.url();
    } catch {
      // It was closed meanwhile.
      return "";
    }
  };

  const listTabs = async (): Promise<Tab[]> =>
    await Promise.all(
      [...tabs.values()].map(async (tab) => ({
        id: tab.id,
        url: cut(getUrl(tab.page)),
        // A page that computes without end has no title to tell.
        title: cut(await within(tab.page.title(), 1_000, "").catch(() => ""), 200),
        isCurrent: tab === current,
      })),
    );

  const act = async (
    request: DriverRequest,
  ): Promise<{ text?: string | undefined; isCut?: boolean; image?: string } | void> => {
    if (request.kind === "start") {
      await start(request);
      // The proxy is that of the sandbox, whose variable no other gives.
      return { text: request.cdpUrl === undefined && process.env["HTTP_PROXY"] ? "isolated" : "" };
    }
    if (!context) throw new Failure("start", "The browser was not started.");
    switch (request.kind) {
      case "tabs":
        return undefined;
      case "close": {
        const { page } = findTab(request.tab);
        return await within(page.close(), 5_000, "Closing the tab");
      }
      case "open": {
        const tab = await openTab();
        return request.url === undefined ? undefined : { text: await goTo(tab, request.url, request.timeoutMs) };
      }
      default:
        return await onPage(findTab(request.tab), request, request.timeoutMs);
    }
  };

  /** Requests after which no page has a reason to open another. */
  const looking: readonly DriverRequest["kind"][] = [
    "start",
    "tabs",
    "close",
    "observe",
    "screenshot",
    "console",
    "network",
    "wait",
  ];

  const answer = async (request: DriverRequest): Promise<DistributiveOmit<DriverAnswer, "id">> => {
    dialogRule = "dialog" in request ? request.dialog : undefined;
    if (!looking.includes(request.kind)) popupsLeft = 1;
    try {
      // The library's own limits come first; its words are better.
      const result = await within(
        act(request),
        request.timeoutMs + maxSettleMs + 1_000,
        `The page does not react: ${request.kind}`,
      );
      const all = await listTabs();
      return JSON.parse(JSON.stringify({ kind: "done", tabs: all, notes: takeNotes(), ...result })) as DriverAnswer;
    } catch (error) {
      const reason =
        error instanceof Failure ? error.reason : /Timeout \d+ms exceeded/.test(getMessage(error)) ? "time" : "page";
      return { kind: "failed", reason, message: cut(getMessage(error), 2_000), notes: takeNotes() };
    } finally {
      dialogRule = undefined;
    }
  };

  const quit = async (): Promise<void> => {
    const closeAll = async () => {
      await Promise.all([...own].map((page) => page.close()));
      await browser?.close();
    };
    await within(closeAll(), 5_000, "").catch(() => undefined);
    if (home !== undefined) fs.rmSync(home, { recursive: true, force: true });
    process.exit(0);
  };

  let queue = Promise.resolve();
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    const request = JSON.parse(line) as DriverRequest;
    const before = queue;
    const reply = async () => {
      await before;
      const result = await answer(request);
      process.stdout.write(`${JSON.stringify({ ...result, id: request.id })}\n`);
    };
    queue = reply();
  });
  lines.on("close", () => void quit());
  // What the library leaves unhandled, such as a page that closes in the middle, must not end the browser.
  process.on("unhandledRejection", () => undefined);
}
