/** A browser: pages that the model opens, reads and acts on. */
import type { Clock } from "@tau/ai";
import { resolveFields } from "@tau/config/settings";
import type { DoctorResult, Feature, FeaturePlace, FeatureTool } from "@tau/extensions";
import { findBrowser } from "./find-browser.ts";
import { browserSettings } from "./settings.ts";

const browserActions = [
  "open",
  "close",
  "tabs",
  "navigate",
  "observe",
  "click",
  "fill",
  "select",
  "press",
  "scroll",
  "upload",
  "screenshot",
  "evaluate",
  "console",
  "network",
  "wait",
] as const;

export interface BrowserArguments {
  action: (typeof browserActions)[number];
  tab?: string;
  url?: string;
  hosts?: string[];
  ref?: string;
  text?: string;
  submit?: boolean;
  values?: string[];
  key?: string;
  button?: "left" | "right" | "middle";
  double?: boolean;
  direction?: "up" | "down" | "left" | "right";
  pixels?: number;
  paths?: string[];
  fullPage?: boolean;
  code?: string;
  gone?: string;
  ms?: number;
  dialog?: "accept" | "dismiss";
  dialogText?: string;
  maxChars?: number;
  timeoutMs?: number;
}

/** Shows what a call would do: the whole of it for people, in one line. */
function summariseBrowserCall(args: BrowserArguments): string {
  const { action, tab, url, ref, text, values, key, code, paths } = args;
  const object = [url, ref, text, values?.join(", "), key, code, paths?.join(", ")].filter(
    (each) => each !== undefined,
  );
  return ["Browser:", action, ...object, ...(tab === undefined ? [] : [`in ${tab}`])].join(" ");
}

export const browserTool: FeatureTool = {
  name: "browser",
  label: "Browser",
  category: "external",
  description:
    "Use web pages in a headless Chromium: open or navigate to a page, observe it as a tree of elements with references (e12), then click, fill, select, press, scroll, upload by reference. Servers that commands of this session started are at http://localhost:PORT. Also screenshots, JavaScript in the page, console, network.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...browserActions] },
      tab: { type: "string", description: "Such as t1; default: the last one used. close without it ends the browser" },
      url: { type: "string", description: "open, navigate (also back, forward, reload); wait: a part of the address" },
      hosts: {
        type: "array",
        items: { type: "string" },
        description: "open, navigate: other hosts that the page loads from; the user is asked",
      },
      ref: { type: "string", description: "An element of the last observe, such as e12" },
      text: { type: "string", description: "fill; wait: a text that appears" },
      submit: { type: "boolean", description: "fill: press Enter afterwards" },
      values: { type: "array", items: { type: "string" }, description: "select: values or labels" },
      key: { type: "string", description: "press: such as Enter, Tab, Control+a" },
      button: { type: "string", enum: ["left", "right", "middle"] },
      double: { type: "boolean", description: "click twice" },
      direction: { type: "string", enum: ["up", "down", "left", "right"] },
      pixels: { type: "integer", minimum: 1, description: "scroll: default 600" },
      paths: { type: "array", items: { type: "string" }, description: "upload: files of the workspace" },
      fullPage: { type: "boolean", description: "screenshot: all of the page" },
      code: { type: "string", description: "evaluate: an expression, or with ref a function of the element" },
      gone: { type: "string", description: "wait: a text that disappears" },
      ms: { type: "integer", minimum: 1, description: "wait: milliseconds" },
      dialog: { type: "string", enum: ["accept", "dismiss"], description: "Answer to dialogs of this action" },
      dialogText: { type: "string", description: "Answer to a prompt" },
      maxChars: { type: "integer", minimum: 1, description: "observe, evaluate: default 20000" },
      timeoutMs: { type: "integer", minimum: 1, description: "Default 15000" },
    },
    required: ["action"],
  },
  exposure: "deferred",
  promptSnippet: "use web pages in a browser",
  // Hosts, files and the start of the browser are asked about when they are known.
  access: () => [{ capability: "tool", target: { kind: "name", name: "browser" }, textFrom: "pages in the browser" }],
  readOnly: false,
  isContained: true,
  summarise: summariseBrowserCall,
};

/** The browser there; undefined if there is none. */
export const findBrowserAt = ({ settings, env }: Pick<FeaturePlace, "settings" | "env">): string | undefined =>
  findBrowser(resolveFields(browserSettings, settings.get()).browser.path, env["PATH"]);

export interface BrowserPorts {
  /** Default: the clock of the system. */
  clock?: Clock;
}

export const browser = (ports: BrowserPorts = {}): Feature => ({
  name: "browser",
  summary: "Pages in a headless Chromium that the model reads and acts on.",
  tools: [browserTool],
  commands: [{ name: "browser", description: "The browser of this session: see and close what is open" }],
  settings: browserSettings,
  doctor: [{ name: "browser", check: checkBrowser }],
  isOffered: (place) =>
    place.canStartPrograms &&
    (resolveFields(browserSettings, place.settings.get()).browser.cdpUrl !== undefined ||
      findBrowserAt(place) !== undefined),
  load: async (place) => {
    const { registerBrowser } = await import("./browser.ts");
    return (tau) => registerBrowser(tau, place, ports);
  },
});

async function checkBrowser(place: FeaturePlace): Promise<DoctorResult> {
  const { path: wanted, cdpUrl } = resolveFields(browserSettings, place.settings.get()).browser;
  if (cdpUrl !== undefined) return { status: "ok", says: `The tool browser attaches to ${cdpUrl}, and asks first` };
  const path = findBrowserAt(place);
  if (path !== undefined) return { status: "ok", says: `The tool browser runs ${path}` };
  return {
    status: "warn",
    says:
      wanted === undefined
        ? "no Chromium or Chrome was found, so models have no browser"
        : `browser.path, ${wanted}, is not a program, so models have no browser`,
    fix: wanted === undefined ? "Install Chromium, or set browser.path." : "Correct browser.path.",
  };
}
