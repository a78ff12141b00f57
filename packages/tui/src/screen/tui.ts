/** An interface in the main screen of a terminal: what leaves it is in the scrollback of the terminal. */
import { MainScreen } from "./main-screen.ts";
import { TuiBase, type TuiStopOptions } from "./tui-base.ts";

const ascii = /^[\x00-\x7f]*$/;

/** How long the width has to stay the same before the next frame. */
const settleMs = 100;

export class TuiMainScreen extends TuiBase {
  readonly mode = "regular";
  readonly #screen = new MainScreen(this.terminal.alwaysPullsRows);

  /** Terminals that are resized by hand report many widths. Each frame in between could leave a copy in the scrollback. */
  protected override beforeResize(): number {
    return this.#screen.noteSize(this.terminal) ? settleMs : 0;
  }

  /** The last frame stays, and the cursor is below it. */
  protected override beforeTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    if (!preserveScreen) this.terminal.write(this.#screen.leave());
  }

  protected override forgetScreen(): string {
    return this.#screen.forget();
  }

  protected override get isDrawnAnew(): boolean {
    return this.#screen.isDrawnAnew;
  }

  protected override drawFrame(isLast: boolean): string {
    this.#screen.redrawsIfShorter = this.getClearOnShrink();
    const size = { columns: this.terminal.columns, rows: this.terminal.rows };
    const decorate = (lines: readonly string[]) => this.toShown(this.overlays.composite(lines, size));
    const bytes = this.#screen.draw(this.children, size, { decorate, isLast });
    // Where a terminal measures a character differently, the rest of its line is cut, instead of pushing all others down.
    return ascii.test(bytes) ? bytes : `\x1b[?7l${bytes}\x1b[?7h`;
  }
}

/** The interface in the main screen as a value, and any interface as a type. */
export const TUI = TuiMainScreen;
export type TUI = TuiBase;
