/** How an extension draws one call of a tool: its title and its result, each with a component that lives as long as the call. */
import type { AgentToolResult } from "@tau/agent";
import type { ToolRenderers, UiComponent, UiFactory } from "@tau/extensions";
import type { Look } from "../look.ts";
import { describePause, FrameBudget } from "./frame-budget.ts";
import { createKeyHints } from "./renderers.ts";
import { createGuarded, type GuardedComponent } from "./guarded-component.ts";

interface ToolViewOptions {
  look: Look;
  toolName: string;
  toolCallId: string;
  renderers: ToolRenderers;
  /** The call has to be drawn again. */
  onChange: () => void;
  /** A renderer failed or draws too slowly. */
  onFailed: (message: string) => void;
}

export interface ToolViewState {
  /** The arguments of the call. */
  args: Readonly<Record<string, unknown>>;
  hasStarted: boolean;
  /** Undefined before there is anything to show. */
  result: (AgentToolResult & { isError: boolean }) | undefined;
  isPartial: boolean;
}

/** The lines that an extension drew. Undefined parts are drawn as if it had no renderer for them. */
interface DrawnCall {
  call: string[] | undefined;
  result: string[] | undefined;
  /** Both renderers had nothing to show, so nothing of the call is shown. */
  isHidden: boolean;
}

interface Part {
  readonly name: "renderCall" | "renderResult";
  readonly frames: FrameBudget;
  /** The component that the renderer returned last, and how it is drawn. */
  current?: { component: UiComponent | undefined; guarded: GuardedComponent | undefined };
  /** The call has changed since the renderer was asked. */
  isStale: boolean;
}

type DrawnPart =
  | { kind: "drawn"; lines: string[] }
  /** The renderer had nothing to show. */
  | { kind: "empty" }
  /** There is no renderer, or it failed or is paused. */
  | { kind: "built-in" };

const createPart = (name: Part["name"]): Part => ({ name, frames: new FrameBudget(), isStale: true });

export class ToolView {
  readonly #options: ToolViewOptions;
  /** Shared by both renderers. */
  readonly #state: Record<string, unknown> = {};
  readonly #call = createPart("renderCall");
  readonly #result = createPart("renderResult");

  constructor(options: ToolViewOptions) {
    this.#options = options;
  }

  /** Whether the extension draws the frame too. */
  get isFrameless(): boolean {
    return this.#options.renderers.renderShell === "self";
  }

  /** `isNew` if something has changed since the last time. */
  render(state: ToolViewState, isNew: boolean, width: number): DrawnCall {
    const { renderers, look } = this.#options;
    const { result: content, isPartial } = state;
    this.#call.isStale ||= isNew;
    this.#result.isStale ||= isNew;
    const call = this.#render(this.#call, renderers.renderCall, [state.args, look.theme], { state, width });
    const args = [content, { expanded: look.expandsTools, isPartial }, look.theme];
    const result: DrawnPart = content
      ? this.#render(this.#result, renderers.renderResult, args, { state, width })
      : { kind: typeof renderers.renderResult === "function" ? "empty" : "built-in" };
    return {
      call: call.kind === "drawn" ? call.lines : undefined,
      result: result.kind === "drawn" ? result.lines : undefined,
      isHidden: call.kind === "empty" && result.kind === "empty",
    };
  }

  #render(
    part: Part,
    renderer: UiFactory<UiComponent | undefined> | undefined,
    args: readonly unknown[],
    { state, width }: { state: ToolViewState; width: number },
  ): DrawnPart {
    if (typeof renderer !== "function") return { kind: "built-in" };
    const { look, renderers, toolName, onFailed } = this.#options;
    const { frames } = part;
    const name = `${part.name} of the tool ${toolName}`;
    if (part.current?.guarded?.hasFailed || frames.isPaused) return { kind: "built-in" };
    if (part.isStale) {
      part.isStale = false;
      const last = part.current?.component;
      let component: UiComponent | undefined;
      const create = (): UiComponent | undefined => {
        component = renderer.call(renderers, ...args, this.#createContext(state, last)) ?? undefined;
        return component;
      };
      part.current = { guarded: createGuarded(create, { theme: look.theme, name, onFailed, frames }), component };
    }
    const guarded = part.current?.guarded;
    if (!guarded) return { kind: "empty" };
    const lines = guarded.render(width);
    if (frames.isPaused) onFailed(describePause(name));
    return guarded.hasFailed ? { kind: "built-in" } : { kind: "drawn", lines };
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
