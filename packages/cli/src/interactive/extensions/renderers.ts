/** How extensions draw calls of tools, messages and entries, and what they make of Markdown. */
import { oncePer } from "@tau/ai/internal";
import type { CustomEntry, CustomMessage } from "@tau/protocol";
import type { ToolRenderers, UiComponent } from "@tau/extensions";
import { getKeybindings, type Keybinding, type Theme } from "@tau/tui";
import type { LoadedExtensions } from "./extension-client.ts";
import { describePause, FrameBudget } from "./frame-budget.ts";
import { describeFailure } from "./guarded-component.ts";

/** Given to every renderer. */
interface KeyHints {
  /** The keys of an action, such as `app.tools.expand`. */
  keyText(action: string): string;
  keyHint(action: string, description: string): string;
}

interface ItemOptions extends KeyHints {
  expanded: boolean;
  /** Blank columns at the sides of messages. */
  outputPad: number;
}

export type DrawItem = (options: ItemOptions, theme: Theme) => UiComponent | undefined;

export interface MarkdownContext {
  messageType: "user" | "assistant" | "assistant-thinking";
  isStreaming: boolean;
  /** Columns. */
  availableWidth: number;
}

export interface Renderers {
  /** Another object after a reload. */
  readonly source: object | undefined;
  requestRender(): void;
  /** Undefined: the built-in way. So are the parts that an extension does not draw. */
  findTool(name: string): ToolRenderers | undefined;
  findMessage(message: Pick<CustomMessage, "customType">): DrawItem | undefined;
  findEntry(entry: CustomEntry): DrawItem | undefined;
  transformMarkdown(markdown: string, context: MarkdownContext): string;
  /** Reports that something could not be drawn, once: a tool may be called a hundred times. */
  reportFailure(message: string): void;
}

interface RenderersOptions {
  getLoaded: () => LoadedExtensions | undefined;
  requestRender: () => void;
  /** Notifies the user. */
  onFailed: (message: string) => void;
}

export function createRenderers({ getLoaded, onFailed, requestRender }: RenderersOptions): Renderers {
  /** The transformers that failed: the Markdown they get is shown as it is from then on. */
  const failed = new WeakSet<object>();
  const getFrames = oncePer((_transform: object) => new FrameBudget());
  const reported = new Set<string>();
  const reportFailure = (message: string): void => {
    if (!reported.has(message)) onFailed(message);
    reported.add(message);
  };
  const list = () => getLoaded()?.list ?? [];
  return {
    get source() {
      return getLoaded();
    },
    requestRender,
    findTool(name) {
      const resolvers = list().flatMap(({ toolRenderers }) => toolRenderers);
      const resolve = (index: number): ToolRenderers | undefined => {
        const resolver = resolvers[index];
        return resolver
          ? resolver(name, () => resolve(index + 1))
          : getLoaded()?.registrations.tools.get(name)?.definition;
      };
      try {
        return resolve(0);
      } catch (error) {
        reportFailure(describeFailure(`The renderer of the tool ${name}`, error));
        return undefined;
      }
    },
    findMessage(message) {
      const renderer = list()
        .find(({ messageRenderers }) => messageRenderers.has(message.customType))
        ?.messageRenderers.get(message.customType);
      return renderer && ((options, theme) => renderer(message, options, theme));
    },
    findEntry(entry) {
      const renderer = list()
        .find(({ entryRenderers }) => entryRenderers.has(entry.customType))
        ?.entryRenderers.get(entry.customType);
      return renderer && ((options, theme) => renderer(entry, options, theme));
    },
    transformMarkdown(markdown, context) {
      let text = markdown;
      for (const { markdownTransformers, source } of list()) {
        for (const transform of markdownTransformers) {
          const name = `The Markdown transformer of ${source.name}`;
          const frames = getFrames(transform);
          if (failed.has(transform) || frames.isPaused) continue;
          try {
            text = String(frames.draw(() => transform(text, { ...context })));
            if (frames.isPaused) reportFailure(describePause(name));
          } catch (error) {
            failed.add(transform);
            onFailed(describeFailure(name, error));
          }
        }
      }
      return text;
    },
    reportFailure,
  };
}

export function createKeyHints(theme: Theme): KeyHints {
  const keyText = (action: string): string =>
    getKeybindings()
      .getKeys(action as Keybinding)
      .join("/");
  return {
    keyText,
    keyHint: (action, description) => theme.fg("dim", keyText(action)) + theme.fg("muted", ` ${description}`),
  };
}
