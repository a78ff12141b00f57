/** Turns the arguments of a call into a request to the browser. Pure. */
import type { BrowserArguments } from "./feature.ts";
import { BrowserFailure } from "./failure.ts";
import type { DialogRule, PageRequest } from "./messages.ts";

/** Requests that need nothing of the session, unlike addresses and files. */
type SimpleRequest = Exclude<PageRequest, { kind: "open" | "upload" }>;
type SimpleAction = Exclude<BrowserArguments["action"], "open" | "close" | "tabs" | "upload">;

const defaultPixels = 600;
/** Longer texts are cut where they are made. */
const maxText = 400_000;

const needs = <T>(value: T | undefined, name: string, action: string): T => {
  if (value !== undefined) return value;
  throw new BrowserFailure("arguments", `The action ${action} needs ${name}.`);
};

const directions = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const;

/** Throws a `BrowserFailure` for arguments that are missing. */
export function toRequest(action: SimpleAction, args: BrowserArguments): SimpleRequest {
  const { tab, ref, text, url } = args;
  const shared = { ...(tab !== undefined && { tab }), ...toDialogRule(args) };
  const maybeRef = ref === undefined ? {} : { ref };
  const needRef = () => needs(ref, "ref", action);
  switch (action) {
    case "navigate":
      return { ...shared, kind: action, url: needs(url, "url", action) };
    case "observe":
      return { ...shared, kind: action, ...maybeRef, maxChars: maxText };
    case "click":
      return { ...shared, kind: action, ref: needRef(), button: args.button ?? "left", count: args.double ? 2 : 1 };
    case "fill":
      return {
        ...shared,
        kind: action,
        ref: needRef(),
        text: needs(text, "text", action),
        submits: args.submit ?? false,
      };
    case "select":
      return { ...shared, kind: action, ref: needRef(), values: needs(args.values, "values", action) };
    case "press":
      return { ...shared, kind: action, ...maybeRef, key: needs(args.key, "key", action) };
    case "scroll": {
      const [x, y] =
        args.direction === undefined ? (ref === undefined ? directions.down : [0, 0]) : directions[args.direction];
      const pixels = args.pixels ?? defaultPixels;
      return { ...shared, kind: action, ...maybeRef, dx: x * pixels, dy: y * pixels };
    }
    case "screenshot":
      return { ...shared, kind: action, ...maybeRef, isFullPage: args.fullPage ?? false };
    case "evaluate":
      return { ...shared, kind: action, ...maybeRef, code: needs(args.code, "code", action), maxChars: maxText };
    case "console":
    case "network":
      return { ...shared, kind: action };
    case "wait": {
      const { gone, ms } = args;
      needs(text ?? gone ?? url ?? ms, "text, gone, url or ms", action);
      const wanted = { text, gone, url, ms };
      return { ...shared, kind: action, ...dropUndefined(wanted) };
    }
  }
}

/** The rule for dialogs that a call names. */
export const toDialogRule = ({ dialog, dialogText }: BrowserArguments): { dialog?: DialogRule } =>
  dialog === undefined
    ? {}
    : { dialog: { accepts: dialog === "accept", ...(dialogText !== undefined && { text: dialogText }) } };

/** The texts that an action gives to a page. */
export const listSent = ({ text, values, key, code, dialogText, action }: BrowserArguments): string =>
  action === "wait"
    ? ""
    : [text, values?.join("\n"), key, code, dialogText].filter((each) => each !== undefined).join("\n");

const dropUndefined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
