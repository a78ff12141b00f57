/** Dialogs and notes of extensions, as far as they can leave the process. Names and fields are pi's. */

/** A question. It is over when it is answered, when its time is up, or when the extension takes it back. */
export type UiDialog =
  /** `timeout` in milliseconds; the program measures it. */
  | { method: "select"; title: string; options: string[]; timeout?: number }
  | { method: "confirm"; title: string; message: string; timeout?: number }
  | { method: "input"; title: string; placeholder?: string; timeout?: number }
  /** A text of several lines. */
  | { method: "editor"; title: string; prefill?: string; timeout?: number };

/** Something to show, which is not answered. */
export type UiNote =
  | { method: "notify"; message: string; notifyType: "info" | "warning" | "error" }
  /** Without a text, the status is removed. */
  | { method: "setStatus"; statusKey: string; statusText?: string }
  /** Without lines, the widget is removed. */
  | {
      method: "setWidget";
      widgetKey: string;
      widgetLines?: string[];
      widgetPlacement: "aboveEditor" | "belowEditor";
    }
  | { method: "setTitle"; title: string }
  | { method: "set_editor_text"; text: string };

/** The first answers `select`, `input` and `editor`, the second `confirm`; the third cancels any of them. */
export type UiAnswer = { value: string } | { confirmed: boolean } | { cancelled: true };
