/** The interface that extensions of a session see: that of the surface, with what the session has to know of dialogs. */
import type { ExtensionEvent } from "../api/events.ts";
import { withTextArguments } from "../api/text-arguments.ts";
import { type ExtensionUi, noUi } from "../api/ui.ts";
import type { Waits } from "../runner/waits.ts";

type PromptKind = Exclude<ExtensionEvent<"ui_prompt_start">["kind"], "approval">;

interface SessionUiParts {
  /** Called when a dialog opens and closes. */
  emit: (event: ExtensionEvent<"ui_prompt_start" | "ui_prompt_end">) => void;
  waits: Waits;
}

/** Passes everything on to the interface that `attach` was called with last; without one, to `noUi`. */
export interface SessionUi {
  readonly ui: ExtensionUi;
  /** Returns how to detach it. */
  attach(ui: ExtensionUi): () => void;
}

export function createSessionUi({ emit, waits }: SessionUiParts): SessionUi {
  let current: ExtensionUi = noUi;
  const ask = async <T>(kind: PromptKind, title: string | undefined, dialog: () => Promise<T>): Promise<T> => {
    const facts = { reason: "ui_prompt", kind, ...(title !== undefined && { title }) } as const;
    emit({ type: "ui_prompt_start", ...facts });
    try {
      return await waits.during(dialog);
    } finally {
      emit({ type: "ui_prompt_end", ...facts });
    }
  };
  const dialogs: Pick<ExtensionUi, "select" | "confirm" | "input" | "editor" | "custom"> = {
    select: (title, ...rest) => ask("select", title, () => current.select(title, ...rest)),
    confirm: (title, ...rest) => ask("confirm", title, () => current.confirm(title, ...rest)),
    input: (title, ...rest) => ask("input", title, () => current.input(title, ...rest)),
    editor: (title, ...rest) => ask("editor", title, () => current.editor(title, ...rest)),
    custom: (factory, options) => ask("custom", undefined, () => current.custom(factory, options)),
  };
  const ui = new Proxy(noUi, {
    get: (_target, name) => {
      if (Object.hasOwn(dialogs, name)) return dialogs[name as keyof typeof dialogs];
      const value: unknown = Reflect.get(current, name);
      return typeof value === "function" ? value.bind(current) : value;
    },
  });
  return {
    ui,
    attach(surface) {
      const attached = withTextArguments(surface);
      current = attached;
      return () => {
        if (current === attached) current = noUi;
      };
    },
  };
}
