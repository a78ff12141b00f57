/** An interface in the main screen of a terminal: what leaves it is in the scrollback of the terminal. */
import { MainScreen } from "./main-screen.ts";
import { TuiBase, type TuiStopOptions } from "./tui-base.ts";

const ascii = /^[\x00-\x7f]*$/;

export class TuiMainScreen extends TuiBase {
  readonly mode = "regular";
  readonly #screen = new MainScreen(this.terminal.alwaysPullsRows);

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

/** As a value the interface in the main screen, and as a type any interface. */
export const TUI = TuiMainScreen;
export type TUI = TuiBase;
