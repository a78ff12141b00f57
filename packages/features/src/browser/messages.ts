/** The messages between tau and the program that drives the browser: a line of JSON each. */

/** How the browser is started, or attached to. */
type StartRequest = {
  readonly kind: "start";
  /** Attaches to this browser and starts none. */
  readonly cdpUrl?: string;
  /** The program of the browser. */
  readonly path?: string;
  /** Whether the browser's own sandbox is off, because it runs in another one. */
  readonly isContained: boolean;
};

export type DriverRequest = { readonly id: number; readonly timeoutMs: number } & (
  | StartRequest
  | PageRequest
  | { readonly kind: "tabs" }
  /** Without a tab, the browser. */
  | { readonly kind: "close"; readonly tab?: string }
);

/** How dialogs are answered during a request. Default: `alert` and leaving a page are accepted, all others dismissed. */
export interface DialogRule {
  readonly accepts: boolean;
  readonly text?: string;
}

/** A request about a page; without `tab` the one that was used last. */
export type PageRequest = { readonly tab?: string; readonly dialog?: DialogRule } & (
  | { readonly kind: "open"; readonly url?: string }
  | { readonly kind: "navigate"; readonly url: string }
  | { readonly kind: "observe"; readonly ref?: string; readonly maxChars: number }
  | {
      readonly kind: "click";
      readonly ref: string;
      readonly button: "left" | "right" | "middle";
      readonly count: number;
    }
  | { readonly kind: "fill"; readonly ref: string; readonly text: string; readonly submits: boolean }
  | { readonly kind: "select"; readonly ref: string; readonly values: readonly string[] }
  | { readonly kind: "press"; readonly ref?: string; readonly key: string }
  | { readonly kind: "scroll"; readonly ref?: string; readonly dx: number; readonly dy: number }
  | { readonly kind: "upload"; readonly ref: string; readonly files: readonly UploadedFile[] }
  | { readonly kind: "screenshot"; readonly ref?: string; readonly isFullPage: boolean }
  | { readonly kind: "evaluate"; readonly ref?: string; readonly code: string; readonly maxChars: number }
  | { readonly kind: "console" }
  | { readonly kind: "network" }
  | {
      readonly kind: "wait";
      readonly text?: string;
      readonly gone?: string;
      readonly url?: string;
      readonly ms?: number;
    }
);

export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  /** In Base64. */
  readonly data: string;
}

/** A page that is open. Its texts are those of the page. */
export interface Tab {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly isCurrent: boolean;
}

export type DriverAnswer = { readonly id: number } & (
  | {
      readonly kind: "done";
      readonly tabs: readonly Tab[];
      /** Dialogs, downloads and crashes since the last answer. */
      readonly notes: readonly string[];
      readonly text?: string;
      /** Whether `text` was cut. */
      readonly isCut?: boolean;
      /** A PNG in Base64. */
      readonly image?: string;
    }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly message: string;
      readonly notes: readonly string[];
    }
);

/** Why a request failed: `ref`: it names nothing in the page as it is. `tab`: there is no such tab. */
export type FailureReason = "ref" | "tab" | "time" | "navigation" | "page" | "start";
