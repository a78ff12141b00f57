/** How an extension draws one call of a tool: its title and its result, each with a component that lives as long as the call. */
import type { AgentToolResult } from "@tau/agent";
import type { ToolRenderers, UiComponent, UiFactory } from "@tau/extensions";
import type { Look } from "../look.ts";
import { createKeyHints } from "./renderers.ts";
import { createGuarded, type GuardedComponent } from "./guarded-component.ts";

interface ToolViewOptions {
  look: Look;
  toolName: string;
  toolCallId: string;
  renderers: ToolRenderers;
  /** The call has to be drawn again. */
  onChange: () => void;
}

export interface ToolViewState {
  /** The arguments of the call. */
  args: Readonly<Record<string, unknown>>;
  hasStarted: boolean;
  /** Undefined before there is anything to show. */
  result: (AgentToolResult & { isError: boolean }) | undefined;
  isPartial: boolean;
}

type Part = "renderCall" | "renderResult";

export class ToolView {
  readonly #options: ToolViewOptions;
  /** Shared by both renderers. */
  readonly #state: Record<string, unknown> = {};
  /** The components that the renderers returned last, and how they are drawn. Undefined: as if there were no renderer. */
  readonly #parts = new Map<Part, { component: UiComponent | undefined; guarded: GuardedComponent | undefined }>();

  constructor(options: ToolViewOptions) {
    this.#options = options;
  }

  /** Whether the extension draws the frame too. */
  get isFrameless(): boolean {
    return this.#options.renderers.renderShell === "self";
  }

  /** Undefined: the built-in title. `isNew` if something has changed since the last time. */
  renderCall(state: ToolViewState, isNew: boolean, width: number): string[] | undefined {
    const { renderers, look } = this.#options;
    return this.#render("renderCall", renderers.renderCall, [state.args, look.theme], { state, isNew, width });
  }

  /** Undefined: the built-in drawing of the result. */
  renderResult(state: ToolViewState, isNew: boolean, width: number): string[] | undefined {
    const { renderers, look } = this.#options;
    const { result, isPartial } = state;
    if (!result) return undefined;
    const args = [result, { expanded: look.expandsTools, isPartial }, look.theme];
    return this.#render("renderResult", renderers.renderResult, args, { state, isNew, width });
  }

  #render(
    part: Part,
    renderer: UiFactory<UiComponent | undefined> | undefined,
    args: readonly unknown[],
    { state, isNew, width }: { state: ToolViewState; isNew: boolean; width: number },
  ): string[] | undefined {
    if (typeof renderer !== "function") return undefined;
    const { look, renderers, toolName } = this.#options;
    const before = this.#parts.get(part);
    if (!before || (isNew && !before.guarded?.hasFailed)) {
      let component: UiComponent | undefined;
      const create = (): UiComponent | undefined => {
        component = renderer.call(renderers, ...args, this.#createContext(state, before?.component));
        return component;
      };
      const name = `${part} of the tool ${toolName}`;
      const guarded = createGuarded(create, { theme: look.theme, name });
      this.#parts.set(part, { component, guarded });
    }
    return this.#parts.get(part)?.guarded?.render(width);
  }

  #createContext({ args, hasStarted, result, isPartial }: ToolViewState, lastComponent: UiComponent | undefined) {
    const { look, toolCallId, onChange } = this.#options;
    return {
      args,
      toolCallId,
      invalidate: onChange,
      lastComponent,
      state: this.#state,
      cwd: look.cwd,
      executionStarted: hasStarted,
      argsComplete: true,
      isPartial,
      expanded: look.expandsTools,
      showImages: look.images.areShown,
      isError: result?.isError ?? false,
      ...createKeyHints(look.theme),
    };
  }
}
